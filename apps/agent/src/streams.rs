//! The streams of a profile, ready to take windows.

use sotto_pack::{Channel, DeviceProfile, Layout, PackError, StreamProfile};
use sotto_wire::{LARGEST_LAYOUT, WireError, read_parameters};

use crate::encrypt::{DeviceKey, EncryptError, Encryptor, encryptor};

/// Most bytes of an envelope beside the ciphertext and the description of the window.
const ENVELOPE_BYTES: usize = 1024;

/// A stream: what stands where in its windows, and what encrypts them.
pub struct Stream {
    /// Its name.
    pub name: String,
    /// The layout of its windows.
    pub layout: Layout,
    /// What encrypts.
    pub encryptor: Box<dyn Encryptor>,
}

/// Why a stream of a profile cannot be sent.
#[derive(Debug, thiserror::Error)]
#[error("stream {stream}: {reason}")]
pub struct StreamError {
    /// The stream.
    pub stream: String,
    /// Why.
    pub reason: Refused,
}

/// Why a stream of a profile cannot be sent.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// The parameters are no frame.
    #[error("its parameters cannot be read: {0}")]
    Wire(#[from] WireError),
    /// They are not hexadecimal.
    #[error("its parameters are not hexadecimal")]
    Hexadecimal(#[from] hex::FromHexError),
    /// The channels do not fit.
    #[error(transparent)]
    Layout(#[from] PackError),
    /// It cannot be encrypted.
    #[error(transparent)]
    Encrypt(#[from] EncryptError),
}

/// The streams of a profile for these channels. Everything that can be refused is refused now, before anything is read.
///
/// # Errors
/// [`StreamError`] names the stream and the reason.
pub fn open(
    profile: &DeviceProfile,
    channels: &[Channel],
    key: &DeviceKey,
) -> Result<Vec<Stream>, StreamError> {
    let open = |stream: &StreamProfile| {
        Stream::open(stream, channels, key)
            .map_err(|reason| StreamError { stream: stream.stream.clone(), reason })
    };
    profile.streams.iter().map(open).collect()
}

impl Stream {
    fn open(profile: &StreamProfile, channels: &[Channel], key: &DeviceKey) -> Result<Self, Refused> {
        let spec = read_parameters(&hex::decode(&profile.parameters)?)?;
        let encryptor = encryptor(spec, key)?;
        let (rows, columns) = encryptor.slot_shape();
        let layout = Layout::smallest(channels.to_vec(), profile.ticks, columns, rows, profile.encoding)?;
        encryptor.check(&layout)?;
        Ok(Self { name: profile.stream.clone(), layout, encryptor })
    }

    /// The most bytes that a message of this stream can have.
    #[must_use]
    pub fn message_bytes(&self) -> u64 {
        (self.encryptor.frame_bytes() + LARGEST_LAYOUT + ENVELOPE_BYTES) as u64
    }
}
