//! Whole ciphertexts: under the device's secret key with a seed in place of the mask, or under a public key.

use std::time::Instant;

use sotto_keys::{DeviceKeys, SecretKey};
use sotto_pack::{Layout, Slots, StreamProfile};
use sotto_rlwe::{KeyId, ParameterId, ParameterSpec, Params, Plaintext, PublicKey, Scheme, with_scheme};
use sotto_wire::{AnyCiphertext, expanded_bytes, seeded_bytes};

use super::readings::{Reading, values};
use super::{EncryptError, Encrypted, Encryptor, Unencrypted, key};

/// Encrypts the windows of a stream without a compact form.
struct Whole<S: Scheme> {
    params: Params<S>,
    rows: u32,
    columns: u32,
    key: Key<S>,
}

enum Key<S: Scheme> {
    Secret(SecretKey<S>),
    Public(PublicKey<S>),
}

/// Returns the encryptor of a stream without a compact form.
pub(super) fn encryptor(
    stream: &StreamProfile,
    spec: ParameterSpec,
    keys: &DeviceKeys,
) -> Result<Box<dyn Encryptor>, EncryptError> {
    with_scheme!(spec.scheme, S => Ok(Box::new(Whole::<S>::new(stream, spec, keys)?)))
}

/// Returns the frame of a plaintext's encryption under a public key.
pub(super) fn under_public_key<S: Scheme>(
    key: &PublicKey<S>,
    plaintext: &Plaintext<S>,
) -> Result<Vec<u8>, EncryptError> {
    let mut rng = sotto_ring::secure_rng()?;
    Ok(AnyCiphertext::Expanded(key.encrypt(plaintext, &mut rng)?).write())
}

/// Returns the length in bytes of a frame under a public key.
pub(super) fn public_bytes<S: Scheme>(params: &Params<S>) -> usize {
    expanded_bytes(params, params.top_level(), 2)
}

impl<S: Scheme<Value: Reading>> Whole<S> {
    fn new(stream: &StreamProfile, spec: ParameterSpec, keys: &DeviceKeys) -> Result<Self, EncryptError> {
        let params = Params::<S>::new(spec)?;
        let (rows, columns) = S::slot_shape(&params).ok_or(EncryptError::NoSlots)?;
        let key = if stream.public {
            Key::Public(key::public(keys, &params)?)
        } else {
            Key::Secret(SecretKey::derive(key::secret(keys)?, &params))
        };
        Ok(Self { params, rows: rows as u32, columns: columns as u32, key })
    }

    /// Returns the largest whole number that a slot holds, (t − 1) / 2; `None` if slots hold reals.
    fn largest(&self) -> Option<u64> {
        S::EXACT.then(|| self.params.spec().plain.saturating_sub(1) / 2)
    }

    fn encrypted(&self, slots: Slots) -> Result<Encrypted, EncryptError> {
        let begin = Instant::now();
        let values = values::<S>(slots)?;
        let plaintext = S::encode_slots(&self.params, &values, self.params.top_level())?;
        let encode = begin.elapsed();
        let begin = Instant::now();
        let frame = match &self.key {
            Key::Secret(key) => {
                let mut rng = sotto_ring::secure_rng()?;
                AnyCiphertext::Seeded(key.encrypt(&plaintext, &mut rng)?).write()
            }
            Key::Public(key) => under_public_key(key, &plaintext)?,
        };
        Ok(Encrypted { encode, encrypt: begin.elapsed(), frame })
    }
}

impl<S: Scheme<Value: Reading>> Encryptor for Whole<S> {
    fn parameters(&self) -> ParameterId {
        self.params.id()
    }

    fn key(&self) -> KeyId {
        match &self.key {
            Key::Secret(key) => key.id(),
            Key::Public(key) => key.key(),
        }
    }

    fn slot_shape(&self) -> (u32, u32) {
        (self.rows, self.columns)
    }

    fn frame_bytes(&self) -> usize {
        match &self.key {
            Key::Secret(_) => seeded_bytes(&self.params),
            Key::Public(_) => public_bytes(&self.params),
        }
    }

    fn check(&self, layout: &Layout) -> Result<(), EncryptError> {
        let (largest, slots) = (layout.magnitude(), layout.slots());
        let Some(_) = layout.quantiser(0) else {
            return self.encrypted(Slots::Reals(vec![largest; slots])).map(drop);
        };
        // The encoder accepts −(t − 1) … t − 1. Beyond (t − 1) / 2, two readings would become the same residue.
        if let Some(limit) = self.largest().filter(|limit| largest as u64 > *limit) {
            return Err(EncryptError::TooLarge { largest: largest as u64, limit });
        }
        self.encrypted(Slots::Integers(vec![largest as i64; slots])).map(drop)
    }

    fn encrypt(&self, window: Unencrypted) -> Result<Encrypted, EncryptError> {
        self.encrypted(window.slots)
    }
}
