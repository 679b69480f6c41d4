//! Compact windows of slots: the few slots repeat over the ciphertext, and one coefficient per slot travels. They hold
//! reals in CKKS, and the digits of whole steps in BFV and BGV.

use std::time::Instant;

use sotto_keys::SecretKey;
use sotto_pack::{Encoding, Layout, Slots, StepDigits, StreamProfile};
use sotto_rlwe::{Bfv, Bgv, Ckks, Kept, KeyId, ParameterId, ParameterSpec, Params, SchemeId};
use sotto_wire::{SlotsWindow, mask_seed};
use zeroize::Zeroizing;

use super::masks::OwnMasks;
use super::{DeviceKey, EncryptError, Encrypted, Encryptor, Readable, SentTicks};

/// Encrypts the windows of a stream of slots.
struct Repeated<S: Readable> {
    params: Params<S>,
    kept: Kept,
    key: SecretKey<S>,
    /// The stream's name, which its masks are named after.
    stream: String,
    masks: OwnMasks,
    /// For whole steps: the layout, and the digits of a step.
    steps: Option<(Layout, StepDigits)>,
}

/// Returns the encryptor of a stream of `slots` slots.
pub(super) fn encryptor(
    stream: &StreamProfile,
    slots: u32,
    spec: ParameterSpec,
    key: &DeviceKey,
) -> Result<Box<dyn Encryptor>, EncryptError> {
    Ok(match (spec.scheme, stream.encoding) {
        (SchemeId::Ckks, Encoding::Real) => Box::new(Repeated::<Ckks>::new(stream, slots, spec, key)?),
        (SchemeId::Bfv, Encoding::Resolution) => Box::new(Repeated::<Bfv>::new(stream, slots, spec, key)?),
        (SchemeId::Bgv, Encoding::Resolution) => Box::new(Repeated::<Bgv>::new(stream, slots, spec, key)?),
        _ => return Err(EncryptError::Slots { slots }),
    })
}

impl<S: Readable> Repeated<S> {
    fn new(
        stream: &StreamProfile,
        slots: u32,
        spec: ParameterSpec,
        key: &DeviceKey,
    ) -> Result<Self, EncryptError> {
        let DeviceKey::Secret(secret) = key else { return Err(EncryptError::NoCompactForm) };
        let params = Params::<S>::new(spec)?;
        if !slots.is_power_of_two() || !(2..=params.degree() / 2).contains(&(slots as usize)) {
            return Err(EncryptError::Slots { slots });
        }
        let steps = match stream.encoding {
            Encoding::Resolution => {
                let layout = Layout::of_steps(&stream.channels, stream.ticks, slots)?;
                let digits = StepDigits::of(&layout).ok_or(EncryptError::Slots { slots })?;
                Some((layout, digits))
            }
            _ => None,
        };
        let (kept, key) = (Kept::Folded(slots as usize), SecretKey::derive(secret, &params));
        Ok(Self { params, kept, key, stream: stream.stream.clone(), masks: OwnMasks::new()?, steps })
    }

    /// Returns the values of a window's slots.
    fn values(&self, slots: Slots) -> Result<Zeroizing<Vec<S::Value>>, EncryptError> {
        let slots = match (&self.steps, slots) {
            (Some((layout, digits)), Slots::Integers(numbers)) => {
                Slots::Integers(digits.expand(layout, &Zeroizing::new(numbers))?)
            }
            (_, slots) => slots,
        };
        S::values(slots).ok_or(EncryptError::Encoding { scheme: S::ID })
    }

    /// Returns a bound on the absolute value of a slot.
    fn magnitude(&self) -> f64 {
        self.steps.as_ref().map_or(1.0, |(_, digits)| digits.largest() as f64)
    }
}

impl<S: Readable> Encryptor for Repeated<S> {
    fn parameters(&self) -> ParameterId {
        self.params.id()
    }

    fn key(&self) -> KeyId {
        self.key.id()
    }

    fn slot_shape(&self) -> (u32, u32) {
        (1, self.steps.as_ref().map_or(self.kept.values() as u32, |(layout, _)| layout.columns()))
    }

    fn largest(&self) -> Option<u64> {
        // Digits are small; the layout's numbers are not what a slot holds.
        self.steps.as_ref().map(|_| u64::MAX)
    }

    fn frame_bytes(&self) -> usize {
        SlotsWindow::frame_bytes(&self.params, self.kept)
    }

    fn encrypt(&self, slots: Slots, sequence: u64, _sent: &SentTicks) -> Result<Encrypted, EncryptError> {
        let begin = Instant::now();
        let values = self.values(slots)?;
        let plaintext = self.params.encode_folded(&values, self.magnitude(), self.params.top_level())?;
        let encode = begin.elapsed();
        let begin = Instant::now();
        let mut rng = sotto_ring::secure_rng()?;
        let mask = self.masks.name(sequence)?;
        let seed = mask_seed(self.key.id(), &self.stream, &mask);
        let encrypted = self.key.encrypt_under(&plaintext, seed, &mut rng)?;
        let frame = SlotsWindow::of(&encrypted.compact(self.kept)?, mask).write();
        Ok(Encrypted { encode, encrypt: begin.elapsed(), frame })
    }

    fn check(&self, layout: &Layout) -> Result<(), EncryptError> {
        // Only encoding checks the range. Do not encrypt here: that would use a mask.
        let slots = match self.steps {
            None => Slots::Reals(vec![layout.magnitude(); layout.slots()]),
            Some(_) => Slots::Integers(vec![0; layout.slots()]),
        };
        self.params.encode_folded(&self.values(slots)?, self.magnitude(), self.params.top_level())?;
        Ok(())
    }
}
