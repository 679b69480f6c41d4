//! Encrypts windows: sums under pads with tags, or the frames of ciphertexts. The latter are compact or whole; their
//! scheme, a value at run time, becomes a type when a stream is opened.

mod error;
mod key;
mod masks;
mod readings;
mod slots;
mod sums;
mod whole;

use std::sync::Arc;
use std::time::Duration;

use sotto_keys::DeviceKeys;
use sotto_pack::{Layout, Slots, StreamProfile};
use sotto_rlwe::{KeyId, ParameterId, ParameterSpec};
use sotto_wire::StreamHeader;

pub use error::EncryptError;
pub use key::KeyError;
pub use sums::{EncryptedSums, SumsEncryptor};

/// The encryption of a stream's windows.
pub enum Encryption {
    /// Ciphertexts of slots, under parameters.
    Ciphertexts {
        /// The encryptor of the windows.
        encryptor: Box<dyn Encryptor>,
        /// The stream's header, which compact windows name by its hash. `None`: windows are whole ciphertexts.
        header: Option<Arc<StreamHeader>>,
    },
    /// Sums under pads, with tags.
    Sums(Box<SumsEncryptor>),
}

/// A window to encrypt.
pub struct Unencrypted {
    /// The slots. They are wiped.
    pub slots: Slots,
    /// The window's sequence number, after which the mask of a compact window is named.
    pub sequence: u64,
}

/// The frame of a ciphertext, and the time of each step.
pub struct Encrypted {
    /// The ciphertext's frame, as `sotto_wire` writes it.
    pub frame: Vec<u8>,
    /// Time from slots to a plaintext.
    pub encode: Duration,
    /// Time from a plaintext to a ciphertext.
    pub encrypt: Duration,
}

/// Encrypts windows of one stream as ciphertexts.
pub trait Encryptor: Send {
    /// Names the parameters that the windows are encrypted with.
    fn parameters(&self) -> ParameterId;
    /// Returns the id of the key that decrypts.
    fn key(&self) -> KeyId;
    /// Returns the numbers of rows and columns of the slots.
    fn slot_shape(&self) -> (u32, u32);
    /// Returns the largest length in bytes of a ciphertext's frame.
    fn frame_bytes(&self) -> usize;

    /// Checks that every reading of a layout can be encrypted.
    ///
    /// # Errors
    /// [`EncryptError::TooLarge`] if two readings could become the same residue, or the error of
    /// [`Encryptor::encrypt`].
    fn check(&self, layout: &Layout) -> Result<(), EncryptError>;

    /// Encodes and encrypts a window.
    ///
    /// # Errors
    /// [`EncryptError`] if the slots are not of this scheme or hold numbers that are too large;
    /// [`EncryptError::RepeatedMask`] if a mask could serve twice.
    fn encrypt(&self, window: Unencrypted) -> Result<Encrypted, EncryptError>;
}

/// Returns an encryptor for the windows of a stream of ciphertexts, which have these parameters.
///
/// # Errors
/// [`EncryptError`] if the parameters are refused or none of the keys fits them.
pub fn encryptor(
    stream: &StreamProfile,
    spec: ParameterSpec,
    keys: &DeviceKeys,
) -> Result<Box<dyn Encryptor>, EncryptError> {
    match stream.slots {
        Some(slots) => slots::encryptor(stream, slots, spec, keys),
        None => whole::encryptor(stream, spec, keys),
    }
}
