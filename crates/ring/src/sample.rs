//! Small random polynomials: ternary secrets and centred binomial errors. No branch depends on drawn values.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::ops::Range;

use sotto_kernels::{Target, Wiped, wipe};

use crate::keystream::SecretStream;
use crate::poly::{Coeff, Eval, Poly};
use crate::random::SecretRng;
use crate::ring::Ring;

/// Variance of a centred binomial error with 21 + 21 bits (σ = 3.24).
pub const ERROR_VARIANCE: f64 = 10.5;
/// Variance of a uniform ternary coefficient.
pub const TERNARY_VARIANCE: f64 = 2.0 / 3.0;

/// The largest centred binomial coefficient.
const ERROR_LIMIT: u64 = 21;
/// The function that turns bytes into coefficients, and the largest magnitude.
type Law = (fn(&[u8], &mut [i64]), u64);

/// Words drawn at a time.
const CHUNK: usize = 512;

/// A polynomial with small coefficients. It is secret: wiped on drop, without Debug.
///
/// ```
/// use sotto_ring::{Ring, SmallPoly, secure_rng};
///
/// let ring = Ring::new(8, &[97])?;
/// let secret = SmallPoly::ternary(8, &mut secure_rng()?);
/// assert!(secret.coefficients().iter().all(|c| (-1..=1).contains(c)));
/// let residues = secret.to_coeff(&ring, 0..1);
/// assert!(residues.limb(0).iter().all(|r| [0, 1, 96].contains(r)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct SmallPoly {
    coefficients: Wiped<i64>,
    limit: u64,
}

impl SmallPoly {
    /// Draws uniformly from {−1, 0, 1}; bias below 2^-62. Uses one little-endian 64-bit word of the generator a
    /// coefficient on every machine, as the derivation of secret keys requires (docs/math/conventions.md, "Secret
    /// keys").
    pub fn ternary(degree: usize, rng: &mut impl SecretRng) -> Self {
        Self::drawn(degree, (Target::best().streams.ternary, 1), |bytes| rng.fill_bytes(bytes))
    }

    /// Draws from the same distribution, for one encryption. Expands the words from 32 bytes of the generator where
    /// that is faster.
    pub fn fresh_ternary(degree: usize, rng: &mut impl SecretRng) -> Self {
        Self::expanded(degree, (Target::best().streams.ternary, 1), rng)
    }

    /// Draws from the centred binomial distribution with 21 + 21 bits: |coefficient| ≤ 21, variance 10.5. Expands as in
    /// [`SmallPoly::fresh_ternary`].
    pub fn centred_binomial(degree: usize, rng: &mut impl SecretRng) -> Self {
        Self::expanded(degree, (Target::best().streams.centred_binomial, ERROR_LIMIT), rng)
    }

    /// Draws by AES-128 in counter mode, under a secret key and first block, if the processor runs it in SIMD lanes,
    /// else by the generator itself: docs/math/sampling.md.
    fn expanded(degree: usize, law: Law, rng: &mut impl SecretRng) -> Self {
        match SecretStream::new(rng) {
            Some(mut stream) => Self::drawn(degree, law, |bytes| stream.fill(bytes)),
            None => Self::drawn(degree, law, |bytes| rng.fill_bytes(bytes)),
        }
    }

    fn drawn(degree: usize, (draw, limit): Law, mut fill: impl FnMut(&mut [u8])) -> Self {
        let mut coefficients = Wiped::zeros(degree);
        let mut bytes = [0u8; 8 * CHUNK];
        for chunk in coefficients.chunks_mut(CHUNK) {
            let bytes = &mut bytes[..8 * chunk.len()];
            fill(bytes);
            draw(bytes, chunk);
        }
        wipe(&mut bytes);
        Self { coefficients, limit }
    }

    /// Takes given coefficients, for known answers and imported keys.
    pub fn from_coefficients(coefficients: Vec<i64>) -> Self {
        // Constant time: every coefficient is checked.
        let beyond = coefficients.iter().fold(false, |any, c| any | (c.unsigned_abs() > ERROR_LIMIT));
        Self { coefficients: coefficients.into(), limit: if beyond { u64::MAX } else { ERROR_LIMIT } }
    }

    /// Returns a bound on the magnitude that does not depend on drawn values: 1 or 21; u64::MAX for given coefficients
    /// beyond 21.
    pub fn limit(&self) -> u64 {
        self.limit
    }

    /// Returns the signed values, lowest power first.
    pub fn coefficients(&self) -> &[i64] {
        &self.coefficients
    }

    /// Returns the polynomial modulo a range of primes.
    pub fn to_coeff(&self, ring: &Arc<Ring>, limbs: Range<usize>) -> Poly<Coeff> {
        Poly::from_signed(ring, limbs, &self.coefficients)
    }

    /// Returns the polynomial modulo a range of primes, in Eval form.
    pub fn to_eval(&self, ring: &Arc<Ring>, limbs: Range<usize>) -> Poly<Eval> {
        self.to_coeff(ring, limbs).into_eval()
    }
}
