//! Compact encryption of whole numbers: only the places of a window travel, rounded.

use std::cell::Cell;
use std::time::Instant;

use sotto_compact::{MaskKey, Profile, fleet_mask_key, mask_key};
use sotto_keys::{CompactEncryptor, DeviceKeys};
use sotto_pack::{Layout, Places, Slots, StreamProfile};
use sotto_rlwe::{Bfv, KeyId, ParameterId, ParameterSpec, Params, SchemeId};
use sotto_wire::{CompactCiphertext, CompactForm, MaskName};
use zeroize::Zeroizing;

use super::masks::OwnMasks;
use super::{EncryptError, Encrypted, Encryptor, Mask, Unencrypted, key};

/// Encrypts the windows of a stream with a compact form.
pub(super) struct Compact {
    places: Places,
    layout: Layout,
    /// The compact form of a full window.
    profile: Profile,
    masks: MaskKey,
    own: OwnMasks,
    encryptor: CompactEncryptor,
    /// The masks of the stream's fleet, and the start (ms since 1970) of the last window under one of them.
    fleet: Option<MaskKey>,
    last_start: Cell<Option<i64>>,
}

impl Compact {
    pub(super) fn new(
        stream: &StreamProfile,
        places: &Places,
        spec: ParameterSpec,
        keys: &DeviceKeys,
    ) -> Result<Self, EncryptError> {
        let secret = key::secret(keys)?;
        if spec.scheme != SchemeId::Bfv {
            return Err(EncryptError::Encoding { scheme: spec.scheme });
        }
        let layout = Places::layout(stream.channels.clone(), stream.ticks)?;
        let profile =
            Profile::new(&Params::<Bfv>::new(spec)?, places.count(&layout, layout.ticks()), places.width)?;
        let encryptor = CompactEncryptor::derive(secret, profile.params());
        let masks = mask_key(encryptor.key(), &stream.stream);
        let fleet = stream.fleet.map(|fleet| fleet_mask_key(profile.params().id(), &fleet.0));
        let (own, last_start) = (OwnMasks::new()?, Cell::new(None));
        Ok(Self { places: places.clone(), layout, profile, masks, own, encryptor, fleet, last_start })
    }
}

impl Compact {
    /// Returns the key and the name of a window's mask. No mask is given twice.
    fn mask(&self, mask: Mask) -> Result<(&MaskKey, MaskName), EncryptError> {
        match mask {
            Mask::Own { sequence } => Ok((&self.masks, self.own.name(sequence)?)),
            Mask::OfFleet { start } => {
                let (Some(masks), Some(name)) = (&self.fleet, MaskName::shared(start)) else {
                    return Err(EncryptError::NoFleet);
                };
                if self.last_start.get().is_some_and(|last| start <= last) {
                    return Err(EncryptError::RepeatedStart { start });
                }
                self.last_start.set(Some(start));
                Ok((masks, name))
            }
        }
    }
}

impl Encryptor for Compact {
    fn parameters(&self) -> ParameterId {
        self.profile.params().id()
    }

    fn key(&self) -> KeyId {
        self.encryptor.key()
    }

    fn slot_shape(&self) -> (u32, u32) {
        (self.layout.rows(), self.layout.columns())
    }

    fn frame_bytes(&self) -> usize {
        CompactCiphertext::frame_bytes(self.profile.form().places(), self.profile.form().width())
    }

    fn check(&self, layout: &Layout) -> Result<(), EncryptError> {
        let (largest, limit) = (self.places.magnitude(layout) as u64, (self.profile.form().plain() - 1) / 2);
        if largest > limit { Err(EncryptError::TooLarge { largest, limit }) } else { Ok(()) }
    }

    fn encrypt(&self, window: Unencrypted) -> Result<Encrypted, EncryptError> {
        let (masks, name) = self.mask(window.mask)?;
        let Slots::Integers(slots) = window.slots else {
            return Err(EncryptError::Encoding { scheme: SchemeId::Bfv });
        };
        let begin = Instant::now();
        let (slots, sent) = (Zeroizing::new(slots), &window.sent);
        let values = Zeroizing::new(self.places.values(&self.layout, sent.ticks, &slots, &sent.presence));
        let encode = begin.elapsed();
        let begin = Instant::now();
        let mut rng = sotto_ring::secure_rng()?;
        let profile = Profile::new(self.profile.params(), values.len(), self.places.width)?;
        let mask = masks.mask(&name.salt, name.sequence);
        let body = self.encryptor.encrypt(&profile, &values, &mask, &mut rng)?;
        let form = CompactForm {
            parameters: self.profile.params().id(),
            key: self.encryptor.key(),
            places: profile.form().places() as u16,
            width: profile.form().width() as u8,
        };
        let ciphertext = CompactCiphertext { form, mask: name, body };
        Ok(Encrypted { encode, encrypt: begin.elapsed(), frame: ciphertext.write()? })
    }
}
