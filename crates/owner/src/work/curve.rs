//! Polynomials and linear models at single readings, computed on normalised values.

use std::ops::Range;

use crate::error::OwnerError;
use crate::gathered::{Real, Reals};
use crate::language::{LinearModel, Measurand};
use crate::open::Numbers;
use crate::quantities::{Input, Quantity};
use crate::streams::shifted;
use crate::windows::position;

/// A polynomial or a linear model on normalised values.
pub(super) struct Curve {
    pub(super) quantity: Quantity,
    /// Positions of the channels that it reads. It has a value wherever all of them have a reading.
    channels: Vec<u16>,
    /// The constant term, added after decryption.
    pub(super) constant: f64,
    /// The divisor of the coefficients.
    pub(super) scale: f64,
    /// A bound on the rounding error in f64.
    pub(super) rounding: f64,
}

impl Curve {
    pub(super) fn of(reading: &Measurand, layout: &sotto_pack::Layout) -> Option<Self> {
        match reading {
            Measurand::Channel(_) => None,
            Measurand::Polynomial { channel, coefficients } => {
                let at = position(layout, channel)?;
                let normaliser = layout.normaliser(at)?;
                let shifted = shifted(coefficients, normaliser.centre(), normaliser.half_range());
                let scale: f64 = shifted.iter().skip(1).map(|c| c.abs()).sum();
                let divided = |c: &f64| if scale > 0.0 { c / scale } else { 0.0 };
                let scaled: Vec<f64> = shifted.iter().map(divided).collect();
                let constant = shifted[0];
                let rounding =
                    polynomial_rounding(coefficients, normaliser.centre(), normaliser.half_range());
                Some(Self {
                    quantity: Quantity::Polynomial(at, scaled),
                    channels: vec![at],
                    constant,
                    scale,
                    rounding,
                })
            }
            Measurand::Linear { model, .. } => Self::linear(model.as_ref()?, layout),
        }
    }

    fn linear(model: &LinearModel, layout: &sotto_pack::Layout) -> Option<Self> {
        let (mut terms, mut constant) = (Vec::new(), model.intercept);
        let mut size = model.intercept.abs();
        for (name, factor) in &model.coefficients {
            let at = position(layout, name)?;
            let normaliser = layout.normaliser(at)?;
            constant += factor * normaliser.centre();
            size += factor.abs() * (normaliser.centre().abs() + normaliser.half_range());
            terms.push((at, factor * normaliser.half_range()));
        }
        terms.sort_by_key(|(at, _)| *at);
        let scale: f64 = terms.iter().map(|(_, factor)| factor.abs()).sum();
        let channels = terms.iter().map(|(at, _)| *at).collect();
        if scale > 0.0 {
            terms.iter_mut().for_each(|(_, factor)| *factor /= scale);
        }
        let rounding = 4.0 * (model.coefficients.len() + 2) as f64 * f64::EPSILON * size;
        Some(Self { quantity: Quantity::Linear(terms), channels, constant, scale, rounding })
    }

    /// Returns the ticks of one window at which all channels have a reading, each with the number in its slot.
    pub(super) fn slots(
        &self,
        input: &Input,
        numbers: &Numbers,
        ticks: &Range<u32>,
    ) -> Result<Vec<(u32, f64)>, OwnerError> {
        let Numbers::Real(numbers) = numbers else { return Err(OwnerError::wrong("reals were expected")) };
        let layout = &input.window.layout;
        let slot = |tick: u32| {
            let slot =
                layout.slot(self.channels[0], tick).ok_or_else(|| OwnerError::wrong("a tick has no slot"))?;
            Ok((tick, numbers.get(slot).copied().ok_or_else(|| OwnerError::wrong("a slot is missing"))?))
        };
        self.ticks(input, ticks)?.into_iter().map(slot).collect()
    }

    /// Returns the ticks of one window at which all channels have a reading.
    pub(super) fn ticks(&self, input: &Input, ticks: &Range<u32>) -> Result<Vec<u32>, OwnerError> {
        let mut there = input.window.presence(self.channels[0]);
        for channel in &self.channels[1..] {
            there = there.zip(input.window.presence(*channel)).map(|(a, b)| a.and(&b));
        }
        let there =
            there.ok_or_else(|| OwnerError::wrong("the device does not say which readings are missing"))?;
        Ok(there.iter().filter(|tick| ticks.contains(tick)).collect())
    }

    /// Returns the values at the readings of one window.
    pub(super) fn tally(
        &self,
        input: &Input,
        (numbers, error): &(Numbers, f64),
        ticks: &Range<u32>,
    ) -> Result<Reals, OwnerError> {
        let bound = self.scale * error + self.rounding;
        let (start, period) = (input.window.start, input.window.period);
        let mut reals = Reals::default();
        for (tick, number) in self.slots(input, numbers, ticks)? {
            // On normalised values, a polynomial whose absolute coefficients sum to 1 stays within −1 … 1.
            if number.abs() > 1.0 + error {
                return Err(OwnerError::wrong("no reading of the declared range has this value"));
            }
            let value = self.constant + self.scale * number;
            let (from, to) = (period.at(start, tick), period.at(start, i64::from(tick) + 1));
            reals.add(Real { from, to, value, bound });
        }
        Ok(reals)
    }
}

/// Returns a bound on the rounding error in f64 of a polynomial's coefficients on normalised values, and of its value:
/// 4(d + 2)ε Σ |c_k|(|centre| + half)^k.
fn polynomial_rounding(coefficients: &[f64], centre: f64, half: f64) -> f64 {
    let reach = centre.abs() + half;
    let size = coefficients.iter().rev().fold(0.0, |sum, c| sum * reach + c.abs());
    4.0 * (coefficients.len() + 1) as f64 * f64::EPSILON * size
}
