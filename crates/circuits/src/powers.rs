//! Products of many operands, and powers, of minimal depth.

use std::collections::BTreeMap;

use crate::error::CircuitError;
use crate::machine::{Machine, require_levels};

/// Returns the product of all operands by a balanced tree: k − 1 products, ⌈log2 k⌉ levels (Knuth, The Art of Computer
/// Programming, vol. 2, section 4.6.3: every tree of k leaves has at least that depth). Operands with the most levels
/// are multiplied first, so that those with few levels are multiplied late.
///
/// # Errors
/// [`CircuitError::Empty`] without operands; [`CircuitError::Levels`] before the first operation, if all operands have
/// too few.
pub fn multiply_many<M: Machine>(
    machine: &mut M,
    operands: &[&M::Vector],
) -> Result<M::Vector, CircuitError> {
    let (first, rest) = operands.split_first().ok_or(CircuitError::Empty("a product"))?;
    if rest.is_empty() {
        return Ok(machine.copy(first));
    }
    let mut ordered = operands.to_vec();
    ordered.sort_by_key(|operand| core::cmp::Reverse(machine.level(operand)));
    require_levels(machine, ordered[0], depth(operands.len()))?;
    let mut row: Vec<M::Vector> = Vec::new();
    for pair in ordered.chunks(2) {
        row.push(match pair {
            [a, b] => machine.multiply(a, b)?,
            _ => machine.copy(pair[0]),
        });
    }
    while row.len() > 1 {
        let mut next = Vec::new();
        let mut operands = row.into_iter();
        while let Some(a) = operands.next() {
            next.push(match operands.next() {
                None => a,
                Some(b) => {
                    let product = machine.multiply(&a, &b)?;
                    machine.recycle(a);
                    machine.recycle(b);
                    product
                }
            });
        }
        row = next;
    }
    row.pop().ok_or(CircuitError::Empty("a product"))
}

/// Returns a^exponent by squaring and multiplying from the low digits on: ⌈log2 exponent⌉ levels, the minimum, and
/// ⌊log2 exponent⌋ + (digits 1) − 1 products (Knuth, The Art of Computer Programming, vol. 2, section 4.6.3, algorithm
/// A).
///
/// # Errors
/// [`CircuitError::Constant`] for exponent 0; [`CircuitError::Levels`] before the first operation.
pub fn exponentiate<M: Machine>(
    machine: &mut M,
    a: &M::Vector,
    exponent: u64,
) -> Result<M::Vector, CircuitError> {
    if exponent == 0 {
        return Err(CircuitError::Constant);
    }
    let levels = (u64::BITS - (exponent - 1).leading_zeros()) as usize;
    require_levels(machine, a, levels)?;
    let mut square = machine.copy(a);
    let mut power: Option<M::Vector> = None;
    let mut rest = exponent;
    loop {
        if rest & 1 == 1 {
            power = Some(match power.take() {
                None => machine.copy(&square),
                Some(low) => {
                    let product = machine.multiply(&low, &square)?;
                    machine.recycle(low);
                    product
                }
            });
        }
        rest >>= 1;
        if rest == 0 {
            break;
        }
        let next = machine.square(&square)?;
        machine.recycle(core::mem::replace(&mut square, next));
    }
    machine.recycle(square);
    power.ok_or(CircuitError::Constant)
}

/// Returns ⌈log2 k⌉ for k ≥ 1: the least depth of a product of k factors.
pub(crate) fn depth(k: usize) -> usize {
    (usize::BITS - k.saturating_sub(1).leading_zeros()) as usize
}

/// Returns the two exponents that a power is computed from: the largest power of two below it, and the rest.
pub(crate) fn halves(power: usize) -> (usize, usize) {
    let high = 1 << (depth(power) - 1);
    (high, power - high)
}

/// Powers of one vector, each computed once with depth ⌈log2 power⌉.
pub(crate) struct Powers<'a, M: Machine> {
    first: &'a M::Vector,
    others: BTreeMap<usize, M::Vector>,
}

impl<'a, M: Machine> Powers<'a, M> {
    pub(crate) fn of(first: &'a M::Vector) -> Self {
        Self { first, others: BTreeMap::new() }
    }

    /// Computes a power, and the powers that it needs. Range: `power` ≥ 1.
    pub(crate) fn make(&mut self, machine: &mut M, power: usize) -> Result<(), CircuitError> {
        if power <= 1 || self.others.contains_key(&power) {
            return Ok(());
        }
        let (high, low) = halves(power);
        self.make(machine, high)?;
        self.make(machine, low)?;
        let product = machine.multiply(self.at(high), self.at(low))?;
        self.others.insert(power, product);
        Ok(())
    }

    /// Returns a power that was computed.
    pub(crate) fn at(&self, power: usize) -> &M::Vector {
        self.others.get(&power).unwrap_or(self.first)
    }

    pub(crate) fn recycle(self, machine: &mut M) {
        self.others.into_values().for_each(|power| machine.recycle(power));
    }
}
