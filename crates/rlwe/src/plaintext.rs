//! Plaintexts.

#[cfg(not(feature = "std"))]
use num_traits::Float as _;
use sotto_ring::{Once, Wiped};

use crate::noise::{Log2, PlainSize};
use crate::parameters::Params;
use crate::scheme::Scheme;

/// An encoded message: a polynomial with signed integer coefficients (BFV, BGV: centred modulo t; CKKS: scaled and
/// rounded). It may be secret: wiped on drop, without Debug.
///
/// ```
/// use sotto_rlwe::{Ckks, Params, Plaintext, Scheme};
///
/// let params = Params::<Ckks>::default_chain(4096, 0)?;
/// // Temperatures below 128 °C: the declaration is public, the values are not.
/// let plaintext: Plaintext<Ckks> =
///     Ckks::encode_slots(&params, &[21.5, 19.8], params.top_level())?.declare_magnitude(128.0);
/// assert_eq!(plaintext.magnitude(), 128.0);
/// assert!((Ckks::decode_slots(&params, &plaintext)?[0] - 21.5).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Plaintext<S: Scheme> {
    coefficients: Wiped<i64>,
    level: usize,
    scaling: S::Scaling,
    rounding: Log2,
    /// A bound on the canonical norm, known from encoding.
    largest: Option<Log2>,
    /// Measured on first use: most plaintexts are only encrypted, which does not need it.
    size: Once<PlainSize>,
    params: Params<S>,
    magnitude: f64,
}

impl<S: Scheme> Plaintext<S> {
    /// Returns these parameters if they are its own.
    pub(crate) fn shared(&self, params: &Params<S>) -> Option<Params<S>> {
        (self.params == *params).then(|| params.clone())
    }

    /// Makes a plaintext from coefficients encoded for a level. Range: at most n; trailing zeros may be missing.
    /// `rounding` bounds the canonical norm of the rounding error of encoding.
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
        let (params, size) = (params.clone(), Once::new());
        Self { coefficients, level, scaling, rounding, largest: None, size, params, magnitude: 1.0 }
    }

    /// Sets a bound on the canonical norm that the encoder knows.
    pub(crate) fn with_largest(mut self, largest: Log2) -> Self {
        self.largest = Some(largest);
        self
    }

    /// Declares the largest |value| that a plaintext of this kind may hold (default: 1). A CKKS ciphertext carries a
    /// public bound on its message, which is computed from this declaration and not from the values.
    pub fn declare_magnitude(mut self, magnitude: f64) -> Self {
        self.magnitude = magnitude;
        self
    }

    /// Returns the declared largest |value|.
    pub fn magnitude(&self) -> f64 {
        self.magnitude
    }

    /// Returns the coefficients; trailing zeros may be missing.
    pub fn coefficients(&self) -> &[i64] {
        &self.coefficients
    }

    /// Returns the parameters that it was encoded for.
    pub fn params(&self) -> &Params<S> {
        &self.params
    }

    /// Returns the level that it was encoded for (only CKKS depends on it).
    pub fn level(&self) -> usize {
        self.level
    }

    /// Makes the plaintext that decryption recovered.
    pub(crate) fn recovered(
        params: &Params<S>,
        coefficients: Wiped<i64>,
        level: usize,
        scaling: S::Scaling,
    ) -> Self {
        Self::held(params, coefficients, level, scaling, Log2::ZERO)
    }

    /// Returns the scaling of its message.
    pub fn scaling(&self) -> S::Scaling {
        self.scaling
    }

    /// Returns a bound on its canonical norm.
    pub fn norm(&self) -> Log2 {
        self.size().norm
    }

    /// Returns a bound on its canonical norm, for encryption to compare with the declaration: the one known from
    /// encoding. Modulo t a message may be anything, and the sum of absolute values, which needs no transform, is close
    /// enough.
    pub(crate) fn message_norm(&self) -> Log2 {
        match self.largest {
            Some(largest) => largest,
            None if !S::EXACT => self.norm(),
            None => {
                let sum: f64 = self.coefficients.iter().map(|c| c.unsigned_abs() as f64).sum();
                // n halves of an even t reach the limit exactly: the rounding of f64 must not exceed it.
                Log2::above(sum * (1.0 - 1e-9))
            }
        }
    }

    /// Returns a bound on the canonical norm of the rounding error of encoding.
    pub fn rounding(&self) -> Log2 {
        self.rounding
    }

    /// Returns its sizes. The first call measures them.
    pub fn size(&self) -> PlainSize {
        *self.size.or_init(|| {
            // The slots of real numbers tell their norm; of a message modulo t the known bound is that of any message.
            let known = self.largest.filter(|_| !S::EXACT);
            PlainSize {
                norm: known.unwrap_or_else(|| norm_of(&self.params, &self.coefficients)),
                rms: Log2::above(sum_of_squares(&self.coefficients).sqrt()),
                rounding: self.rounding,
            }
        })
    }

    /// Returns sizes for a sum. Modulo t the noise after a sum does not depend on the message, so nothing is measured.
    pub(crate) fn addend_size(&self) -> PlainSize {
        match self.largest {
            Some(largest) if S::EXACT => PlainSize { norm: largest, rms: largest, rounding: self.rounding },
            _ => self.size(),
        }
    }
}

/// Returns the sum of the squares. Eight sums side by side, as each waits for its last addition.
fn sum_of_squares(coefficients: &[i64]) -> f64 {
    let (groups, rest) = coefficients.as_chunks::<8>();
    let mut sums = [0.0; 8];
    for group in groups {
        for (sum, c) in sums.iter_mut().zip(group) {
            *sum += (*c as f64) * (*c as f64);
        }
    }
    sums.iter().sum::<f64>() + rest.iter().map(|c| (*c as f64) * (*c as f64)).sum::<f64>()
}

/// Returns a bound on the canonical norm: the constant itself, or the largest slot in the embedding plus a margin for
/// the embedding's rounding.
fn norm_of<S: Scheme>(params: &Params<S>, coefficients: &[i64]) -> Log2 {
    // The branch depends on the number of stored coefficients, never on their values.
    match coefficients.len() {
        0 => Log2::ZERO,
        1 => Log2::above(coefficients[0].unsigned_abs() as f64 * (1.0 + 1e-9)),
        // For a few coefficients their sum is close enough and needs no transform.
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
