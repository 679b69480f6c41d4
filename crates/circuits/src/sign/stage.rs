//! One odd polynomial of a composition, without a product by a constant.

use crate::error::CircuitError;
use crate::machine::Machine;

/// With u = y²: y·(u + linear)·((u + shift)² + rest), where a missing factor is 1. Degree 3, 5 or 7 with 2, 3 or 4
/// relinearisations, in the least depth.
#[derive(Debug)]
pub(super) struct Stage {
    /// The operand is within ±|scale|. Of the first stage: scale times the operand of the sign.
    pub(super) scale: f64,
    pub(super) linear: Option<f64>,
    /// (shift, rest).
    pub(super) square: Option<(f64, f64)>,
    /// The operand's least absolute value, if the sign's is at least the gap.
    #[cfg_attr(not(test), expect(dead_code, reason = "the proof of the table takes it"))]
    pub(super) least: f64,
    /// How far the operand may be off.
    pub(super) radius: f64,
    /// Largest factors by which an error of the operand grows to the operand of the next stage, of the one after it, …,
    /// and to the result.
    pub(super) growth: &'static [f64],
    /// The factor to the result, if the sign's operand is at least the gap.
    pub(super) beyond: f64,
}

/// The operand of a stage in its own unit: y = times·a.
pub(super) struct Operand<V> {
    pub(super) vector: V,
    pub(super) times: f64,
    /// A bound on the error of y.
    pub(super) off: f64,
}

impl Stage {
    pub(super) fn degree(&self) -> i32 {
        1 + 2 * i32::from(self.linear.is_some()) + 4 * i32::from(self.square.is_some())
    }

    pub(super) fn depth(&self) -> usize {
        if self.square.is_some() { 3 } else { 2 }
    }

    pub(super) fn products(&self) -> usize {
        2 * usize::from(self.linear.is_some()) + 3 * usize::from(self.square.is_some())
            - usize::from(self.linear.is_some() && self.square.is_some())
    }

    /// Returns the value at y in the clear.
    pub(super) fn at(&self, y: f64) -> f64 {
        let u = y * y;
        let quadratic = self.square.map_or(1.0, |(shift, rest)| (u + shift) * (u + shift) + rest);
        y * self.linear.map_or(1.0, |linear| u + linear) * quadratic
    }

    /// Evaluates `weight` times the polynomial. The whole operand counts as exact, so that the error of the result is
    /// that of the evaluation alone.
    pub(super) fn evaluate<M: Machine<Value = f64>>(
        &self,
        machine: &mut M,
        y: Operand<M::Vector>,
        weight: f64,
    ) -> Result<M::Vector, CircuitError> {
        // In a = y/times the constants are these, and the leading coefficient moves to the weight.
        let unit = y.times * y.times;
        // Not `powi`, whose last bit depends on the machine.
        let weight = (0..self.degree()).fold(weight, |product, _| product * y.times);
        let (linear, square) = (
            self.linear.map(|linear| linear / unit),
            self.square.map(|(shift, rest)| (shift / unit, rest / (unit * unit))),
        );
        let (within, off) = (self.scale.abs() / y.times.abs(), y.off / y.times.abs());
        let most = within + off;
        // The phase is real up to `off`, so that u differs by this from a number in [0, within²].
        let astray = most * most - within * within;
        let reach = |constant: f64| constant.abs().max((within * within + constant).abs()) + astray;

        let a = machine.with_slot_bounds(y.vector, most, 0.0);
        let mut u = machine.square(&a)?;
        u = bounded(machine, u, most * most);
        let quadratic = match square {
            None => None,
            Some((shift, rest)) => {
                let copy = machine.copy(&u);
                let shifted = machine.shift(copy, shift)?;
                let shifted = bounded(machine, shifted, reach(shift));
                let squared = machine.square(&shifted)?;
                machine.recycle(shifted);
                let sum = machine.shift(squared, rest)?;
                Some(bounded(machine, sum, reach(shift) * reach(shift) + rest.abs()))
            }
        };
        let weighted = if weight == 1.0 { None } else { Some(machine.multiply_constant(&a, weight)?) };
        let mut product = match linear {
            None => {
                machine.recycle(u);
                match weighted {
                    Some(weighted) => {
                        machine.recycle(a);
                        weighted
                    }
                    None => a,
                }
            }
            Some(linear) => {
                let u = machine.shift(u, linear)?;
                let u = bounded(machine, u, reach(linear));
                let cubic = machine.multiply(weighted.as_ref().unwrap_or(&a), &u)?;
                machine.recycle(u);
                weighted.into_iter().chain([a]).for_each(|vector| machine.recycle(vector));
                let largest = cubic_within(linear, within) + off * (3.0 * most * most + linear.abs());
                bounded(machine, cubic, weight.abs() * largest)
            }
        };
        if let Some(quadratic) = quadratic {
            let value = machine.multiply(&product, &quadratic)?;
            machine.recycle(quadratic);
            machine.recycle(core::mem::replace(&mut product, value));
        }
        Ok(product)
    }
}

/// Tightens the bound on the slots; that on the error stays.
pub(super) fn bounded<M: Machine<Value = f64>>(machine: &mut M, a: M::Vector, within: f64) -> M::Vector {
    let error = machine.slot_error(&a);
    machine.with_slot_bounds(a, within, error)
}

/// The largest |y·(y² + linear)| for |y| ≤ within: at the end, or where the derivative is zero.
fn cubic_within(linear: f64, within: f64) -> f64 {
    let at = |y: f64| (y * (y * y + linear)).abs();
    let turn = (-linear / 3.0).max(0.0).sqrt();
    at(within).max(at(turn.min(within)))
}
