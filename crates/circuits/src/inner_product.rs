//! Inner products of slot vectors: one product of all slots, then a sum by rotations (Halevi and Shoup, CRYPTO 2014,
//! ePrint 2014/106, section 4).

use crate::error::CircuitError;
use crate::machine::{Machine, require_keys, require_levels};
use crate::sums::{block_steps, sum_block};

/// Returns in every slot Σ a_i·b_i over that slot and its `size` − 1 neighbours to the right. If `size` is the length
/// of a row, this is the inner product of two rows; if it is less, the first slot of each block holds the block's inner
/// product. Cost: one product and the rotations [`block_steps`].
///
/// # Errors
/// As [`sum_block`], and [`CircuitError::Levels`]; all before the first operation.
pub fn inner_product<M: Machine>(
    machine: &mut M,
    a: &M::Vector,
    b: &M::Vector,
    size: usize,
) -> Result<M::Vector, CircuitError> {
    check(machine, size)?;
    require_levels(machine, a, 1)?;
    require_levels(machine, b, 1)?;
    let products = machine.multiply(a, b)?;
    total(machine, products, size)
}

/// Like [`inner_product`], with a public vector.
///
/// # Errors
/// As [`inner_product`].
pub fn inner_product_with_plain<M: Machine>(
    machine: &mut M,
    a: &M::Vector,
    b: &[M::Value],
    size: usize,
) -> Result<M::Vector, CircuitError> {
    check(machine, size)?;
    require_levels(machine, a, 1)?;
    let products = machine.multiply_vector(a, b)?;
    total(machine, products, size)
}

fn check<M: Machine>(machine: &M, size: usize) -> Result<(), CircuitError> {
    let row = machine.slots().1;
    if size == 0 || size > row {
        return Err(CircuitError::Block { size, row });
    }
    require_keys(machine, &block_steps(size))
}

fn total<M: Machine>(machine: &mut M, products: M::Vector, size: usize) -> Result<M::Vector, CircuitError> {
    let sum = sum_block(machine, &products, size)?;
    machine.recycle(products);
    Ok(sum)
}
