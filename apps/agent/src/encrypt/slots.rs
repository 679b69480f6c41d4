//! Compact windows of reals: the few slots repeat over the CKKS ciphertext, and one coefficient per slot travels.

use std::time::Instant;

use sotto_keys::SecretKey;
use sotto_pack::{Layout, Slots, StreamProfile};
use sotto_rlwe::{Ckks, Kept, KeyId, ParameterId, ParameterSpec, Params, SchemeId};
use sotto_wire::{SlotsWindow, compact_bytes, mask_seed, write_compact};
use zeroize::Zeroizing;

use super::masks::OwnMasks;
use super::{DeviceKey, EncryptError, Encrypted, Encryptor, Sent};

/// Encrypts the windows of a stream of reals.
pub(super) struct Reals {
    params: Params<Ckks>,
    kept: Kept,
    key: SecretKey<Ckks>,
    /// The stream's name and its masks. `None` for envelopes of version 1, whose windows carry a random seed.
    masks: Option<(String, OwnMasks)>,
}

impl Reals {
    pub(super) fn new(
        stream: &StreamProfile,
        slots: u32,
        spec: ParameterSpec,
        key: &DeviceKey,
    ) -> Result<Self, EncryptError> {
        let DeviceKey::Secret(secret) = key else { return Err(EncryptError::NoCompactForm) };
        if spec.scheme != SchemeId::Ckks {
            return Err(EncryptError::Slots { slots });
        }
        let params = Params::<Ckks>::new(spec)?;
        if !slots.is_power_of_two() || !(2..=params.degree() / 2).contains(&(slots as usize)) {
            return Err(EncryptError::Slots { slots });
        }
        let masks = match stream.envelope {
            1 => None,
            _ => Some((stream.stream.clone(), OwnMasks::new()?)),
        };
        let key = SecretKey::derive(secret, &params);
        Ok(Self { params, kept: Kept::Folded(slots as usize), key, masks })
    }
}

impl Encryptor for Reals {
    fn parameters(&self) -> ParameterId {
        self.params.id()
    }

    fn key(&self) -> KeyId {
        self.key.id()
    }

    fn slot_shape(&self) -> (u32, u32) {
        (1, self.kept.values() as u32)
    }

    fn largest(&self) -> Option<u64> {
        None
    }

    fn frame_bytes(&self) -> usize {
        match self.masks {
            Some(_) => SlotsWindow::frame_bytes(&self.params, self.kept),
            None => compact_bytes(&self.params, self.kept.places()),
        }
    }

    fn encrypt(&self, slots: Slots, sequence: u64, _sent: &Sent) -> Result<Encrypted, EncryptError> {
        let Slots::Reals(values) = slots else {
            return Err(EncryptError::Encoding { scheme: SchemeId::Ckks });
        };
        let values = Zeroizing::new(values);
        let begin = Instant::now();
        let plaintext = self.params.encode_folded(&values, 1.0, self.params.top_level())?;
        let encode = begin.elapsed();
        let begin = Instant::now();
        let mut rng = sotto_ring::secure_rng()?;
        let frame = match &self.masks {
            Some((stream, masks)) => {
                let mask = masks.name(sequence)?;
                let seed = mask_seed(self.key.id(), stream, &mask);
                let encrypted = self.key.encrypt_under(&plaintext, seed, &mut rng)?;
                SlotsWindow::of(&encrypted.compact(self.kept)?, mask).write()
            }
            None => write_compact(&self.key.encrypt(&plaintext, &mut rng)?.compact(self.kept)?),
        };
        Ok(Encrypted { encode, encrypt: begin.elapsed(), frame })
    }

    fn check(&self, layout: &Layout) -> Result<(), EncryptError> {
        // Only encoding checks the range. Do not encrypt here: that would use a mask.
        let extreme = vec![layout.magnitude(); layout.slots()];
        self.params.encode_folded(&extreme, 1.0, self.params.top_level())?;
        Ok(())
    }
}
