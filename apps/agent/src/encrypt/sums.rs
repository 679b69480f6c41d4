//! Windows of sums: pads of a stream cipher on readings and quantities computed of them, and tags that add up with them.

use std::cell::RefCell;
use std::sync::Arc;
use std::time::{Duration, Instant};

use sotto_keys::DeviceKeys;
use sotto_pack::{Layout, Period, Presence, Slots, StreamProfile, WindowDescription};
use sotto_rlwe::{KeyId, SchemeId};
use sotto_sums::StreamKeys;
use sotto_wire::{MaskName, SALT_BYTES, StreamHeader, WireError};
use zeroize::Zeroizing;

use super::{EncryptError, key, masks};

const NOT_OF_SUMS: WireError = WireError::Value("the stream is not one of sums");

/// Encrypts the windows of a stream of sums.
///
/// All parts of a window stand under one pad number, that of its sequence. No pad serves two windows:
/// - The salt is drawn at each start and is in memory alone. A killed process takes its salt along; a copied or restored
///   spool continues under another one.
/// - Within a start the numbers grow: others are refused, and nothing is encrypted.
/// - The spool writes a window, with salt and number in its head, durably before the sender sees it. No pad leaves the
///   process before its number is on the disk. The window is sent again with the same bytes.
pub struct SumsEncryptor {
    header: Arc<StreamHeader>,
    salt: [u8; SALT_BYTES],
    encryptor: RefCell<sotto_sums::Encryptor>,
}

/// The parts of a window, and the time of each step.
pub struct EncryptedSums {
    /// The name of the pads: one for all parts.
    pub pads: MaskName,
    /// A body and a tag for each part, in order.
    pub parts: Vec<u8>,
    /// Time from slots to the values of the parts.
    pub encode: Duration,
    /// Time from values to bodies and tags.
    pub encrypt: Duration,
}

impl SumsEncryptor {
    /// Derives the keys of a stream and draws the salt of this start. `period` is the device's, in milliseconds.
    ///
    /// # Errors
    /// [`EncryptError`] if the device has public keys, the stream has no parts or its facts are not valid, or the system
    /// gives no randomness.
    pub fn new(
        device: &str,
        period: Period,
        stream: &StreamProfile,
        keys: &DeviceKeys,
    ) -> Result<Self, EncryptError> {
        let secret = key::secret(keys)?.expose_secret_bytes();
        let key = |id: &[u8; 32]| KeyId(StreamKeys::derive(secret, id).id());
        let header = StreamHeader::of_sums_profile(device, period, stream, key)?.ok_or(NOT_OF_SUMS)?;
        let salt = masks::draw_salt()?;
        let id = header.stream_id().ok_or(NOT_OF_SUMS)?;
        let encryptor = sotto_sums::Encryptor::new(secret, id, &salt, 0).into();
        Ok(Self { header: Arc::new(header), salt, encryptor })
    }

    /// Returns the stream's header.
    #[must_use]
    pub fn header(&self) -> &Arc<StreamHeader> {
        &self.header
    }

    /// Returns the layout of the windows.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        self.header.layout()
    }

    /// Encrypts a window under its sequence number. The tags cover the counts of this description: it must be the one
    /// that is signed. Its counts of readings left out are at most 65,535 each.
    ///
    /// # Errors
    /// [`EncryptError::Pads`] unless `sequence` is larger than all before, or if a value is outside its range;
    /// [`EncryptError::Encoding`] for slots of reals.
    pub fn encrypt(
        &self,
        sequence: u64,
        slots: Slots,
        description: &WindowDescription,
    ) -> Result<EncryptedSums, EncryptError> {
        let Slots::Integers(slots) = slots else {
            return Err(EncryptError::Encoding { scheme: SchemeId::Ckks });
        };
        let slots = Zeroizing::new(slots);
        let channels = 0..self.layout().channels().len() as u16;
        let presence: Vec<Presence> =
            channels.map(|channel| description.presence(channel).unwrap_or_default()).collect();
        let ticks = description.sent_ticks();
        let mut parts = Vec::new();
        let (mut encode, mut encrypt) = (Duration::ZERO, Duration::ZERO);
        let mut encryptor = self.encryptor.borrow_mut();
        let mut window = encryptor.window(sequence)?;
        for (number, part) in (0..).zip(self.header.parts()) {
            let begin = Instant::now();
            let values = Zeroizing::new(part.values(self.layout(), ticks, &slots, &presence));
            let counts = part.counts(description);
            encode += begin.elapsed();
            let begin = Instant::now();
            let form = self.header.sums_form(number as usize)?;
            let first = parts.len();
            parts.resize(first + form.body_bytes(ticks), 0);
            let body = &mut parts[first..];
            let tag = window.encrypt(&form, ticks, number, values.iter().copied(), counts, body)?;
            parts.extend(tag.to_bytes());
            encrypt += begin.elapsed();
        }
        let pads = MaskName { salt: self.salt, sequence };
        Ok(EncryptedSums { pads, parts, encode, encrypt })
    }
}
