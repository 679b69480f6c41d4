//! Windows whose few slots repeat over the ciphertext: reals in CKKS, and the digits of whole steps in BFV and BGV. Under
//! the device's secret one coefficient per slot travels, under a public key the whole ciphertext.

use std::time::Instant;

use sotto_keys::{DeviceKeys, SecretKey};
use sotto_pack::{Encoding, Layout, Slots, StepDigits, StreamProfile};
use sotto_rlwe::{
    Kept, KeyId, ParameterId, ParameterSpec, Params, Plaintext, PublicKey, Scheme, with_scheme,
};
use sotto_wire::{SlotsWindow, mask_seed};
use zeroize::Zeroizing;

use super::masks::OwnMasks;
use super::readings::{Reading, values};
use super::whole::{public_bytes, under_public_key};
use super::{EncryptError, Encrypted, Encryptor, Unencrypted, key};

/// Encrypts the windows of a stream of slots.
struct Repeated<S: Scheme> {
    params: Params<S>,
    kept: Kept,
    form: SlotForm<S>,
    /// For whole steps: the layout, and the digits of a step.
    steps: Option<(Layout, StepDigits)>,
}

/// The form in which windows travel.
enum SlotForm<S: Scheme> {
    /// Compact, under masks named after the stream.
    Compact { key: SecretKey<S>, stream: String, masks: OwnMasks },
    /// Whole, under a public key.
    Whole(PublicKey<S>),
}

/// Returns the encryptor of a stream of `slots` slots.
pub(super) fn encryptor(
    stream: &StreamProfile,
    slots: u32,
    spec: ParameterSpec,
    keys: &DeviceKeys,
) -> Result<Box<dyn Encryptor>, EncryptError> {
    let encoding = if spec.scheme.is_exact() { Encoding::Resolution } else { Encoding::Real };
    if stream.encoding != encoding {
        return Err(EncryptError::Slots { slots });
    }
    with_scheme!(spec.scheme, S => Ok(Box::new(Repeated::<S>::new(stream, slots, spec, keys)?)))
}

impl<S: Scheme<Value: Reading>> Repeated<S> {
    fn new(
        stream: &StreamProfile,
        slots: u32,
        spec: ParameterSpec,
        keys: &DeviceKeys,
    ) -> Result<Self, EncryptError> {
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
        let form = if stream.public {
            SlotForm::Whole(key::public(keys, &params)?)
        } else {
            let key = SecretKey::derive(key::secret(keys)?, &params);
            SlotForm::Compact { key, stream: stream.stream.clone(), masks: OwnMasks::new()? }
        };
        Ok(Self { params, kept: Kept::Folded(slots as usize), form, steps })
    }

    /// Returns the plaintext of a window's slots. Checks the range of their values.
    fn plaintext(&self, slots: Slots) -> Result<Plaintext<S>, EncryptError> {
        let (params, level) = (&self.params, self.params.top_level());
        let (slots, magnitude) = match (&self.steps, slots) {
            (Some((layout, digits)), Slots::Integers(numbers)) => {
                let digits_of = digits.expand(layout, &Zeroizing::new(numbers))?;
                (Slots::Integers(digits_of), digits.largest() as f64)
            }
            (_, slots) => (slots, 1.0),
        };
        let values = values::<S>(slots)?;
        Ok(match &self.form {
            SlotForm::Compact { .. } => params.encode_folded(&values, magnitude, level)?,
            SlotForm::Whole(_) => params.encode_repeated(&values, level)?.declare_magnitude(magnitude),
        })
    }
}

impl<S: Scheme<Value: Reading>> Encryptor for Repeated<S> {
    fn parameters(&self) -> ParameterId {
        self.params.id()
    }

    fn key(&self) -> KeyId {
        match &self.form {
            SlotForm::Compact { key, .. } => key.id(),
            SlotForm::Whole(key) => key.key(),
        }
    }

    fn slot_shape(&self) -> (u32, u32) {
        (1, self.steps.as_ref().map_or(self.kept.values() as u32, |(layout, _)| layout.columns()))
    }

    fn frame_bytes(&self) -> usize {
        match &self.form {
            SlotForm::Compact { .. } => SlotsWindow::frame_bytes(&self.params, self.kept),
            SlotForm::Whole(_) => public_bytes(&self.params),
        }
    }

    fn check(&self, layout: &Layout) -> Result<(), EncryptError> {
        // Only encoding checks the range. Do not encrypt here: that would use a mask.
        let slots = match self.steps {
            None => Slots::Reals(vec![layout.magnitude(); layout.slots()]),
            Some(_) => Slots::Integers(vec![0; layout.slots()]),
        };
        self.plaintext(slots).map(drop)
    }

    fn encrypt(&self, window: Unencrypted) -> Result<Encrypted, EncryptError> {
        let begin = Instant::now();
        let plaintext = self.plaintext(window.slots)?;
        let encode = begin.elapsed();
        let begin = Instant::now();
        let frame = match &self.form {
            SlotForm::Compact { key, stream, masks } => {
                let mask = masks.name(window.sequence)?;
                let mut rng = sotto_ring::secure_rng()?;
                let encrypted =
                    key.encrypt_under(&plaintext, mask_seed(key.id(), stream, &mask), &mut rng)?;
                SlotsWindow::of(&encrypted.compact(self.kept)?, mask).write()
            }
            SlotForm::Whole(key) => under_public_key(key, &plaintext)?,
        };
        Ok(Encrypted { encode, encrypt: begin.elapsed(), frame })
    }
}
