//! Plaintexts, and plaintexts prepared for the evaluator.

use core::marker::PhantomData;
use std::sync::OnceLock;

use sotto_ring::{Eval, Poly, Wiped};

use crate::noise::{Log2, PlainSize};
use crate::parameters::{Params, SchemeId};
use crate::scheme::Scheme;

/// An encoded message: a polynomial with signed integer coefficients (BFV, BGV: centred modulo t; CKKS: scaled and rounded).
/// Wiped on drop; without Debug, since it may be secret.
pub struct Plaintext<S: Scheme> {
    coefficients: Wiped<i64>,
    level: usize,
    scaling: S::Scaling,
    rounding: Log2,
    /// A bound on the canonical norm that encoding knew.
    largest: Option<Log2>,
    /// Measured when it is asked for: most plaintexts are encrypted, and then nobody asks.
    size: OnceLock<PlainSize>,
    params: Params<S>,
    magnitude: f64,
}

impl<S: Scheme> Plaintext<S> {
    /// From coefficients (at most n; trailing zeros may be left out) encoded for a level. `rounding` bounds, as a canonical
    /// norm, what encoding rounded off.
    pub fn from_coefficients(
        params: &Params<S>,
        coefficients: impl Into<Wiped<i64>>,
        level: usize,
        rounding: Log2,
    ) -> Self {
        let coefficients = coefficients.into();
        assert!(coefficients.len() <= params.degree(), "more coefficients than the degree");
        Self::held(params, coefficients, level, S::fresh_scaling(), rounding)
    }

    fn held(
        params: &Params<S>,
        coefficients: Wiped<i64>,
        level: usize,
        scaling: S::Scaling,
        rounding: Log2,
    ) -> Self {
        let (params, size) = (params.clone(), OnceLock::new());
        Self { coefficients, level, scaling, rounding, largest: None, size, params, magnitude: 1.0 }
    }

    /// With a bound on its canonical norm that the encoder knows.
    pub(crate) fn with_largest(mut self, largest: Log2) -> Self {
        self.largest = Some(largest);
        self
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

    /// The parameters it was encoded for.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// The level it was encoded for (only CKKS depends on it).
    pub fn level(&self) -> usize {
        self.level
    }

    /// What decryption recovered.
    pub(crate) fn recovered(
        params: &Params<S>,
        coefficients: Wiped<i64>,
        level: usize,
        scaling: S::Scaling,
    ) -> Self {
        Self::held(params, coefficients, level, scaling, Log2::ZERO)
    }

    /// What its message is multiplied by.
    pub fn scaling(&self) -> S::Scaling {
        self.scaling
    }

    /// A bound on its canonical norm.
    pub fn norm(&self) -> Log2 {
        self.size().norm
    }

    /// A bound on its canonical norm, for encryption to hold against what was declared: what encoding knew. A message modulo t
    /// may be anything, and the sum of absolute values, which costs no transform, is close enough.
    pub(crate) fn message_norm(&self) -> Log2 {
        match self.largest {
            Some(largest) => largest,
            None if S::ID == SchemeId::Ckks => self.norm(),
            None => {
                let sum: f64 = self.coefficients.iter().map(|c| c.unsigned_abs() as f64).sum();
                // n halves of an even t reach the limit itself: what f64 rounds must not lift them over it.
                Log2::above(sum * (1.0 - 1e-9))
            }
        }
    }

    /// A bound on what encoding rounded off, as a canonical norm.
    pub fn rounding(&self) -> Log2 {
        self.rounding
    }

    /// Its sizes. The first call measures them.
    pub fn size(&self) -> PlainSize {
        *self.size.get_or_init(|| {
            let squares: f64 = self.coefficients.iter().map(|c| (*c as f64) * (*c as f64)).sum();
            PlainSize {
                norm: norm_of(&self.params, &self.coefficients),
                rms: Log2::above(squares.sqrt()),
                rounding: self.rounding,
            }
        })
    }
}

/// A bound on the canonical norm: the constant itself, or the largest slot found by the embedding and a margin for its
/// own rounding.
fn norm_of<S: Scheme>(params: &Params<S>, coefficients: &[i64]) -> Log2 {
    // Which way is taken depends on how many coefficients are written down, never on what they are.
    match coefficients.len() {
        0 => Log2::ZERO,
        1 => Log2::above(coefficients[0].unsigned_abs() as f64 * (1.0 + 1e-9)),
        // A few coefficients of many: their sum is close enough, and costs no transform.
        2..=16 if params.degree() > 64 => {
            Log2::above(coefficients.iter().map(|c| c.unsigned_abs() as f64).sum::<f64>() * (1.0 + 1e-9))
        }
        _ => {
            let mut padded = Wiped::zeros(params.degree());
            padded.iter_mut().zip(coefficients).for_each(|(x, c)| *x = *c as f64);
            let largest = params.embedding().largest_slot_of(&mut padded);
            Log2::above(largest * (1.0 + 1e-9) + 1e-9)
        }
    }
}

/// A plaintext prepared to be added at one level and scaling, in Eval form.
#[derive(Debug)]
pub struct Addend<S: Scheme> {
    pub(crate) poly: Poly<Eval>,
    pub(crate) level: usize,
    pub(crate) scaling: S::Scaling,
    /// The level and scaling that its plaintext was encoded for.
    pub(crate) encoded: (usize, S::Scaling),
    pub(crate) size: PlainSize,
}

impl<S: Scheme> Addend<S> {
    /// Prepares. The evaluator refuses it unless a CKKS plaintext was encoded for this level and scaling.
    pub fn new(params: &Params<S>, plaintext: &Plaintext<S>, level: usize, scaling: S::Scaling) -> Self {
        let poly = S::inject(params, plaintext, level, scaling).into_eval();
        let encoded = (plaintext.level, plaintext.scaling);
        Self { poly, level, scaling, encoded, size: plaintext.size() }
    }
}

/// A plaintext prepared to be multiplied with at one level, in Eval form.
#[derive(Debug)]
pub struct Multiplier<S: Scheme> {
    pub(crate) poly: Poly<Eval>,
    pub(crate) level: usize,
    /// The level and scaling that its plaintext was encoded for.
    pub(crate) encoded: (usize, S::Scaling),
    pub(crate) size: PlainSize,
    scheme: PhantomData<S>,
}

impl<S: Scheme> Multiplier<S> {
    /// Prepares. The evaluator refuses it unless a CKKS plaintext was encoded for this level.
    pub fn new(params: &Params<S>, plaintext: &Plaintext<S>, level: usize) -> Self {
        let poly = sotto_ring::Poly::from_signed(params.ring(), params.limbs(level), &plaintext.coefficients)
            .into_eval();
        let encoded = (plaintext.level, plaintext.scaling);
        Self { poly, level, encoded, size: plaintext.size(), scheme: PhantomData }
    }
}
