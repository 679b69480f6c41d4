//! Noise in the canonical embedding, in two separate measures.
//!
//! The norm of a polynomial is its largest absolute value at a primitive 2n-th root of unity. It is submultiplicative,
//! and no coefficient exceeds it.
//! - The **bound** ([`Log2`]): random polynomials are bounded by a tail cut at 2^-128; sums add bounds and products
//!   multiply them, so operands may depend on each other (Gentry, Halevi and Smart, ePrint 2012/099, appendix A.5;
//!   Costache, Laine and Player, ePrint 2019/493). Only the bound decides which operations are refused and which
//!   ciphertexts may be decrypted.
//! - The **estimate** ([`Typical`]): the average size if randomness is independent. For display only.
//!
//! Both follow the same rules, which are written once for each scheme and are generic in the [`Figure`].

mod bfv;
mod bgv;
mod ckks;
mod figure;
mod log2;
mod norms;
mod typical;

pub use figure::{Figure, PlainSize};
pub use log2::Log2;
pub use norms::{Norms, NormsOf};
pub use typical::Typical;

use crate::parameters::Params;
use crate::reduced::{Reduction, coefficient_bound, coefficient_estimate};
use crate::scheme::Scheme;

/// The way in which a ciphertext was encrypted.
///
/// ```
/// use sotto_rlwe::{Bfv, Origin, Params, Shape};
///
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// let by_device = Shape::fresh(&params, Origin::SecretKey, 1.0)?;
/// let by_anyone = Shape::fresh(&params, Origin::PublicKey, 1.0)?;
/// assert!(by_device.noise.error < by_anyone.noise.error);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Encrypted with the secret key.
    SecretKey,
    /// Encrypted with the public key.
    PublicKey,
}

/// Sizes of the parts of a ciphertext's phase, as canonical norms: bounds unless stated otherwise.
///
/// phase = (Q/t)·message + error (BFV), message + error with the error a multiple of t (BGV: `error` is the size of the
/// whole phase), message + error (CKKS, `message` scaled).
///
/// ```
/// use sotto_rlwe::{Bfv, Noise, NoiseRules, Origin, Params, Shape};
///
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// let fresh: Noise = Shape::fresh(&params, Origin::PublicKey, 1.0)?.noise;
/// // A sum of two readings has twice the error bound: one bit more.
/// let sum = Bfv::add(&params, fresh, fresh);
/// assert!((sum.error.0 - fresh.error.0 - 1.0).abs() < 1e-9);
/// assert_eq!(sum.message, fresh.message);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Noise<F = Log2> {
    /// Size of the message polynomial.
    pub message: F,
    /// Size of the error polynomial.
    pub error: F,
}

/// The rules by which operations change sizes. `level` is that of the ciphertext before the operation.
///
/// ```
/// use sotto_rlwe::{Bfv, Log2, NoiseRules, Origin, Params};
///
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// let fresh = Bfv::fresh::<Log2>(&params, Origin::PublicKey, 1.0);
/// let room = Bfv::room(&params, params.top_level(), fresh);
/// // A product with a plaintext factor of 2^10 takes ten bits.
/// let product = Bfv::multiply_scalar(&params, fresh, Log2(10.0));
/// assert!((room - Bfv::room(&params, params.top_level(), product) - 10.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait NoiseRules<S: Scheme> {
    /// Returns the sizes of a fresh ciphertext of values declared to be at most `magnitude` (BFV and BGV accept any
    /// message).
    fn fresh<F: Figure>(params: &Params<S>, origin: Origin, magnitude: f64) -> Noise<F>;

    /// Returns the sizes after a sum or difference.
    fn add<F: Figure>(params: &Params<S>, a: Noise<F>, b: Noise<F>) -> Noise<F>;

    /// Returns the sizes after a sum with a plaintext.
    fn add_plain<F: Figure>(params: &Params<S>, a: Noise<F>, plain: PlainSize) -> Noise<F>;

    /// Returns the sizes after a product with a plaintext.
    fn multiply_plain<F: Figure>(params: &Params<S>, a: Noise<F>, plain: PlainSize) -> Noise<F>;

    /// Returns the sizes after a product of two ciphertexts of two components, before relinearisation. `same`: both are
    /// one ciphertext.
    fn multiply<F: Figure>(
        params: &Params<S>,
        level: usize,
        a: Noise<F>,
        b: Noise<F>,
        same: bool,
    ) -> Noise<F>;

    /// Returns the size of the message of a phase that is multiplied by a number. Modulo t it may be any message,
    /// before and after.
    fn scale_message<F: Figure>(message: F, _by: Log2) -> F {
        message
    }

    /// Returns the sizes after dropping one prime at `level` from a ciphertext of `components` components.
    fn drop_prime<F: Figure>(params: &Params<S>, level: usize, components: usize, a: Noise<F>) -> Noise<F> {
        Self::drop_primes(params, Log2::of(params.data_prime(level) as f64), components, a)
    }

    /// Returns the sizes after one division by the product of the dropped primes.
    fn drop_primes<F: Figure>(params: &Params<S>, product: Log2, components: usize, a: Noise<F>) -> Noise<F> {
        let rounding = F::norms(params.norms()).division(components, S::error_factor(params));
        let message = Self::scale_message(a.message, Log2(-product.0));
        Noise { message, error: a.error.over(product) + rounding }
    }

    /// Returns the sizes after a product with an integer.
    fn multiply_scalar<F: Figure>(_params: &Params<S>, a: Noise<F>, scalar: Log2) -> Noise<F> {
        Noise { message: Self::scale_message(a.message, scalar), error: a.error.scaled(scalar) }
    }

    /// Returns the sizes after key switching.
    fn key_switch<F: Figure>(params: &Params<S>, level: usize, a: Noise<F>) -> Noise<F> {
        let added = F::norms(params.norms()).key_switch(params, level);
        Noise { message: a.message, error: a.error + added }
    }

    /// Returns a bound on the error that [`Ciphertext::reduce`](crate::Ciphertext::reduce) adds to a coefficient.
    fn reduction(params: &Params<S>, level: usize, reduction: Reduction) -> Log2 {
        coefficient_bound(params, level, reduction)
    }

    /// Returns the error that reducing adds on average. For display.
    fn expected_reduction(params: &Params<S>, level: usize, reduction: Reduction) -> Typical {
        coefficient_estimate(params, level, reduction)
    }

    /// Returns the bits between the bound and the decryption limit. Decryption is right if this is not negative.
    fn room(params: &Params<S>, level: usize, a: Noise) -> f64;

    /// Returns the sizes of a phase whose slots are within ±`within`, and off by at most `error`; None where slots are
    /// exact.
    fn of_slots(
        _params: &Params<S>,
        _level: usize,
        _scaling: S::Scaling,
        _within: f64,
        _error: f64,
    ) -> Option<Noise> {
        None
    }

    /// Returns a bound on the error of a decoded slot; 0 for BFV and BGV, where decoding is exact.
    fn slot_error(_params: &Params<S>, _level: usize, _scaling: S::Scaling, _a: Noise) -> f64 {
        0.0
    }
}

/// Returns log2(Q_l/2), less a margin for the fixed-point base conversion, which may wrap early.
pub(crate) fn half_modulus<S: Scheme>(params: &Params<S>, level: usize) -> f64 {
    params.data_bits(level) - 1.0 - 1.0 / 4096.0
}
