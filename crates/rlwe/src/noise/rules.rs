//! The rules of noise of a scheme.

use super::key_switch::key_switch;
use super::reducing::{coefficient_bound, coefficient_estimate};
use super::{Figure, Log2, Noise, Origin, PlainSize, Typical};
use crate::parameters::Params;
use crate::reduction::Reduction;
use crate::scheme::Scheme;

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
    /// True if `error` is the size of the whole phase, message included; false if it is that of the error alone.
    const WHOLE_PHASE: bool = false;

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
        let added = key_switch::<F, S>(params, level);
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
