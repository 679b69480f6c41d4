//! Functions made of the sign: one product more.

use super::{MARGIN, Sign, SignBound};
use crate::error::CircuitError;
use crate::machine::{Machine, require_levels};

impl Sign {
    /// Returns |x| about: x times its sign. Range as [`Sign::evaluate`]. The bound of the result covers the approximation,
    /// also for slots inside the gap.
    ///
    /// # Errors
    /// As [`Sign::evaluate`].
    ///
    /// ```
    /// use sotto_circuits::{Clear, Sign};
    ///
    /// let (sign, mut machine) = (Sign::with_gap(1.0 / 256.0)?, Clear::reals(3));
    /// let found = sign.absolute(&mut machine, &vec![-0.75, 0.5, 0.0001], 1.0)?;
    /// let off = sign.error().max(sign.inside());
    /// assert!((found[0] - 0.75).abs() <= off && (found[1] - 0.5).abs() <= off && found[2].abs() <= off);
    /// # Ok::<(), sotto_circuits::CircuitError>(())
    /// ```
    pub fn absolute<M: Machine<Value = f64>>(
        &self,
        machine: &mut M,
        x: &M::Vector,
        factor: f64,
    ) -> Result<M::Vector, CircuitError> {
        require_levels(machine, x, self.depth() + 1)?;
        let (sign, bound) = self.scaled(machine, x, factor, 1.0)?;
        self.times_sign(machine, x, factor, sign, bound, 1.0)
    }

    /// Returns max(x, 0) about: x times its step. Otherwise as [`Sign::absolute`], with half of its error.
    ///
    /// # Errors
    /// As [`Sign::evaluate`].
    pub fn relu<M: Machine<Value = f64>>(
        &self,
        machine: &mut M,
        x: &M::Vector,
        factor: f64,
    ) -> Result<M::Vector, CircuitError> {
        require_levels(machine, x, self.depth() + 1)?;
        let (step, bound) = self.step(machine, x, factor)?;
        self.times_sign(machine, x, factor, step, bound, 0.5)
    }

    /// Returns max(a, b) about: b + max(a − b, 0). Range: |factor·(a − b)| ≤ 1.
    ///
    /// # Errors
    /// As [`Sign::evaluate`].
    pub fn maximum<M: Machine<Value = f64>>(
        &self,
        machine: &mut M,
        a: &M::Vector,
        b: &M::Vector,
        factor: f64,
    ) -> Result<M::Vector, CircuitError> {
        let difference = machine.subtract(a, b)?;
        let above = self.relu(machine, &difference, factor)?;
        let largest = machine.add(&above, b)?;
        machine.recycle(difference);
        machine.recycle(above);
        Ok(largest)
    }

    /// Returns the largest error of [`Sign::absolute`] inside the gap, noise not counted, for operands within ±1. Where
    /// |x| ≥ gap it is that of the sign, [`Sign::error`].
    pub fn inside(&self) -> f64 {
        self.composite.inside
    }

    /// Returns x times a sign of this amplitude (plus the amplitude again, if it is a step). The phase of the factor counts
    /// as exact at first: its distance from the true sign or step makes an error of at most |x| times that.
    fn times_sign<M: Machine<Value = f64>>(
        &self,
        machine: &mut M,
        x: &M::Vector,
        factor: f64,
        sign: M::Vector,
        bound: SignBound,
        amplitude: f64,
    ) -> Result<M::Vector, CircuitError> {
        let sign = machine.with_slot_bounds(sign, 1.0 + bound.error + bound.noise, 0.0);
        let product = machine.multiply(x, &sign)?;
        machine.recycle(sign);
        let inside = amplitude * self.composite.inside + self.gap() * bound.noise;
        let most = 1.0 / factor.abs();
        let error = machine.slot_error(&product) + most * bound.error.max(inside);
        Ok(machine.with_slot_bounds(product, most * MARGIN, error * MARGIN))
    }
}
