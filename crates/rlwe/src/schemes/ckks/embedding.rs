//! Encoding of numbers in CKKS: real and complex slots by the canonical embedding (ePrint 2016/421, section 3), numbers
//! as coefficients, and the constants between the scales of two levels.
//!
//! Nothing branches on a value, except to refuse one that is out of range; the refusal is public. The same holds for
//! the bounds of a plaintext: encryption compares them with the declared magnitude and does nothing else with them.

use alloc::vec::Vec;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use sotto_ring::{Complex, Embedding, Wiped};
use zeroize::Zeroizing;

use super::Ckks;
use crate::error::EncodeError;
use crate::lean::SlotValues;
use crate::noise::Log2;
use crate::parameters::{DoubleDouble, ParameterSpec, Params, ScaleRatio};
use crate::plaintext::Plaintext;

/// Coefficients stay below 2^62, so that they are exact in `i64`.
const COEFFICIENT_LIMIT: f64 = (1u64 << 62) as f64;
/// The relative error of the transform, in units of its largest output, is below this.
const TRANSFORM_ERROR: f64 = 1.0 / (1u64 << 45) as f64;

impl Params<Ckks> {
    /// Returns Δ_l, the scale of a ciphertext of power 1 at this level, to the nearest `f64`.
    pub fn scale(&self, level: usize) -> f64 {
        self.exact_scale(level).high
    }

    /// Returns Δ_l to 106 bits.
    pub fn exact_scale(&self, level: usize) -> DoubleDouble {
        self.tables().scales[level]
    }

    /// Returns Δ_l/Δ to 2^-129; it is within 2^±0.01. Scales are compared by level and power, never by this number.
    pub fn scale_ratio(&self, level: usize) -> ScaleRatio {
        self.tables().ratios[level]
    }

    /// Returns the constant from the scale of level `from` to that of the lower level `to`, for one product at level to
    /// + 1 and one rescale: the integer nearest to Δ_to·q_{to+1}/Δ_from, and the remainder (at most 1/2).
    ///
    /// # Errors
    /// [`EncodeError::Level`] unless to < from ≤ the top level.
    pub fn scale_match(&self, from: usize, to: usize) -> Result<(i64, f64), EncodeError> {
        self.check_level(from)?;
        if to >= from {
            return Err(EncodeError::Level { level: to, top: from.saturating_sub(1) });
        }
        let (integer, rest) = self.scale_ratio(to).quotient(self.data_prime(to + 1), self.scale_ratio(from));
        Ok((integer as i64, rest))
    }

    /// Returns [`Params::scale_match`] as a plaintext for level to + 1.
    ///
    /// # Errors
    /// As [`Params::scale_match`].
    pub fn encode_scale_match(&self, from: usize, to: usize) -> Result<Plaintext<Ckks>, EncodeError> {
        let (integer, rest) = self.scale_match(from, to)?;
        // The remainder is a fraction in f64.
        let rounding = Log2::of(rest.abs() + (-50f64).exp2());
        Ok(Plaintext::from_coefficients(self, vec![integer], to + 1, rounding))
    }

    /// Encodes up to n/2 complex numbers, one a slot, for a level; missing ones are zero. Rotations move the slots, the
    /// row swap conjugates them.
    ///
    /// # Errors
    /// [`EncodeError::OutOfRange`] with the index of a number that is not finite or above 2^61/Δ_l in absolute value;
    /// [`EncodeError::TooMany`]; [`EncodeError::Level`].
    pub fn encode_complex(&self, values: &[Complex], level: usize) -> Result<Plaintext<Ckks>, EncodeError> {
        let scale = self.slots_scale(values.len(), level)?;
        let outside = |z: &Complex, limit| !z.re.is_finite() || !z.im.is_finite() || z.absolute() > limit;
        in_range(values, scale, outside)?;
        let mut slots = Zeroizing::new(vec![Complex::default(); self.degree() / 2]);
        for (slot, value) in slots.iter_mut().zip(values) {
            *slot = Complex { re: value.re * scale, im: value.im * scale };
        }
        let largest = slots.iter().map(|z| z.square()).fold(0.0, f64::max).sqrt();
        Ok(self.embed(self.embedding().to_coefficients(&slots), largest, level))
    }

    /// Encodes up to n/2 real numbers, one a slot: see [`Params::encode_complex`].
    pub(super) fn encode_real(&self, values: &[f64], level: usize) -> Result<Plaintext<Ckks>, EncodeError> {
        let scale = self.slots_scale(values.len(), level)?;
        if !sotto_ring::all_within(values, limit_of(scale)) {
            in_range(values, scale, |v: &f64, limit| !v.is_finite() || v.abs() > limit)?;
        }
        let exact = self.embedding().real_to_coefficients(values, scale);
        Ok(self.embed(exact, sotto_ring::largest(values) * scale, level))
    }

    /// Returns the n/2 complex slots of a plaintext.
    pub fn decode_complex(&self, plaintext: &Plaintext<Ckks>) -> Vec<Complex> {
        let mut coefficients: Zeroizing<Vec<f64>> =
            Zeroizing::new(plaintext.coefficients().iter().map(|c| *c as f64).collect());
        coefficients.resize(self.degree(), 0.0);
        let scale = self.scale_of(plaintext);
        let slots = Zeroizing::new(self.embedding().to_slots(&coefficients));
        slots.iter().map(|z| Complex { re: z.re / scale, im: z.im / scale }).collect()
    }

    /// Encodes up to n numbers as coefficients: sums add them place by place, products convolve them negacyclically.
    pub(super) fn encode_real_coefficients(
        &self,
        values: &[f64],
        level: usize,
    ) -> Result<Plaintext<Ckks>, EncodeError> {
        self.check_level(level)?;
        let degree = self.degree();
        if values.len() > degree {
            return Err(EncodeError::TooManyCoefficients { given: values.len(), degree });
        }
        let scale = self.exact_scale(level);
        in_range(values, scale.high, |v: &f64, limit| !v.is_finite() || v.abs() > limit)?;
        // The branch depends only on the number of values, as in a plaintext's norm.
        let few = values.len() <= 16;
        let mut coefficients = Vec::with_capacity(values.len());
        let mut rests = Zeroizing::new(Vec::with_capacity(if few { values.len() } else { degree }));
        let mut largest = 0.0f64;
        for value in values {
            let product = scale.times(*value);
            let (integer, rest) = product.round();
            coefficients.push(integer);
            rests.push(rest);
            largest = largest.max(product.high.abs());
        }
        let rest = if few {
            rests.iter().map(|rest| rest.abs()).sum()
        } else {
            rests.resize(degree, 0.0);
            self.embedding().largest_slot(&rests) + TRANSFORM_ERROR * values.len() as f64
        };
        // Products are exact to a relative 2^-102, and rounded to the nearest except for 2^-50.
        let inexact = largest * (-100f64).exp2() + (-50f64).exp2();
        let rounding = Log2::above(rest + values.len() as f64 * inexact);
        Ok(Plaintext::from_coefficients(self, coefficients, level, rounding))
    }

    /// Rounds exact coefficients, of slots of at most this magnitude, to a plaintext.
    fn embed(&self, mut exact: Wiped<f64>, largest: f64, level: usize) -> Plaintext<Ckks> {
        let mut coefficients = Wiped::zeros(self.degree());
        sotto_ring::round_off(&mut exact, &mut coefficients);
        let rounding = self.embedding().largest_slot_of(&mut exact) + largest * TRANSFORM_ERROR;
        Plaintext::from_coefficients(self, coefficients, level, Log2::above(rounding))
            .with_largest(Log2::above((largest + rounding) * (1.0 + 1e-9)))
    }

    /// Returns the scale of a level; refuses more values than slots.
    fn slots_scale(&self, given: usize, level: usize) -> Result<f64, EncodeError> {
        self.check_level(level)?;
        let slots = self.degree() / 2;
        if given > slots { Err(EncodeError::TooMany { given, slots }) } else { Ok(self.scale(level)) }
    }

    /// Returns the scale of a plaintext's message: Δ_l^power.
    pub(super) fn scale_of(&self, plaintext: &Plaintext<Ckks>) -> f64 {
        self.scale(plaintext.level()).powi(plaintext.scaling().0 as i32)
    }

    fn check_level(&self, level: usize) -> Result<(), EncodeError> {
        let top = self.top_level();
        if level > top { Err(EncodeError::Level { level, top }) } else { Ok(()) }
    }
}

/// Returns the largest absolute value at a scale: 2^61/scale.
fn limit_of(scale: f64) -> f64 {
    COEFFICIENT_LIMIT / scale / 2.0
}

/// Refuses the first value outside the limit, with its index. The limit is 2^61 over the scale.
fn in_range<T>(values: &[T], scale: f64, outside: impl Fn(&T, f64) -> bool) -> Result<(), EncodeError> {
    let limit = limit_of(scale);
    match values.iter().position(|value| outside(value, limit)) {
        Some(index) => Err(EncodeError::OutOfRange { index, limit }),
        None => Ok(()),
    }
}

/// Transforms real slots to rounded coefficients of scale Δ.
pub(super) fn lean_coefficients(
    spec: &ParameterSpec,
    values: SlotValues<'_>,
    largest: f64,
) -> Result<Wiped<i64>, EncodeError> {
    let none = EncodeError::NoSlots { plain_modulus: spec.plain, degree: spec.degree };
    let SlotValues::Reals(values) = values else { return Err(none) };
    let slots = spec.degree / 2;
    if values.len() > slots {
        return Err(EncodeError::TooMany { given: values.len(), slots });
    }
    let scale = (1u64 << spec.plain.min(60)) as f64;
    let limit = largest.min(limit_of(scale));
    if !sotto_ring::all_within(values, limit) {
        let outside = |value: &f64| !value.is_finite() || value.abs() > limit;
        return Err(EncodeError::OutOfRange { index: values.iter().position(outside).unwrap_or(0), limit });
    }
    let embedding = Embedding::new(spec.degree).ok_or(none)?;
    let mut exact = embedding.real_to_coefficients(values, scale);
    let mut coefficients = Wiped::zeros(spec.degree);
    sotto_ring::round_off(&mut exact, &mut coefficients);
    Ok(coefficients)
}
