//! The LWE scheme of Aono, Hayashi, Phong and Wang (*Fast and Secure Linear Regression and Biometric
//! Authentication with Security Update*, ePrint 2015/692, section 3): sums and one product, on learning with
//! errors without a ring.
//!
//! The public key is (A, P = p·R − A·S) modulo q; E(m) = (e₁·A + p·e₂, e₁·P + p·e₃ + m). The product of two
//! ciphertexts is the matrix of all products of their entries.
//!
//! The scheme is here for measurements only: the lattice schemes of `sotto-rlwe` are smaller, faster and
//! multiply more than once. Parameters and their security: docs/concepts/partial.md.

#[cfg(not(feature = "std"))]
use num_traits::Float as _;

mod scheme;

pub use scheme::{Ciphertext, Product, PublicKey};

/// The dimension n.
pub const DIMENSION: usize = 2048;
/// log2 of the modulus: q = 2^52. With n = 2048 and secrets wider than ternary ones this is inside the
/// 128-bit limit of the 2024 guidelines (ePrint 2024/463, table 5.2: 2^53). The table is for rings; no better
/// attack is known without a ring.
pub const LOG2_Q: u32 = 52;
/// The plain modulus p: odd, so that it has an inverse modulo q. Messages are from −510 to 510.
pub const PLAIN_MODULUS: u64 = 1021;
/// Maximum entries of a message.
pub const LONGEST_MESSAGE: usize = 16;
/// Bits of each half of a centred binomial error: σ² = 10.5, as for the ring schemes.
const BINOMIAL: u32 = 21;

/// Draws a centred binomial number from −21 to 21, without a branch.
pub fn error(rng: &mut impl rand_core::CryptoRng) -> i64 {
    let word = rng.next_u64();
    let half = |word: u64| i64::from((word & ((1 << BINOMIAL) - 1)).count_ones());
    half(word) - half(word >> BINOMIAL)
}

/// Limit on the columns of a key's R and S together: |R|² + |S|² ≤ 1.25·2n·σ². Key generation draws again
/// beyond it.
pub const LARGEST_NORM: f64 = 1.25 * 2.0 * DIMENSION as f64 * 10.5;

/// Returns a bound on the phase of a fresh ciphertext: m + p·(e₁R + e₂S + e₃). A centred binomial number is
/// sub-Gaussian with its own variance, so the sum is below √(2·ln 2·129)·σ·√(|R|²+|S|²) but with probability
/// 2^-128.
pub(crate) fn fresh_bound() -> f64 {
    let sum = (2.0 * core::f64::consts::LN_2 * 129.0 * 10.5 * LARGEST_NORM).sqrt() + f64::from(BINOMIAL);
    PLAIN_MODULUS as f64 * (sum + 0.5)
}

/// Reduces modulo q.
#[inline]
pub fn reduce(x: u64) -> u64 {
    x & ((1 << LOG2_Q) - 1)
}

/// Decodes a phase to a centred number modulo p.
pub fn decode(phase: u64) -> i64 {
    let unused = u64::BITS - LOG2_Q;
    let centred = (phase << unused) as i64 >> unused;
    let p = PLAIN_MODULUS as i64;
    let rest = centred.rem_euclid(p);
    rest - (p & -i64::from(rest > p / 2))
}
