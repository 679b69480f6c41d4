//! Inner products of slot vectors: the slots are multiplied at once, then summed by rotations (Halevi and Shoup, CRYPTO 2014,
//! ePrint 2014/106, section 4).

use crate::error::CircuitError;
use crate::machine::{Machine, require_keys, require_levels};
use crate::sums::{block_steps, sum_block};

/// In every slot Σ a_i·b_i over itself and its `size` − 1 neighbours to the right: with `size` the slots of a row, the inner
/// product of two rows; with less, that of a block in the block's first slot. One product. Rotations: [`block_steps`].
///
/// # Errors
/// As [`sum_block`], and [`CircuitError::Levels`]; both before anything is computed.
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

/// The same with a public vector.
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
