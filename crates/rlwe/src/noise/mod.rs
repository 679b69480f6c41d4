//! Noise bounds in the canonical embedding.
//!
//! The norm of a polynomial is the largest absolute value it takes at a primitive 2n-th root of unity. It is
//! submultiplicative, and no coefficient exceeds it. Random polynomials are bounded by a tail cut at 2^-128; sums add
//! bounds and products multiply them, so operands may depend on each other (Gentry, Halevi and Smart, ePrint 2012/099,
//! appendix A.5; Costache, Laine and Player, ePrint 2019/493). Bounds only decide; they are no estimate of the noise.

mod bfv;
mod bgv;
mod ckks;
mod log2;
mod norms;

pub use log2::Log2;
pub use norms::Norms;

use crate::parameters::Params;
use crate::scheme::Scheme;

/// Where a ciphertext came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Encrypted with the secret key.
    SecretKey,
    /// Encrypted with the public key.
    PublicKey,
}

/// Bounds on what a ciphertext's phase holds, as canonical norms.
///
/// phase = (Q/t)·message + error (BFV), message + error with the error a multiple of t (BGV: `error` bounds the whole phase),
/// message + error (CKKS, `message` scaled).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise {
    /// Bound on the message polynomial.
    pub message: Log2,
    /// Bound on the error polynomial.
    pub error: Log2,
}

/// How bounds move. `level` is that of the ciphertext before the operation.
pub trait NoiseRules<S: Scheme> {
    /// A fresh ciphertext of values declared to be at most `magnitude` (BFV and BGV take any message).
    fn fresh(params: &Params<S>, origin: Origin, magnitude: f64) -> Noise;

    /// Sum or difference.
    fn add(params: &Params<S>, a: Noise, b: Noise) -> Noise;

    /// Sum with a plaintext of norm `norm`, encoded up to `rounding`.
    fn add_plain(params: &Params<S>, a: Noise, norm: Log2, rounding: Log2) -> Noise;

    /// Product with a plaintext of norm `norm`, encoded up to `rounding`.
    fn multiply_plain(params: &Params<S>, a: Noise, norm: Log2, rounding: Log2) -> Noise;

    /// Product of two ciphertexts of two components, before relinearisation.
    fn multiply(params: &Params<S>, level: usize, a: Noise, b: Noise) -> Noise;

    /// After dropping one prime at `level` from a ciphertext of `components` components.
    fn drop_prime(params: &Params<S>, level: usize, components: usize, a: Noise) -> Noise;

    /// After key switching.
    fn key_switch(params: &Params<S>, level: usize, a: Noise) -> Noise {
        let added = params.norms().key_switch(params, level);
        Noise { message: a.message, error: a.error + added }
    }

    /// Bits between the bound and the decryption limit: decryption is right when this is not negative.
    fn room(params: &Params<S>, level: usize, a: Noise) -> f64;

    /// A bound on the error of a decoded slot, where decoding is inexact: 0 for BFV and BGV.
    fn slot_error(params: &Params<S>, level: usize, scaling: S::Scaling, a: Noise) -> f64;
}

/// log2(Q_l/2), less a margin for the place where the fixed-point base conversion may wrap early.
pub(crate) fn half_modulus<S: Scheme>(params: &Params<S>, level: usize) -> f64 {
    params.data_bits(level) - 1.0 - 1.0 / 4096.0
}
