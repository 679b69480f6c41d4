//! What differs between the schemes.

use core::fmt::Debug;
use std::sync::Arc;

use sotto_ring::{Coeff, Eval, Factor, Poly, Ring, Rounding, Scratch, Wiped};

use crate::error::{EncodeError, EvalError, ParameterError};
use crate::evaluator::Lowering;
use crate::injection::Injection;
use crate::noise::{Noise, NoiseRules};
use crate::parameters::{ParameterSpec, Params, SchemeId};
use crate::plaintext::Plaintext;
use crate::shape::Shape;

/// A scheme: how messages are encoded and put into a phase, how two ciphertexts are multiplied, how scale or plaintext factor
/// move. Everything else is written once for every scheme.
pub trait Scheme: Copy + Debug + Send + Sync + 'static {
    /// Its name on the wire.
    const ID: SchemeId;
    /// A slot's value: `i64` (exact) or `f64`.
    type Value: Copy + Debug + Default + PartialEq + zeroize::Zeroize + Send + Sync;
    /// What a ciphertext's message is multiplied by: nothing (BFV), a factor modulo t (BGV), a power of the scale (CKKS).
    type Scaling: Copy + Debug + PartialEq + Send + Sync;
    /// Precomputed tables.
    type Tables: Send + Sync;
    /// Its noise rules.
    type Noise: NoiseRules<Self>;

    /// Checks the plain modulus or scale.
    fn check(spec: &ParameterSpec) -> Result<(), ParameterError>;
    /// Primes that only the evaluator uses.
    fn auxiliary_primes(_spec: &ParameterSpec, _used: &[u64]) -> Vec<u64> {
        Vec::new()
    }
    /// Precomputes.
    fn tables(spec: &ParameterSpec, ring: &Arc<Ring>) -> Result<Self::Tables, ParameterError>;
    /// How a division by dropped primes rounds.
    fn rounding(spec: &ParameterSpec) -> Result<Rounding, ParameterError>;
    /// What errors are multiplied by: 1 or t.
    fn error_factor(params: &Params<Self>) -> u64;

    /// Slots that a plaintext has: rows and columns. None where there is only one value a plaintext.
    fn slot_shape(params: &Params<Self>) -> Option<(usize, usize)>;
    /// Encodes slots for a level; missing ones are zero.
    fn encode_slots(
        params: &Params<Self>,
        values: &[Self::Value],
        level: usize,
    ) -> Result<Plaintext<Self>, EncodeError>;
    /// Encodes up to n values as coefficients, whatever the plain modulus; missing ones are zero. Sums add them place by
    /// place, a product is the negacyclic convolution: place n + i counts into place i with the opposite sign.
    fn encode_coefficients(
        params: &Params<Self>,
        values: &[Self::Value],
        level: usize,
    ) -> Result<Plaintext<Self>, EncodeError>;
    /// Encodes one value: in every slot, or as the constant coefficient, which is the same.
    fn encode_scalar(
        params: &Params<Self>,
        value: Self::Value,
        level: usize,
    ) -> Result<Plaintext<Self>, EncodeError> {
        Self::encode_coefficients(params, &[value], level)
    }
    /// The slots of a plaintext.
    fn decode_slots(
        params: &Params<Self>,
        plaintext: &Plaintext<Self>,
    ) -> Result<Vec<Self::Value>, EncodeError>;
    /// The n coefficients of a plaintext.
    fn decode_coefficients(params: &Params<Self>, plaintext: &Plaintext<Self>) -> Vec<Self::Value>;
    /// The value that slots index, index + count, … of a row repeat: the first of them where they are exact, else their mean.
    fn shared_value(row: &[Self::Value], index: usize, count: usize) -> Self::Value;
    /// The value whose sum with itself is this one: modulo t where values are exact. In constant time.
    fn half(params: &Params<Self>, value: Self::Value) -> Self::Value;
    /// The value of a plaintext that holds only one.
    fn decode_scalar(params: &Params<Self>, plaintext: &Plaintext<Self>) -> Self::Value;

    /// Whether a plaintext means the same at every level and scaling, or only where it was encoded for.
    const ANY_LEVEL: bool = true;
    /// Scaling of a fresh ciphertext.
    fn fresh_scaling() -> Self::Scaling;
    /// Scaling of a product of ciphertexts.
    fn multiply_scaling(params: &Params<Self>, a: Self::Scaling, b: Self::Scaling) -> Self::Scaling;
    /// Scaling of a product with a prepared plaintext.
    fn multiply_plain_scaling(a: Self::Scaling) -> Self::Scaling;
    /// Scaling after dropping the last prime of `level`.
    fn drop_scaling(
        params: &Params<Self>,
        level: usize,
        a: Self::Scaling,
    ) -> Result<Self::Scaling, EvalError>;
    /// Whether a scaling can occur (for bytes from outside).
    fn scaling_is_valid(params: &Params<Self>, a: Self::Scaling) -> bool;
    /// A scaling as a number on the wire.
    fn scaling_number(a: Self::Scaling) -> u64;
    /// And back.
    fn scaling_from_number(number: u64) -> Self::Scaling;

    /// What is added to a phase so that it holds the message, times [`Scheme::message_divisor`]: integers, trailing zeros may be
    /// left out, and the largest magnitude that they may have whatever the message is (u64::MAX: any). Secret.
    fn message(
        params: &Params<Self>,
        plaintext: &Plaintext<Self>,
        level: usize,
        scaling: Self::Scaling,
    ) -> (Wiped<i64>, u64);
    /// What the integers of [`Scheme::message`] are divided by, modulo each prime.
    fn message_divisor(_params: &Params<Self>) -> u64 {
        1
    }
    /// The inverse of [`Scheme::message_divisor`] modulo the prime of a limb.
    fn divisor_inverse(params: &Params<Self>, limb: usize) -> Factor {
        params.modulus(limb).factor(1)
    }
    /// What is added to a phase so that it holds the message.
    fn inject(
        params: &Params<Self>,
        plaintext: &Plaintext<Self>,
        level: usize,
        scaling: Self::Scaling,
    ) -> Poly<Coeff> {
        let injection = Injection::of_message(params, plaintext, level, scaling);
        let mut poly = Poly::unfilled(params.ring(), params.limbs(level));
        for limb in params.limbs(level) {
            injection.write_limb(params, limb, poly.limb_mut(limb));
        }
        poly
    }
    /// The lowest level whose limbs alone determine the message of a phase at a level. What the message is computed from (the phase
    /// of BGV and CKKS, t times the noise of BFV) is a small integer, which is the same one modulo fewer primes as long as they
    /// leave it room.
    fn recovered_level(params: &Params<Self>, level: usize, noise: Noise) -> usize {
        (0..level).find(|lower| Self::Noise::room(params, *lower, noise) >= 0.0).unwrap_or(level)
    }
    /// The message of a phase at a level, from the limbs of that level or of [`Scheme::recovered_level`].
    fn recover(
        params: &Params<Self>,
        phase: &Poly<Eval>,
        level: usize,
        scaling: Self::Scaling,
    ) -> Plaintext<Self>;
    /// How a ciphertext is brought to a lower level with its message unchanged.
    fn lowering(
        _params: &Params<Self>,
        _shape: &Shape<Self>,
        _level: usize,
    ) -> Result<Lowering<Self>, EvalError> {
        Ok(Lowering::Primes)
    }
    /// The tensor product of two ciphertexts of two components, limb by limb unless a scheme has its own; cheaper there where both
    /// are the same slice.
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

/// c0·d0, c0·d1 + c1·d0, c1·d1 on the limbs of c0.
fn pointwise_tensor(a: &[Poly<Eval>], b: &[Poly<Eval>], scratch: &mut Scratch) -> [Poly<Eval>; 3] {
    let ring = a[0].ring();
    let [mut low, mut middle, mut high] = [(); 3].map(|()| scratch.poly(ring, a[0].limbs()));
    for i in a[0].limbs() {
        let out = [low.limb_mut(i), middle.limb_mut(i), high.limb_mut(i)];
        let (a, b) = ([a[0].limb(i), a[1].limb(i)], [b[0].limb(i), b[1].limb(i)]);
        (ring.kernels().tensor)(ring.modulus(i), out, a, b);
    }
    [low, middle, high]
}
