//! Plaintexts, and plaintexts prepared for the evaluator.

use core::marker::PhantomData;

use sotto_ring::{Eval, Poly};
use zeroize::Zeroize;

use crate::noise::Log2;
use crate::parameters::Params;
use crate::scheme::Scheme;

/// An encoded message: a polynomial with signed integer coefficients (BFV, BGV: centred modulo t; CKKS: scaled and rounded).
/// Wiped on drop; without Debug, since it may be secret.
pub struct Plaintext<S: Scheme> {
    coefficients: Vec<i64>,
    level: usize,
    scaling: S::Scaling,
    norm: Log2,
    rounding: Log2,
    magnitude: f64,
}

impl<S: Scheme> Drop for Plaintext<S> {
    fn drop(&mut self) {
        self.coefficients.zeroize();
    }
}

impl<S: Scheme> Plaintext<S> {
    /// From coefficients (at most n; trailing zeros may be left out) encoded for a level. `rounding` bounds, as a canonical
    /// norm, what encoding rounded off.
    pub fn from_coefficients(
        params: &Params<S>,
        coefficients: Vec<i64>,
        level: usize,
        rounding: Log2,
    ) -> Self {
        assert!(coefficients.len() <= params.degree(), "more coefficients than the degree");
        let norm = norm_of(params, &coefficients);
        Self { coefficients, level, scaling: S::fresh_scaling(), norm, rounding, magnitude: 1.0 }
    }

    /// Declares the largest |value| that a plaintext of this kind may hold; 1 unless declared. A CKKS ciphertext carries a bound
    /// on its message, which everybody sees: it is made from what is declared and not from the values.
    pub fn declare_magnitude(mut self, magnitude: f64) -> Self {
        self.magnitude = magnitude;
        self
    }

    /// The declared largest |value|.
    pub fn magnitude(&self) -> f64 {
        self.magnitude
    }

    /// The coefficients; trailing zeros may be missing.
    pub fn coefficients(&self) -> &[i64] {
        &self.coefficients
    }

    /// The level it was encoded for (only CKKS depends on it).
    pub fn level(&self) -> usize {
        self.level
    }

    /// What decryption recovered; its norm is not looked at.
    pub(crate) fn recovered(coefficients: Vec<i64>, level: usize, scaling: S::Scaling) -> Self {
        let zero = Log2::ZERO;
        Self { coefficients, level, scaling, norm: zero, rounding: zero, magnitude: 1.0 }
    }

    /// What its message is multiplied by.
    pub(crate) fn scaling(&self) -> S::Scaling {
        self.scaling
    }

    /// A bound on its canonical norm.
    pub fn norm(&self) -> Log2 {
        self.norm
    }

    /// A bound on what encoding rounded off, as a canonical norm.
    pub fn rounding(&self) -> Log2 {
        self.rounding
    }
}

/// A bound on the canonical norm: the constant itself, or the largest slot found by the embedding and a margin for its
/// own rounding.
fn norm_of<S: Scheme>(params: &Params<S>, coefficients: &[i64]) -> Log2 {
    // Which way is taken depends on how many coefficients are written down, never on what they are.
    match coefficients.len() {
        0 => Log2::ZERO,
        1 => Log2::of(coefficients[0].unsigned_abs() as f64 * (1.0 + 1e-9)),
        // A few coefficients of many: their sum is close enough, and costs no transform.
        2..=16 if params.degree() > 64 => {
            Log2::of(coefficients.iter().map(|c| c.unsigned_abs() as f64).sum::<f64>() * (1.0 + 1e-9))
        }
        _ => {
            let mut padded: Vec<f64> = coefficients.iter().map(|c| *c as f64).collect();
            padded.resize(params.degree(), 0.0);
            let slots = zeroize::Zeroizing::new(params.embedding().to_slots(&padded));
            padded.zeroize();
            Log2::of(largest(&slots) * (1.0 + 1e-9) + 1e-9)
        }
    }
}

/// The largest absolute value, without a branch on the values.
fn largest(slots: &[sotto_ring::Complex]) -> f64 {
    slots.iter().map(|z| z.re * z.re + z.im * z.im).fold(0.0, f64::max).sqrt()
}

/// A plaintext prepared to be added at one level and scaling, in Eval form.
#[derive(Debug)]
pub struct Addend<S: Scheme> {
    pub(crate) poly: Poly<Eval>,
    pub(crate) level: usize,
    pub(crate) scaling: S::Scaling,
    pub(crate) norm: Log2,
    pub(crate) rounding: Log2,
}

impl<S: Scheme> Addend<S> {
    /// Prepares; CKKS plaintexts must have been encoded for this level, and for power 1.
    pub fn new(params: &Params<S>, plaintext: &Plaintext<S>, level: usize, scaling: S::Scaling) -> Self {
        let poly = S::inject(params, plaintext, level, scaling);
        Self { poly, level, scaling, norm: plaintext.norm, rounding: plaintext.rounding }
    }
}

/// A plaintext prepared to be multiplied with at one level, in Eval form.
#[derive(Debug)]
pub struct Multiplier<S: Scheme> {
    pub(crate) poly: Poly<Eval>,
    pub(crate) level: usize,
    pub(crate) norm: Log2,
    pub(crate) rounding: Log2,
    scheme: PhantomData<S>,
}

impl<S: Scheme> Multiplier<S> {
    /// Prepares; CKKS plaintexts must have been encoded for this level.
    pub fn new(params: &Params<S>, plaintext: &Plaintext<S>, level: usize) -> Self {
        let poly = sotto_ring::Poly::from_signed(params.ring(), params.limbs(level), &plaintext.coefficients)
            .into_eval();
        Self { poly, level, norm: plaintext.norm, rounding: plaintext.rounding, scheme: PhantomData }
    }
}
