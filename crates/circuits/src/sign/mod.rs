//! The sign of real slots by a composition of minimax polynomials (Lee, Lee, Kim and No, IEEE TDSC 2022, ePrint
//! 2020/834; Lee, Lee, Kim and No, IEEE Access 10, 2022, ePrint 2021/1215), and functions made of it.
//!
//! **Bound.** Let p_1, …, p_k be the stages, P their composition, z_i the phase that is the operand of stage i and y_i
//! the operand in exact arithmetic; e_i bounds the error that the evaluation before stage i adds. The sum over i of the
//! differences that e_i makes to the end telescopes, and each is e_i times the largest slope of p_k∘…∘p_i near the values
//! that y_i takes. Those slopes, for neighbourhoods in the complex plane, are in the table ([`Stage::growth`]); a test
//! proves them. The e_i are read off the noise bounds of the ciphertexts.

mod coefficients;
mod functions;
mod stage;

use crate::error::CircuitError;
use crate::machine::{Machine, require_levels};
use coefficients::COMPOSITES;
use stage::{Operand, Stage};

/// A composition of odd polynomials: near ±1 where its operand is at least the gap, of the right sign on all of [−1, 1].
#[derive(Debug)]
struct Composite {
    gap_bits: i32,
    /// The largest |P(x) − 1| on [gap, 1].
    error: f64,
    /// The largest x·|P(x) − 1| on [0, gap].
    inside: f64,
    stages: &'static [Stage],
}

/// An approximation of the sign of real slots for one gap: with |x| ≥ gap the result is within a stated error of ±1;
/// for smaller |x| it lies between.
///
/// ```
/// use sotto_circuits::{Clear, Sign};
///
/// let sign = Sign::with_gap(0.004)?;
/// assert_eq!((sign.gap(), sign.depth(), sign.products()), (1.0 / 256.0, 12, 16));
/// let mut machine = Clear::reals(4);
/// let (signs, bound) = sign.evaluate(&mut machine, &vec![0.5, -0.004, 0.001, 0.0], 1.0)?;
/// assert!((signs[0] - 1.0).abs() <= bound.error && (signs[1] + 1.0).abs() <= bound.error);
/// // Inside the gap the value is open, and its sign right.
/// assert!(signs[2] > 0.0 && signs[2] < 1.0 && signs[3] == 0.0);
/// # Ok::<(), sotto_circuits::CircuitError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Sign {
    composite: &'static Composite,
}

/// The guarantee of an evaluated sign or step.
///
/// Example: [`Sign`]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SignBound {
    /// The least |factor·x| for which `error` holds.
    pub gap: f64,
    /// A bound on the distance of the result from the sign (or step) where |factor·x| ≥ gap.
    pub error: f64,
    /// A bound on the distance from the composition in exact arithmetic, which has the sign of x, for every x.
    pub noise: f64,
}

impl Sign {
    /// Returns the approximation of least depth whose gap is at most `gap`, a fraction of the largest operand.
    ///
    /// # Errors
    /// [`CircuitError::Gap`] for a gap below 2^-12 or not a number.
    pub fn with_gap(gap: f64) -> Result<Self, CircuitError> {
        Self::with_error(gap, f64::INFINITY)
    }

    /// Returns the approximation of least depth whose gap and error are at most these, noise not counted.
    ///
    /// # Errors
    /// [`CircuitError::Gap`] if there is none.
    pub fn with_error(gap: f64, error: f64) -> Result<Self, CircuitError> {
        let all = COMPOSITES.iter().map(|composite| Self { composite });
        let fits = all.filter(|sign| sign.gap() <= gap && sign.composite.error <= error);
        let least = COMPOSITES.iter().map(|composite| composite.gap_bits).max().unwrap_or(0);
        fits.min_by_key(|sign| (sign.depth(), sign.products())).ok_or(CircuitError::Gap {
            gap,
            error,
            least: f64::from(-least).exp2(),
        })
    }

    /// Returns every approximation.
    pub fn all() -> impl Iterator<Item = Self> {
        COMPOSITES.iter().map(|composite| Self { composite })
    }

    /// Returns the least |x| from which the stated error holds.
    pub fn gap(&self) -> f64 {
        f64::from(-self.composite.gap_bits).exp2()
    }

    /// Returns the error in exact arithmetic.
    pub fn error(&self) -> f64 {
        self.composite.error
    }

    /// Returns the degrees of the polynomials, the first to be evaluated first.
    pub fn degrees(&self) -> Vec<usize> {
        self.composite.stages.iter().map(|stage| stage.degree() as usize).collect()
    }

    /// Returns the levels that an evaluation takes.
    pub fn depth(&self) -> usize {
        self.composite.stages.iter().map(Stage::depth).sum()
    }

    /// Returns the number of products, each with a relinearisation.
    pub fn products(&self) -> usize {
        self.composite.stages.iter().map(Stage::products).sum()
    }

    /// Returns the composition at x in the clear, in f64.
    pub fn at(&self, x: f64) -> f64 {
        let first = self.composite.stages.first().map_or(1.0, |stage| stage.scale);
        self.composite.stages.iter().fold(first * x, |y, stage| stage.at(y))
    }

    /// Returns about ±1, the sign of each slot of `x`, with the bound. Range: |factor·x| ≤ 1 in every slot, apart from
    /// the error of x; best is a factor between 1/2 and 2.
    ///
    /// # Errors
    /// [`CircuitError::Levels`] before the first operation; [`CircuitError::Coarse`] if the operand's error is too large
    /// for the gap; the errors of products.
    pub fn evaluate<M: Machine<Value = f64>>(
        &self,
        machine: &mut M,
        x: &M::Vector,
        factor: f64,
    ) -> Result<(M::Vector, SignBound), CircuitError> {
        self.scaled(machine, x, factor, 1.0)
    }

    /// Returns about 1 for positive slots and 0 for negative ones, with the bound: half of the sign, and 1/2.
    ///
    /// # Errors
    /// As [`Sign::evaluate`].
    pub fn step<M: Machine<Value = f64>>(
        &self,
        machine: &mut M,
        x: &M::Vector,
        factor: f64,
    ) -> Result<(M::Vector, SignBound), CircuitError> {
        let (half, bound) = self.scaled(machine, x, factor, 0.5)?;
        Ok((machine.shift(half, 0.5)?, bound))
    }

    /// Returns about ±amplitude.
    fn scaled<M: Machine<Value = f64>>(
        &self,
        machine: &mut M,
        x: &M::Vector,
        factor: f64,
        amplitude: f64,
    ) -> Result<(M::Vector, SignBound), CircuitError> {
        require_levels(machine, x, self.depth())?;
        let stages = self.composite.stages;
        let mut times = factor * stages.first().map_or(1.0, |stage| stage.scale);
        let mut vector = machine.copy(x);
        let mut errors = vec![(machine.slot_error(x) + ROUNDING / factor.abs()) * times.abs()];
        for (i, stage) in stages.iter().enumerate() {
            let off = grown(stages, &errors, i);
            if off.is_nan() || off > stage.radius {
                let bits = (off / stage.radius).log2();
                return Err(CircuitError::Coarse { gap: self.gap(), bits });
            }
            let weight = if i + 1 == stages.len() { amplitude } else { 1.0 };
            vector = stage.evaluate(machine, Operand { vector, times, off }, weight)?;
            times = 1.0;
            errors.push(machine.slot_error(&vector) + ROUNDING);
        }
        // The last error is in the unit of the result, the earlier ones in that of ±1.
        let last = errors.pop().unwrap_or(0.0);
        let noise = last + amplitude * grown(stages, &errors, stages.len());
        let beyond: f64 = errors.iter().zip(stages).map(|(error, stage)| error * stage.beyond).sum();
        let error = (last + amplitude * (beyond + self.composite.error)) * MARGIN;
        let vector =
            machine.with_slot_bounds(vector, amplitude * (1.0 + self.composite.error), noise * MARGIN);
        Ok((vector, SignBound { gap: self.gap(), error, noise: noise * MARGIN }))
    }
}

/// More than the constants of a stage are off by in f64, where its operand has another unit.
const ROUNDING: f64 = 1.0 / (1u64 << 45) as f64;

/// Covers the rounding of these bounds' own arithmetic.
const MARGIN: f64 = 1.0 + 1.0 / (1u64 << 30) as f64;

/// Returns a bound on the error of the operand of stage `index`, or of the result, from those before it.
fn grown(stages: &[Stage], errors: &[f64], index: usize) -> f64 {
    let own = errors.get(index).copied().unwrap_or(0.0);
    let earlier = stages.iter().zip(errors).take(index).enumerate();
    own + earlier.map(|(i, (stage, error))| stage.growth[index - 1 - i] * error).sum::<f64>()
}

#[cfg(test)]
mod tests;
