//! The differences between the schemes.

use alloc::sync::Arc;
use alloc::vec::Vec;
use core::fmt::Debug;

use sotto_ring::{Eval, Factor, Poly, Ring, Rounding, Scratch, Wiped};

use crate::error::{EncodeError, EvalError, ParameterError};
use crate::noise::{Noise, NoiseRules};
use crate::parameters::{ParameterSpec, Params, SchemeId};
use crate::plaintext::Plaintext;
use crate::shape::Shape;
use crate::slot_value::SlotValue;

/// A scheme: how messages are encoded and put into a phase, how two ciphertexts are multiplied, how scale or plaintext
/// factor change. All other code is written once for every scheme.
///
/// ```
/// use sotto_rlwe::{Bgv, Ckks, EncodeError, Params, Scheme};
///
/// fn round_trip<S: Scheme>(params: &Params<S>, values: &[S::Value]) -> Result<Vec<S::Value>, EncodeError> {
///     let plaintext = S::encode_slots(params, values, params.top_level())?;
///     S::decode_slots(params, &plaintext)
/// }
/// assert_eq!(round_trip(&Params::<Bgv>::default_chain(4096, 65_537)?, &[-5, 215])?[..2], [-5, 215]);
/// let reals = round_trip(&Params::<Ckks>::default_chain(4096, 0)?, &[-0.5, 21.5])?;
/// assert!((reals[1] - 21.5).abs() < 1e-6);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Scheme: Copy + Debug + Send + Sync + 'static {
    /// Its number on the wire.
    const ID: SchemeId;
    /// A slot's value: `i64` (exact) or `f64`.
    type Value: SlotValue;
    /// The multiplier of a ciphertext's message: nothing (BFV), a factor modulo t (BGV), a power of the scale (CKKS).
    type Scaling: Copy + Debug + PartialEq + Send + Sync;
    /// Precomputed tables.
    type Tables: Send + Sync;
    /// The rules that bound its noise.
    type Noise: NoiseRules<Self>;
    /// True if values are integers modulo t, false for real numbers.
    const EXACT: bool = <Self::Value as SlotValue>::EXACT;

    /// Checks the plain modulus or scale.
    ///
    /// # Errors
    /// [`ParameterError`] if it is invalid.
    fn check(spec: &ParameterSpec) -> Result<(), ParameterError>;
    /// Returns the primes that only the evaluator uses.
    fn auxiliary_primes(_spec: &ParameterSpec, _used: &[u64]) -> Vec<u64> {
        Vec::new()
    }
    /// Precomputes the tables.
    ///
    /// # Errors
    /// [`ParameterError`] if the parameters are invalid.
    fn tables(spec: &ParameterSpec, ring: &Arc<Ring>) -> Result<Self::Tables, ParameterError>;
    /// Returns the rounding of a division by dropped primes.
    ///
    /// # Errors
    /// [`ParameterError`] if the plain modulus is invalid.
    fn rounding(spec: &ParameterSpec) -> Result<Rounding, ParameterError>;
    /// Returns the multiplier of errors: 1 or t.
    fn error_factor(params: &Params<Self>) -> u64;

    /// Returns the rows and columns of a plaintext's slots, or None if a plaintext holds only one value.
    fn slot_shape(_params: &Params<Self>) -> Option<(usize, usize)> {
        None
    }
    /// Encodes slots for a level; missing ones are zero.
    ///
    /// # Errors
    /// [`EncodeError`] if there are no slots or too many values, a value is out of range, or the level does not exist.
    fn encode_slots(
        params: &Params<Self>,
        _values: &[Self::Value],
        _level: usize,
    ) -> Result<Plaintext<Self>, EncodeError> {
        Err(no_slots(params))
    }
    /// Encodes up to n values as coefficients, for any plain modulus; missing ones are zero. Sums add them place by
    /// place; products convolve them negacyclically: place n + i is added to place i with the opposite sign.
    ///
    /// # Errors
    /// [`EncodeError`] if there are too many values, a value is out of range, or the level does not exist.
    fn encode_coefficients(
        params: &Params<Self>,
        values: &[Self::Value],
        level: usize,
    ) -> Result<Plaintext<Self>, EncodeError>;
    /// Encodes one value in every slot, which equals the constant coefficient.
    ///
    /// # Errors
    /// As [`Scheme::encode_coefficients`].
    fn encode_scalar(
        params: &Params<Self>,
        value: Self::Value,
        level: usize,
    ) -> Result<Plaintext<Self>, EncodeError> {
        Self::encode_coefficients(params, &[value], level)
    }
    /// Returns the slots of a plaintext.
    ///
    /// # Errors
    /// [`EncodeError::NoSlots`] if the parameters have none.
    fn decode_slots(
        params: &Params<Self>,
        _plaintext: &Plaintext<Self>,
    ) -> Result<Vec<Self::Value>, EncodeError> {
        Err(no_slots(params))
    }
    /// Returns the n coefficients of a plaintext.
    fn decode_coefficients(params: &Params<Self>, plaintext: &Plaintext<Self>) -> Vec<Self::Value>;
    /// Returns the value of a plaintext that holds only one.
    fn decode_scalar(params: &Params<Self>, plaintext: &Plaintext<Self>) -> Self::Value {
        Self::decode_coefficients(params, plaintext)[0]
    }

    /// True if a plaintext means the same at every level and scaling; false if only at those that it was encoded for.
    const ANY_LEVEL: bool = true;
    /// Returns the scaling of a fresh ciphertext.
    fn fresh_scaling() -> Self::Scaling;
    /// Returns the scaling of a product of ciphertexts.
    fn multiply_scaling(params: &Params<Self>, a: Self::Scaling, b: Self::Scaling) -> Self::Scaling;
    /// Returns the scaling of a product with a prepared plaintext.
    fn multiply_plain_scaling(a: Self::Scaling) -> Self::Scaling;
    /// Returns the scaling after dropping the last prime of `level`.
    ///
    /// # Errors
    /// [`EvalError::ScalePower`] in CKKS, unless the ciphertext is a product.
    fn drop_scaling(
        params: &Params<Self>,
        level: usize,
        a: Self::Scaling,
    ) -> Result<Self::Scaling, EvalError>;
    /// Returns true if a scaling is possible; for untrusted bytes.
    fn scaling_is_valid(params: &Params<Self>, a: Self::Scaling) -> bool;
    /// Converts a scaling to its number on the wire.
    fn scaling_number(a: Self::Scaling) -> u64;
    /// Converts a number on the wire to a scaling.
    fn scaling_from_number(number: u64) -> Self::Scaling;

    /// Returns the integers that put the message into a phase, times [`Scheme::message_divisor`], and a bound on their
    /// magnitude that does not depend on the message (u64::MAX: none). Trailing zeros may be missing. Secret.
    fn message(
        params: &Params<Self>,
        plaintext: &Plaintext<Self>,
        level: usize,
        scaling: Self::Scaling,
    ) -> (Wiped<i64>, u64);
    /// Returns the number by which the integers of [`Scheme::message`] are divided, modulo each prime.
    fn message_divisor(_params: &Params<Self>) -> u64 {
        1
    }
    /// Returns the inverse of [`Scheme::message_divisor`] modulo the prime of a limb.
    fn divisor_inverse(params: &Params<Self>, limb: usize) -> Factor {
        params.modulus(limb).factor(1)
    }
    /// Returns the lowest level whose limbs alone determine the message of a phase. The message is computed from a
    /// small integer (the phase of BGV and CKKS, t times the noise of BFV), which fewer primes determine as well, as
    /// long as they leave room for it.
    fn recovered_level(params: &Params<Self>, level: usize, noise: Noise) -> usize {
        (0..level).find(|lower| Self::Noise::room(params, *lower, noise) >= 0.0).unwrap_or(level)
    }
    /// Returns the message of a phase at a level, from the limbs of that level or of [`Scheme::recovered_level`].
    fn recover(
        params: &Params<Self>,
        phase: &Poly<Eval>,
        level: usize,
        scaling: Self::Scaling,
    ) -> Plaintext<Self>;
    /// Returns the way to lower a ciphertext's level without changing its message.
    ///
    /// # Errors
    /// [`EvalError`] if the scaling does not allow it.
    fn lowering(
        _params: &Params<Self>,
        _shape: &Shape<Self>,
        _level: usize,
    ) -> Result<Lowering<Self>, EvalError> {
        Ok(Lowering::Primes)
    }
    /// Returns the tensor product of two ciphertexts of two components, limb by limb unless a scheme overrides it.
    /// Cheaper if both are the same slice.
    fn tensor(
        _params: &Params<Self>,
        _level: usize,
        a: &[Poly<Eval>],
        b: &[Poly<Eval>],
        scratch: &mut Scratch,
    ) -> [Poly<Eval>; 3] {
        pointwise_tensor(a, b, scratch)
    }
}

fn no_slots<S: Scheme>(params: &Params<S>) -> EncodeError {
    EncodeError::NoSlots { plain_modulus: params.plain_modulus(), degree: params.degree() }
}

/// The way in which a scheme lowers a ciphertext's level without changing its message.
///
/// ```
/// use sotto_rlwe::{Bfv, Ckks, Lowering, Origin, Params, Scheme, Shape};
///
/// let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// let shape = Shape::fresh(&params, Origin::PublicKey, 1.0)?;
/// assert!(matches!(Bfv::lowering(&params, &shape, 0)?, Lowering::Primes));
/// let params = Params::<Ckks>::default_chain(4096, 0)?;
/// let shape = Shape::fresh(&params, Origin::PublicKey, 1.0)?;
/// assert!(matches!(Ckks::lowering(&params, &shape, 0)?, Lowering::Rescale(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[allow(missing_debug_implementations)]
pub enum Lowering<S: Scheme> {
    /// Prime by prime: modulus switching.
    Primes,
    /// In one step: the limbs beyond level + 1 are omitted, the rest is multiplied by this constant, and one prime is
    /// dropped.
    Rescale(Plaintext<S>),
}

/// Returns c0·d0, c0·d1 + c1·d0, c1·d1 on the limbs of c0.
fn pointwise_tensor(a: &[Poly<Eval>], b: &[Poly<Eval>], scratch: &mut Scratch) -> [Poly<Eval>; 3] {
    let ring = a[0].ring();
    let [mut low, mut middle, mut high] = [(); 3].map(|()| scratch.poly(ring, a[0].limbs()));
    for i in a[0].limbs() {
        let out = [low.limb_mut(i), middle.limb_mut(i), high.limb_mut(i)];
        let [x, y] = [a, b].map(|operand| [operand[0].limb(i), operand[1].limb(i)]);
        if core::ptr::eq(a, b) {
            (ring.kernels().square)(ring.modulus(i), out, x);
        } else {
            (ring.kernels().tensor)(ring.modulus(i), out, x, y);
        }
    }
    [low, middle, high]
}
