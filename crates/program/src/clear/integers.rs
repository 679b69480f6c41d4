//! Evaluation on integers, exact or modulo t.

use alloc::vec::Vec;

use super::evaluate::{ClearArithmetic, evaluate, spread};
use super::{ClearError, padded};
use crate::{Constant, ConstantId, NodeId, Program, SlotShape};

struct Exact;

impl ClearArithmetic for Exact {
    type Number = i128;
    type Error = ClearError;

    fn constant(&self, id: ConstantId, constant: &Constant, slots: usize) -> Result<Vec<i128>, ClearError> {
        let given = constant.integers().ok_or(ClearError::NotIntegers { constant: id })?;
        Ok(spread(given.to_vec(), slots, 0))
    }

    fn add(&self, at: NodeId, a: &i128, b: &i128) -> Result<i128, ClearError> {
        a.checked_add(*b).ok_or(ClearError::Overflow { node: at })
    }

    fn sub(&self, at: NodeId, a: &i128, b: &i128) -> Result<i128, ClearError> {
        a.checked_sub(*b).ok_or(ClearError::Overflow { node: at })
    }

    fn neg(&self, at: NodeId, a: &i128) -> Result<i128, ClearError> {
        a.checked_neg().ok_or(ClearError::Overflow { node: at })
    }

    fn mul(&self, at: NodeId, a: &i128, b: &i128) -> Result<i128, ClearError> {
        a.checked_mul(*b).ok_or(ClearError::Overflow { node: at })
    }

    fn look_up(&self, _: NodeId, a: &i128, table: &[i128], first: i32) -> Result<i128, ClearError> {
        Ok(at_place(*a, table, first))
    }

    fn sign(&self, node: NodeId, _: &i128) -> Result<i128, ClearError> {
        Err(ClearError::Sign { node })
    }
}

/// Returns `table[a − first]`, 0 outside of the table.
fn at_place<N: Copy + Default>(a: i128, table: &[N], first: i32) -> N {
    let place = a.checked_sub(i128::from(first)).and_then(|place| usize::try_from(place).ok());
    place.and_then(|place| table.get(place)).copied().unwrap_or_default()
}

/// Residues in `0 … t − 1` with `2 ≤ t < 2^64`.
struct Modulo(u64);

impl Modulo {
    /// Reduces any integer to `0 … t − 1`.
    fn reduced(&self, value: i128) -> u64 {
        value.rem_euclid(i128::from(self.0)) as u64
    }
}

impl ClearArithmetic for Modulo {
    type Number = u64;
    type Error = ClearError;

    fn constant(&self, id: ConstantId, constant: &Constant, slots: usize) -> Result<Vec<u64>, ClearError> {
        let given = constant.integers().ok_or(ClearError::NotIntegers { constant: id })?;
        Ok(spread(given.iter().map(|&value| self.reduced(value)).collect(), slots, 0))
    }

    fn add(&self, _: NodeId, a: &u64, b: &u64) -> Result<u64, ClearError> {
        Ok(((u128::from(*a) + u128::from(*b)) % u128::from(self.0)) as u64)
    }

    fn sub(&self, at: NodeId, a: &u64, b: &u64) -> Result<u64, ClearError> {
        self.add(at, a, &(self.0 - b))
    }

    fn neg(&self, at: NodeId, a: &u64) -> Result<u64, ClearError> {
        self.sub(at, &0, a)
    }

    fn mul(&self, _: NodeId, a: &u64, b: &u64) -> Result<u64, ClearError> {
        Ok((u128::from(*a) * u128::from(*b) % u128::from(self.0)) as u64)
    }

    fn look_up(&self, _: NodeId, a: &u64, table: &[u64], first: i32) -> Result<u64, ClearError> {
        let (a, t) = (i128::from(*a), i128::from(self.0));
        Ok(at_place(if 2 * a >= t { a - t } else { a }, table, first))
    }

    fn sign(&self, node: NodeId, _: &u64) -> Result<u64, ClearError> {
        Err(ClearError::Sign { node })
    }
}

/// Runs a program on integers and returns the slots of each output, in order.
///
/// With a modulus, inputs are reduced and results are in `0 … modulus − 1`. Without one, results are exact.
///
/// # Errors
/// [`ClearError`] if the inputs or the program do not fit the shape, a constant has reals, an exact value does not fit
/// 128 bits, or the modulus is 0 or 1.
pub fn run_integer(
    program: &Program,
    inputs: &[Vec<i128>],
    shape: SlotShape,
    modulus: Option<u64>,
) -> Result<Vec<Vec<i128>>, ClearError> {
    let inputs = padded(program, inputs, shape, &0)?;
    match modulus {
        None => evaluate(&Exact, program, &inputs, shape, |_, _| ()),
        Some(modulus) if modulus < 2 => Err(ClearError::Modulus { modulus }),
        Some(modulus) => {
            let ring = Modulo(modulus);
            let reduce = |input: &Vec<i128>| input.iter().map(|&value| ring.reduced(value)).collect();
            let inputs: Vec<Vec<u64>> = inputs.iter().map(reduce).collect();
            let outputs = evaluate(&ring, program, &inputs, shape, |_, _| ())?;
            Ok(outputs.into_iter().map(|output| output.into_iter().map(i128::from).collect()).collect())
        }
    }
}
