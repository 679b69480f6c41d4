//! Turns slots into the frame of a ciphertext. The only module where the scheme, a value at run time, becomes a type.

mod compact;
mod masks;
mod slots;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use sotto_compact::CompactError;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_pack::{Layout, PackError, Places, Presence, Slots, StreamProfile, WindowDescription};
use sotto_ring::RandomnessUnavailable;
use sotto_rlwe::{
    Bfv, Bgv, Ckks, EncodeError, EvalError, KeyId, ParameterError, ParameterId, ParameterSpec, Params,
    PublicKey, Scheme, SchemeId,
};
use sotto_wire::{AnyCiphertext, WireError, expanded_bytes, read_public_key, seeded_bytes};
use zeroize::{Zeroize, Zeroizing};

/// The keys with which a device encrypts.
pub enum DeviceKey {
    /// A secret, from which the key of each stream is derived.
    Secret(DeviceSecret),
    /// Public keys; the process holds no secret key.
    Public(Vec<PublicKeyFile>),
}

/// A file that should hold a public key.
pub struct PublicKeyFile {
    /// Its path.
    pub path: PathBuf,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// The frame of a ciphertext, and the time of each step.
pub struct Encrypted {
    /// The frame.
    pub frame: Vec<u8>,
    /// Time from slots to a plaintext.
    pub encode: Duration,
    /// Time from a plaintext to a ciphertext.
    pub encrypt: Duration,
}

/// Reason why a stream cannot be encrypted. Contains no key and no reading.
#[derive(Debug, thiserror::Error)]
pub enum EncryptError {
    /// The parameters are refused.
    #[error(transparent)]
    Parameters(#[from] ParameterError),
    /// The parameters encode one value, not slots.
    #[error("these parameters have no slots: a window of readings needs a plain modulus t with t mod 2n = 1")]
    NoSlots,
    /// Whole numbers for CKKS, or reals for BFV and BGV.
    #[error("{scheme} does not take this encoding: use integer or resolution for BFV and BGV, real for CKKS")]
    Encoding {
        /// The scheme.
        scheme: SchemeId,
    },
    /// Two readings could become the same residue modulo t.
    #[error(
        "a reading can become {largest}, and these parameters hold whole numbers up to ±{limit}: declare a narrower range, a coarser \
         resolution or fewer bits, or take a larger plain modulus"
    )]
    TooLarge {
        /// The largest number of any channel.
        largest: u64,
        /// The largest number that a slot holds: (t − 1) / 2.
        limit: u64,
    },
    /// No given public key has these parameters.
    #[error("no public key was given for parameters {0}")]
    NoPublicKey(ParameterId),
    /// A key file is damaged.
    #[error("{path} holds no public key that can be used: {reason}")]
    PublicKey {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: WireError,
    },
    /// The slots cannot be encoded.
    #[error(transparent)]
    Encode(#[from] EncodeError),
    /// The plaintext cannot be encrypted.
    #[error(transparent)]
    Encrypt(#[from] EvalError),
    /// Compact encryption needs the device's secret, and only public keys were given.
    #[error("a compact window needs the device's secret: public keys cannot encrypt it")]
    NoCompactForm,
    /// More slots than the parameters have, or a scheme without a compact form of slots.
    #[error("these parameters do not allow compact windows of {slots} slots")]
    Slots {
        /// The slots.
        slots: u32,
    },
    /// The parameters do not allow this compact form.
    #[error(transparent)]
    Form(#[from] CompactError),
    /// The channels have no compact form.
    #[error(transparent)]
    Places(#[from] PackError),
    /// The values do not fit the compact form.
    #[error(transparent)]
    Compact(#[from] sotto_device::EncryptError),
    /// The frame cannot be written.
    #[error(transparent)]
    Frame(#[from] WireError),
    /// The sequence number is not above the last one. Two windows under one mask would reveal their difference.
    #[error("window {sequence} was encrypted before: no mask may be used twice")]
    RepeatedMask {
        /// The sequence number.
        sequence: u64,
    },
    /// The stream belongs to no fleet.
    #[error("the stream belongs to no fleet: its windows have masks of their own")]
    NoFleet,
    /// The start is not after the last one. Two windows under one mask of a fleet would reveal their difference.
    #[error(
        "a window that starts at {start} or later was encrypted before: no mask of a fleet may be used twice"
    )]
    RepeatedStart {
        /// The start, in milliseconds since 1970.
        start: i64,
    },
    /// The operating system gave no randomness.
    #[error(transparent)]
    Randomness(#[from] RandomnessUnavailable),
}

/// The part of a window that a compact message sends.
pub struct SentTicks {
    /// Number of ticks, from the first on.
    pub ticks: u32,
    /// The ticks with a reading, for each channel. Readings at other ticks are not counted in bins.
    pub presence: Vec<Presence>,
}

impl SentTicks {
    /// Returns the part of a window with this description that is sent.
    #[must_use]
    pub fn of(window: &WindowDescription) -> Self {
        let channels = 0..window.layout.channels().len() as u16;
        let presence = channels.map(|channel| window.presence(channel).unwrap_or_default()).collect();
        Self { ticks: Places::ticks(window), presence }
    }
}

/// Encrypts windows of one stream.
pub trait Encryptor {
    /// Returns the id of the parameters.
    fn parameters(&self) -> ParameterId;
    /// Returns the id of the key that decrypts.
    fn key(&self) -> KeyId;
    /// Returns the numbers of rows and columns of the slots.
    fn slot_shape(&self) -> (u32, u32);
    /// Returns the largest whole number that a slot holds, (t − 1) / 2; `None` if slots hold reals.
    fn largest(&self) -> Option<u64>;
    /// Returns the largest length in bytes of a ciphertext's frame.
    fn frame_bytes(&self) -> usize;
    /// Encodes and encrypts the window with this sequence number, and wipes the slots. A compact window sends only the
    /// part `sent`.
    ///
    /// # Errors
    /// [`EncryptError`] if the slots are not of this scheme or hold numbers that are too large.
    fn encrypt(&self, slots: Slots, sequence: u64, sent: &SentTicks) -> Result<Encrypted, EncryptError>;

    /// Like [`Encryptor::encrypt`], but under the mask that the stream's fleet shares for windows starting at `start`
    /// (ms since 1970).
    ///
    /// The caller ensures that no other window, in any run of this device, is encrypted with this key under the same
    /// mask.
    ///
    /// # Errors
    /// [`EncryptError::NoFleet`] if the stream has no fleet, [`EncryptError::RepeatedStart`] if `start` is not after
    /// the last one.
    fn encrypt_shared(
        &self,
        _slots: Slots,
        _start: i64,
        _sent: &SentTicks,
    ) -> Result<Encrypted, EncryptError> {
        Err(EncryptError::NoFleet)
    }

    /// Checks that every reading of a layout can be encrypted, by trying the largest number in every slot.
    ///
    /// # Errors
    /// [`EncryptError::TooLarge`], or the error of [`Encryptor::encrypt`].
    fn check(&self, layout: &Layout) -> Result<(), EncryptError> {
        let (largest, slots) = (layout.magnitude(), layout.slots());
        if let (Some(limit), Some(_)) = (self.largest(), layout.quantiser(0)) {
            // The encoder accepts −(t − 1) … t − 1. Beyond (t − 1) / 2, two readings would become the same residue.
            let largest = largest as u64;
            if largest > limit {
                return Err(EncryptError::TooLarge { largest, limit });
            }
        }
        let extreme = match layout.quantiser(0) {
            Some(_) => Slots::Integers(vec![largest as i64; slots]),
            None => Slots::Reals(vec![largest; slots]),
        };
        self.encrypt(extreme, 0, &SentTicks { ticks: layout.ticks(), presence: Vec::new() }).map(drop)
    }
}

/// Returns an encryptor for the windows of a stream; selects the scheme from `spec`.
///
/// # Errors
/// [`EncryptError`] if the parameters are refused or no key fits them.
pub fn encryptor(
    stream: &StreamProfile,
    spec: ParameterSpec,
    key: &DeviceKey,
) -> Result<Box<dyn Encryptor>, EncryptError> {
    if let Some(places) = &stream.compact {
        return Ok(Box::new(compact::Compact::new(stream, places, spec, key)?));
    }
    if let Some(slots) = stream.slots {
        return slots::encryptor(stream, slots, spec, key);
    }
    Ok(match spec.scheme {
        SchemeId::Bfv => Box::new(Keyed::<Bfv>::new(spec, key)?),
        SchemeId::Bgv => Box::new(Keyed::<Bgv>::new(spec, key)?),
        SchemeId::Ckks => Box::new(Keyed::<Ckks>::new(spec, key)?),
    })
}

/// A scheme that takes readings as slots.
trait Readable: Scheme<Value: Zeroize> {
    fn values(slots: Slots) -> Option<Zeroizing<Vec<Self::Value>>>;
}

impl Readable for Bfv {
    fn values(slots: Slots) -> Option<Zeroizing<Vec<i64>>> {
        integers(slots)
    }
}

impl Readable for Bgv {
    fn values(slots: Slots) -> Option<Zeroizing<Vec<i64>>> {
        integers(slots)
    }
}

impl Readable for Ckks {
    fn values(slots: Slots) -> Option<Zeroizing<Vec<f64>>> {
        match slots {
            Slots::Reals(reals) => Some(Zeroizing::new(reals)),
            Slots::Integers(_) => None,
        }
    }
}

fn integers(slots: Slots) -> Option<Zeroizing<Vec<i64>>> {
    match slots {
        Slots::Integers(integers) => Some(Zeroizing::new(integers)),
        Slots::Reals(_) => None,
    }
}

/// A scheme's parameters and a key for them.
struct Keyed<S: Scheme> {
    params: Params<S>,
    rows: u32,
    columns: u32,
    key: Key<S>,
}

enum Key<S: Scheme> {
    Secret(SecretKey<S>),
    Public(PublicKey<S>),
}

impl<S: Readable> Keyed<S> {
    fn new(spec: ParameterSpec, key: &DeviceKey) -> Result<Self, EncryptError> {
        let params = Params::<S>::new(spec)?;
        let (rows, columns) = S::slot_shape(&params).ok_or(EncryptError::NoSlots)?;
        let key = match key {
            DeviceKey::Secret(secret) => Key::Secret(SecretKey::derive(secret, &params)),
            DeviceKey::Public(files) => Key::Public(matching(files, &params)?),
        };
        Ok(Self { params, rows: rows as u32, columns: columns as u32, key })
    }
}

/// Returns the first public key with these parameters.
fn matching<S: Scheme>(files: &[PublicKeyFile], params: &Params<S>) -> Result<PublicKey<S>, EncryptError> {
    for PublicKeyFile { path, bytes } in files {
        match read_public_key(bytes, params) {
            Ok(key) => return Ok(key),
            // The key of another stream, possibly longer than these parameters allow.
            Err(WireError::Parameters { .. } | WireError::TooLarge { .. }) => {}
            Err(reason) => return Err(EncryptError::PublicKey { path: path.clone(), reason }),
        }
    }
    Err(EncryptError::NoPublicKey(params.id()))
}

impl<S: Readable> Encryptor for Keyed<S> {
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

    fn largest(&self) -> Option<u64> {
        (S::ID != SchemeId::Ckks).then(|| self.params.spec().plain.saturating_sub(1) / 2)
    }

    fn frame_bytes(&self) -> usize {
        match &self.key {
            Key::Secret(_) => seeded_bytes(&self.params),
            Key::Public(_) => expanded_bytes(&self.params, self.params.top_level(), 2),
        }
    }

    fn encrypt(&self, slots: Slots, _sequence: u64, _sent: &SentTicks) -> Result<Encrypted, EncryptError> {
        let values = S::values(slots).ok_or(EncryptError::Encoding { scheme: S::ID })?;
        let begin = Instant::now();
        let plaintext = S::encode_slots(&self.params, &values, self.params.top_level())?;
        let encode = begin.elapsed();
        let begin = Instant::now();
        let mut rng = sotto_ring::secure_rng()?;
        let frame = match &self.key {
            Key::Secret(key) => AnyCiphertext::Seeded(key.encrypt(&plaintext, &mut rng)?).write(),
            Key::Public(key) => AnyCiphertext::Expanded(key.encrypt(&plaintext, &mut rng)?).write(),
        };
        Ok(Encrypted { encode, encrypt: begin.elapsed(), frame })
    }
}
