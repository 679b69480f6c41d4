//! Operations on slots: sums, differences and products with ciphertexts and public values.

use sotto_circuits::Machine;
use sotto_rlwe::Params;

use super::work::{Operands, Operation, Outcome};
use crate::scheme::Arithmetic;

/// a · `left` + b · `right`, of which a factor of 1 costs nothing.
pub(super) struct Combined<V> {
    pub(super) left: V,
    pub(super) right: V,
}

impl<S: Arithmetic> Operation<S> for Combined<S::Value> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let one = S::number(1.0);
        let minus_one = S::number(-1.0);
        pairs(operands)
            .map(|(a, b)| match (self.left == one, self.right == one) {
                (true, true) => machine.add(a, b),
                (true, false) if self.right == minus_one => machine.subtract(a, b),
                (true, false) => {
                    let b = machine.multiply_constant(b, self.right)?;
                    let sum = machine.add(a, &b)?;
                    machine.recycle(b);
                    Ok(sum)
                }
                (false, true) => {
                    let a = machine.multiply_constant(a, self.left)?;
                    let sum = machine.add(&a, b)?;
                    machine.recycle(a);
                    Ok(sum)
                }
                (false, false) => machine.weighted_sum(&[(a, self.left), (b, self.right)]),
            })
            .collect()
    }
}

/// a · b.
pub(super) struct Product;

impl<S: Arithmetic> Operation<S> for Product {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        pairs(operands).map(|(a, b)| machine.multiply(a, b)).collect()
    }
}

/// Parts that belong together; the one part of a repeated value goes with every part of the other.
pub(super) fn pairs<'a, V>(operands: &[&'a [V]]) -> impl Iterator<Item = (&'a V, &'a V)> {
    let (a, b) = (operands[0], operands[operands.len() - 1]);
    let count = a.len().max(b.len());
    (0..count).map(move |part| (&a[part.min(a.len() - 1)], &b[part.min(b.len() - 1)]))
}

/// Multiplies slots by a public value.
pub(super) struct Scaled<V>(pub(super) V);

impl<S: Arithmetic> Operation<S> for Scaled<S::Value> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        operands[0].iter().map(|part| machine.multiply_constant(part, self.0)).collect()
    }
}

/// Adds public slots.
pub(super) struct Shifted<V> {
    addend: Addend<V>,
    /// A bound on the slots of the sum, and an error that the public values have.
    pub(super) error: Option<(f64, f64)>,
}

impl<V> Shifted<V> {
    pub(super) fn every(value: V) -> Self {
        Self { addend: Addend::Every(value), error: None }
    }

    /// Slots by part.
    pub(super) fn slots(slots: Vec<Vec<V>>) -> Self {
        Self { addend: Addend::Slots(slots), error: None }
    }
}

/// Slots by part, or one value for every slot.
enum Addend<V> {
    Every(V),
    Slots(Vec<Vec<V>>),
}

impl<S: Arithmetic> Operation<S> for Shifted<S::Value> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let parts = operands[0];
        let sums: Vec<M::Vector> = match &self.addend {
            Addend::Every(value) => {
                parts.iter().map(|part| machine.add_constant(part, *value)).collect::<Result<_, _>>()?
            }
            Addend::Slots(slots) => {
                let part = |index: usize| &parts[index.min(parts.len() - 1)];
                let sums = slots.iter().enumerate().map(|(i, slots)| machine.add_vector(part(i), slots));
                sums.collect::<Result<_, _>>()?
            }
        };
        let Some((within, error)) = self.error else { return Ok(sums) };
        let bounded = |sum: M::Vector| {
            let error = machine.slot_error(&sum) + error;
            machine.with_slot_bounds(sum, within, error)
        };
        Ok(sums.into_iter().map(bounded).collect())
    }
}

/// Multiplies by public slots, by part. A part of zeros becomes an encryption of zero.
pub(super) struct Weighted<'a, S: Arithmetic> {
    pub(super) slots: Vec<Vec<S::Value>>,
    pub(super) params: &'a Params<S>,
    /// A bound on the slots of the operand.
    pub(super) within: f64,
}

impl<S: Arithmetic> Operation<S> for Weighted<'_, S> {
    fn run<M: Machine<Value = S::Value>>(&self, machine: &mut M, operands: Operands<'_, M>) -> Outcome<M> {
        let parts = operands[0];
        let weighted = |(index, slots): (usize, &Vec<S::Value>)| {
            let part = &parts[index.min(parts.len() - 1)];
            if slots.iter().any(|slot| machine.canonical(*slot) != S::Value::default()) {
                return machine.multiply_vector(part, slots);
            }
            S::emptied(self.params, machine, part, self.within)
        };
        self.slots.iter().enumerate().map(weighted).collect()
    }
}
