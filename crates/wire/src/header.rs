//! The header of an envelope.

use alloc::string::String;
use alloc::vec::Vec;

use sotto_rlwe::{KeyId, ParameterId};

use crate::error::WireError;
use crate::reader::{Reader, check_name, write_checked_name};

/// Length in characters of the longest upload key: two names of 64, two numbers of 20 digits, two dots and a hyphen.
pub const LONGEST_UPLOAD_KEY: usize = 64 + 64 + 20 + 2 + 21;
/// The longest layout description: 16 KiB, in bytes.
pub const LARGEST_LAYOUT: usize = 16 << 10;
const LONG_LAYOUT: WireError = WireError::Value("a layout description has at most 16 KiB");

/// The description of a window of readings that the cloud sees. All of it is signed.
///
/// Example: [`Envelope`](crate::Envelope)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvelopeHeader {
    /// The device's name.
    pub device: String,
    /// The stream's name.
    pub stream: String,
    /// The window's sequence number in its stream, from 0.
    pub sequence: u64,
    /// The ciphertext's parameters.
    pub parameters: ParameterId,
    /// The key that decrypts it.
    pub key: KeyId,
    /// Time of the first reading, in milliseconds since 1970. In version 2: the start of its tick.
    pub started_at: i64,
    /// Time of the last reading, in milliseconds since 1970. In version 2: the last millisecond of its tick.
    pub ended_at: i64,
    /// Number of readings in the window.
    pub readings: u32,
    /// The layout of the readings in the slots: the device's description for the owner (JSON). In version 2 it is built
    /// from the stream's header and the window's head.
    pub layout: Vec<u8>,
}

impl EnvelopeHeader {
    /// Returns the idempotency key of the upload: `device.stream.sequence`, at most [`LONGEST_UPLOAD_KEY`] visible
    /// ASCII characters. Names contain no other characters.
    #[must_use]
    pub fn upload_key(&self) -> String {
        format!("{}.{}.{}", self.device, self.stream, self.sequence)
    }

    /// Refuses names that are none, and a layout description that is too long.
    pub(crate) fn check(&self) -> Result<(), WireError> {
        check_name(&self.device)?;
        check_name(&self.stream)?;
        if self.layout.len() > LARGEST_LAYOUT { Err(LONG_LAYOUT) } else { Ok(()) }
    }

    /// Returns the length of [`EnvelopeHeader::bytes`].
    pub(crate) fn written_bytes(&self) -> usize {
        let names = 2 + self.device.len() + self.stream.len();
        names + 8 + 32 + 16 + 8 + 8 + 4 + 2 + self.layout.len()
    }

    /// Returns the bytes of a header that was checked.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.written_bytes());
        write_checked_name(&mut out, &self.device);
        write_checked_name(&mut out, &self.stream);
        out.extend_from_slice(&self.sequence.to_le_bytes());
        out.extend_from_slice(&self.parameters.0);
        out.extend_from_slice(&self.key.0);
        out.extend_from_slice(&self.started_at.to_le_bytes());
        out.extend_from_slice(&self.ended_at.to_le_bytes());
        out.extend_from_slice(&self.readings.to_le_bytes());
        out.extend_from_slice(&(self.layout.len() as u16).to_le_bytes());
        out.extend_from_slice(&self.layout);
        out
    }

    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (device, stream, sequence) = (reader.name()?, reader.name()?, reader.u64()?);
        let (parameters, key) = (reader.parameter_id()?, reader.key_id()?);
        let (started_at, ended_at, readings) = (reader.i64()?, reader.i64()?, reader.u32()?);
        let length = usize::from(reader.u16()?);
        if length > LARGEST_LAYOUT {
            return Err(LONG_LAYOUT);
        }
        let layout = reader.take(length)?.to_vec();
        Ok(Self { device, stream, sequence, parameters, key, started_at, ended_at, readings, layout })
    }
}
