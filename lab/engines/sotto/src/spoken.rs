//! The schemes' values in the line protocol.

use chacha20::ChaCha20Rng;
use rand_core::Rng as _;
use sotto_decrypt::{DecryptError, Decrypted, Decryptor};
use sotto_harness::protocol::{Prepare, Values};
use sotto_rlwe::{Ciphertext, Plaintext, SchemeId, SlotValue};
use sotto_runtime::Managed;

use crate::error::EngineError;

/// A scheme in the line protocol.
pub trait Spoken: Managed<Value: Said> {}

impl<S: Managed<Value: Said>> Spoken for S {}

/// A slot's value in the line protocol.
pub trait Said: SlotValue {
    /// Parses slot values. None if integers are needed and a value is not one.
    fn read(values: &Values) -> Option<Vec<Self>>;
    /// Draws random slots: integers in 0 … t − 1, reals in −1 … 1.
    fn random(count: usize, t: u64, rng: &mut ChaCha20Rng) -> Vec<Self>;
    /// Converts slots to the protocol's values: integers in 0 … t − 1.
    fn written(values: &[Self], t: u64) -> Values;
    /// Returns decrypted slots.
    fn revealed(decrypted: Decrypted<Vec<Self>>) -> Vec<Self>;
}

impl Said for i64 {
    fn read(values: &Values) -> Option<Vec<Self>> {
        values.integers().map(<[Self]>::to_vec)
    }

    fn random(count: usize, t: u64, rng: &mut ChaCha20Rng) -> Vec<Self> {
        (0..count).map(|_| (rng.next_u64() % t) as Self).collect()
    }

    fn written(values: &[Self], t: u64) -> Values {
        Values::Integers(values.iter().map(|value| value.rem_euclid(t as Self)).collect())
    }

    fn revealed(decrypted: Decrypted<Vec<Self>>) -> Vec<Self> {
        decrypted.into_residues()
    }
}

impl Said for f64 {
    fn read(values: &Values) -> Option<Vec<Self>> {
        Some(values.reals())
    }

    fn random(count: usize, _: u64, rng: &mut ChaCha20Rng) -> Vec<Self> {
        (0..count).map(|_| rng.next_u64() as Self / u64::MAX as Self * 2.0 - 1.0).collect()
    }

    fn written(values: &[Self], _: u64) -> Values {
        Values::Reals(values.to_vec())
    }

    fn revealed(decrypted: Decrypted<Vec<Self>>) -> Vec<Self> {
        decrypted.raw_values_for_owner_only().to_vec()
    }
}

/// Returns the number that defines the plaintext space in parameters: t, or log2 of the scale.
pub(crate) fn plain<S: Spoken>(request: &Prepare) -> Option<u64> {
    if S::EXACT { request.plain_modulus } else { request.scale_bits.map(u64::from) }
}

/// Declares the largest value, which the noise bounds of reals need.
pub(crate) fn declare<S: Spoken>(plaintext: Plaintext<S>, magnitude: f64) -> Plaintext<S> {
    if S::EXACT { plaintext } else { plaintext.declare_magnitude(magnitude) }
}

/// Decrypts a ciphertext to the protocol's values: integers in 0 … t − 1.
pub(crate) fn decrypt<S: Spoken>(
    decryptor: &Decryptor<'_, S>,
    ciphertext: &Ciphertext<S>,
    t: u64,
) -> Result<Values, DecryptError> {
    Ok(S::Value::written(&S::Value::revealed(decryptor.slots(ciphertext)?), t))
}

/// Parses slot values; an error if the scheme cannot hold them.
pub(crate) fn read<S: Spoken>(values: &Values) -> Result<Vec<S::Value>, EngineError> {
    S::Value::read(values).ok_or_else(|| EngineError::Request(format!("{} takes whole numbers", S::ID)))
}

/// Returns the scheme of a name; None for the engine's other methods.
pub(crate) fn scheme_of(name: &str) -> Option<SchemeId> {
    SchemeId::ALL.into_iter().find(|scheme| scheme.name() == name)
}
