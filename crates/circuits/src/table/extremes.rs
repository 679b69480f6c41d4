//! The larger and the smaller of two values, through the size of their difference.
//!
//! max(a, b) = (a + b + |a − b|)/2 and min(a, b) = (a + b − |a − b|)/2. The size of the difference of two values of s
//! steps is an even table of 2·s − 1 steps: a polynomial of degree s − 1 in the square, and one product more.

use core::ops::RangeInclusive;

use sotto_ring::Modulus;

use super::{Table, modulus};
use crate::error::CircuitError;
use crate::machine::Machine;

/// Returns the table of |d|/2 modulo t, for differences of values of the range.
fn half_size(t: &Modulus, range: &RangeInclusive<i64>) -> Result<Table, CircuitError> {
    let most = (Table::MOST_STEPS as i64 + 1) / 2;
    let steps =
        range.end().checked_sub(*range.start()).and_then(|width| width.checked_add(1)).unwrap_or(i64::MAX);
    if !(1..=most).contains(&steps) {
        let steps = usize::try_from(steps).unwrap_or(0);
        return Err(CircuitError::TableRange { steps, most: most as usize });
    }
    Table::from_fn(1 - steps..=steps - 1, |d| t.centre(t.multiply(t.from_signed(d.abs()), half(t))))
}

fn half(t: &Modulus) -> u64 {
    t.value().div_ceil(2)
}

/// Returns the smaller and the larger of two values in every slot, both in the range, exactly.
///
/// ```
/// use sotto_circuits::{Clear, extremes};
///
/// let mut machine = Clear::integers(65_537, 1, 3);
/// let [smaller, larger] = extremes(&mut machine, &vec![7, 21, -3], &vec![9, 20, -3], -10..=30)?;
/// assert_eq!((smaller, larger), (vec![7, 20, -3], vec![9, 21, -3]));
/// # Ok::<(), sotto_circuits::CircuitError>(())
/// ```
///
/// # Errors
/// [`CircuitError::TableRange`] for a range of more than 256 steps; otherwise as [`Table::evaluate`].
pub fn extremes<M: Machine<Value = i64>>(
    machine: &mut M,
    a: &M::Vector,
    b: &M::Vector,
    range: RangeInclusive<i64>,
) -> Result<[M::Vector; 2], CircuitError> {
    let (size, mean) = parts(machine, a, b, range)?;
    let both = [machine.subtract(&mean, &size)?, machine.add(&mean, &size)?];
    machine.recycle(size);
    machine.recycle(mean);
    Ok(both)
}

/// Returns the larger of two values in every slot: see [`extremes`].
///
/// ```
/// use sotto_circuits::{Clear, maximum, minimum};
///
/// let mut machine = Clear::integers(65_537, 1, 2);
/// assert_eq!(maximum(&mut machine, &vec![7, 21], &vec![9, 20], 0..=30)?, [9, 21]);
/// assert_eq!(minimum(&mut machine, &vec![7, 21], &vec![9, 20], 0..=30)?, [7, 20]);
/// # Ok::<(), sotto_circuits::CircuitError>(())
/// ```
///
/// # Errors
/// As [`extremes`].
pub fn maximum<M: Machine<Value = i64>>(
    machine: &mut M,
    a: &M::Vector,
    b: &M::Vector,
    range: RangeInclusive<i64>,
) -> Result<M::Vector, CircuitError> {
    let [smaller, larger] = extremes(machine, a, b, range)?;
    machine.recycle(smaller);
    Ok(larger)
}

/// Returns the smaller of two values in every slot: see [`extremes`] and the example of [`maximum`].
///
/// # Errors
/// As [`extremes`].
pub fn minimum<M: Machine<Value = i64>>(
    machine: &mut M,
    a: &M::Vector,
    b: &M::Vector,
    range: RangeInclusive<i64>,
) -> Result<M::Vector, CircuitError> {
    let [smaller, larger] = extremes(machine, a, b, range)?;
    machine.recycle(larger);
    Ok(smaller)
}

/// Returns |a − b|/2 and (a + b)/2, modulo t.
fn parts<M: Machine<Value = i64>>(
    machine: &mut M,
    a: &M::Vector,
    b: &M::Vector,
    range: RangeInclusive<i64>,
) -> Result<(M::Vector, M::Vector), CircuitError> {
    let t = modulus(machine, &[])?;
    let table = half_size(&t, &range)?;
    let difference = machine.subtract(a, b)?;
    let size = table.evaluate(machine, &difference)?;
    machine.recycle(difference);
    let sum = machine.add(a, b)?;
    let mean = machine.multiply_constant(&sum, t.centre(half(&t)))?;
    machine.recycle(sum);
    Ok((size, mean))
}
