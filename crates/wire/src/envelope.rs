//! The signed envelope in which a device sends a ciphertext.

use ed25519_dalek::{Signature, VerifyingKey};
use sotto_rlwe::{KeyId, ParameterId};

use crate::ciphertext::CiphertextHeader;
use crate::compact::CompactCiphertext;
use crate::error::WireError;
use crate::frame::{self, Kind, frame_digest};
use crate::reader::{Reader, write_name};

/// The largest envelope: 64 MiB.
pub const LARGEST_ENVELOPE: u64 = 64 << 20;
/// Characters of the longest [`EnvelopeHeader::upload_key`]: two names of 64, the digits of a number of 64 bits, two dots.
pub const LONGEST_UPLOAD_KEY: usize = 64 + 64 + 20 + 2;
/// The longest layout description: 16 KiB.
pub const LARGEST_LAYOUT: usize = 16 << 10;
const SIGNATURE_CONTEXT: &[u8] = b"sotto envelope v1";

/// What the cloud may know of a window of readings. All of it is signed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvelopeHeader {
    /// The device's name.
    pub device: String,
    /// The stream's name.
    pub stream: String,
    /// Counts the stream's windows, from 0.
    pub sequence: u64,
    /// Parameters of the ciphertext.
    pub parameters: ParameterId,
    /// The key that decrypts it.
    pub key: KeyId,
    /// First reading, milliseconds since 1970.
    pub started_at: i64,
    /// Last reading, milliseconds since 1970.
    pub ended_at: i64,
    /// Readings in the window.
    pub readings: u32,
    /// How readings lie in the slots, as the device describes it to the owner (JSON).
    pub layout: Vec<u8>,
}

/// A header, the frame of a ciphertext or compact ciphertext, and the device's Ed25519 signature over the header and the frame's digest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The header.
    pub header: EnvelopeHeader,
    /// The ciphertext's frame.
    pub body: Vec<u8>,
    pub(crate) signature: [u8; 64],
}

impl EnvelopeHeader {
    /// What an upload is called when it is sent again: `device.stream.sequence`, at most [`LONGEST_UPLOAD_KEY`] visible characters of
    /// ASCII, as names have no others.
    #[must_use]
    pub fn upload_key(&self) -> String {
        format!("{}.{}.{}", self.device, self.stream, self.sequence)
    }

    pub(crate) fn bytes(&self) -> Result<Vec<u8>, WireError> {
        let mut out = Vec::with_capacity(256 + self.layout.len());
        write_name(&mut out, &self.device)?;
        write_name(&mut out, &self.stream)?;
        out.extend_from_slice(&self.sequence.to_le_bytes());
        out.extend_from_slice(&self.parameters.0);
        out.extend_from_slice(&self.key.0);
        out.extend_from_slice(&self.started_at.to_le_bytes());
        out.extend_from_slice(&self.ended_at.to_le_bytes());
        out.extend_from_slice(&self.readings.to_le_bytes());
        if self.layout.len() > LARGEST_LAYOUT {
            return Err(WireError::Value("a layout description has at most 16 KiB"));
        }
        out.extend_from_slice(&(self.layout.len() as u16).to_le_bytes());
        out.extend_from_slice(&self.layout);
        Ok(out)
    }

    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        let (device, stream, sequence) = (reader.name()?, reader.name()?, reader.u64()?);
        let (parameters, key) = (reader.parameter_id()?, reader.key_id()?);
        let (started_at, ended_at, readings) = (reader.i64()?, reader.i64()?, reader.u32()?);
        let length = usize::from(reader.u16()?);
        if length > LARGEST_LAYOUT {
            return Err(WireError::Value("a layout description has at most 16 KiB"));
        }
        let layout = reader.take(length)?.to_vec();
        Ok(Self { device, stream, sequence, parameters, key, started_at, ended_at, readings, layout })
    }
}

fn signed_message(header: &[u8], body_digest: &[u8; 32]) -> Vec<u8> {
    [SIGNATURE_CONTEXT, header, body_digest].concat()
}

/// Checks a device's signature over a header and the digest of a ciphertext's frame.
pub(crate) fn verify(
    header: &EnvelopeHeader,
    body_digest: &[u8; 32],
    signature: &[u8; 64],
    verifying_key: &[u8; 32],
) -> Result<(), WireError> {
    let message = signed_message(&header.bytes()?, body_digest);
    let key = VerifyingKey::from_bytes(verifying_key).map_err(|_| WireError::Signature)?;
    key.verify_strict(&message, &Signature::from_bytes(signature)).map_err(|_| WireError::Signature)
}

impl Envelope {
    /// Signs a ciphertext's frame.
    pub fn sign(
        header: EnvelopeHeader,
        body: Vec<u8>,
        sign: impl FnOnce(&[u8]) -> [u8; 64],
    ) -> Result<Self, WireError> {
        let signature = sign(&signed_message(&header.bytes()?, &frame_digest(&body)?));
        Ok(Self { header, body, signature })
    }

    /// Writes it.
    pub fn write(&self) -> Result<Vec<u8>, WireError> {
        let header = self.header.bytes()?;
        Ok(frame::write(Kind::Envelope, 4 + header.len() + self.body.len() + 64, |out| {
            out.extend_from_slice(&(header.len() as u32).to_le_bytes());
            out.extend_from_slice(&header);
            out.extend_from_slice(&self.body);
            out.extend_from_slice(&self.signature);
        }))
    }

    /// Reads an envelope of at most `limit` bytes. The body's frame and header are checked, and that header and body name the
    /// same parameters and key; the signature is not yet: see [`Envelope::verify`].
    pub fn read(bytes: &[u8], limit: u64) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::Envelope, limit.min(LARGEST_ENVELOPE))?;
        let length = reader.u32()? as usize;
        let mut header_reader = Reader::new(reader.take(length)?);
        let header = EnvelopeHeader::parse(&mut header_reader)?;
        header_reader.finish()?;
        let too_short = WireError::Truncated { expected: 64, found: reader.left() as u64 };
        let body_length = reader.left().checked_sub(64).ok_or(too_short)?;
        let body = reader.take(body_length)?;
        let (parameters, key) = match frame::frame_kind(body)? {
            Kind::CompactCiphertext => {
                let CompactCiphertext { form, mask, .. } = CompactCiphertext::read(body)?;
                if mask.sequence != header.sequence {
                    return Err(WireError::Value("the mask has another number than the window"));
                }
                (form.parameters, form.key)
            }
            _ => {
                let inner = CiphertextHeader::read(body, limit)?;
                (inner.parameters, inner.key)
            }
        };
        if parameters != header.parameters {
            return Err(WireError::Parameters { expected: header.parameters, found: parameters });
        }
        if key != header.key {
            return Err(WireError::Key { expected: header.key, found: key });
        }
        Ok(Self { header, body: body.to_vec(), signature: reader.array()? })
    }

    /// Checks the signature against a device's Ed25519 verifying key.
    pub fn verify(&self, verifying_key: &[u8; 32]) -> Result<(), WireError> {
        verify(&self.header, &frame_digest(&self.body)?, &self.signature, verifying_key)
    }
}
