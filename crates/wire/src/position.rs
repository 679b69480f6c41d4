//! The request of a device that lost its spool for the position of a stream.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

use crate::error::WireError;
use crate::frame;
use crate::kind::Kind;
use crate::reader::write_name;
use crate::signature::{self, SIGNATURE_BYTES};

const SIGNATURE_CONTEXT: &[u8] = b"sotto position v1";
/// Length in bytes of the longest frame of a [`PositionRequest`].
pub const LARGEST_POSITION_REQUEST: u64 = 1024;

/// A device's signed request for the last window of a stream that the cloud has.
///
/// ```
/// use sotto_keys::SigningIdentity;
/// use sotto_wire::PositionRequest;
/// # let device = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
///
/// // The device lost its spool: which window of this stream did the cloud store last?
/// let asked_at = 1_795_000_000_000;
/// let request = PositionRequest::sign("cellar", "boiler", asked_at, |message| device.sign(message))?;
/// let received = PositionRequest::read(&request.write()?)?;
/// received.verify(&device.verifying_key())?;
/// assert_eq!(received.stream, "boiler");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PositionRequest {
    /// The device's name.
    pub device: String,
    /// The stream's name.
    pub stream: String,
    /// The time of the request by the device's clock, in milliseconds since 1970.
    pub asked_at: i64,
    signature: [u8; SIGNATURE_BYTES],
}

impl PositionRequest {
    /// Signs a request.
    ///
    /// # Errors
    /// [`WireError::Value`] if a name is invalid.
    pub fn sign(
        device: &str,
        stream: &str,
        asked_at: i64,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        let signature = sign(&signed_message(&fields(device, stream, asked_at)?));
        Ok(Self { device: device.to_owned(), stream: stream.to_owned(), asked_at, signature })
    }

    /// Returns the frame.
    ///
    /// # Errors
    /// [`WireError::Value`] if a name is invalid.
    pub fn write(&self) -> Result<Vec<u8>, WireError> {
        let fields = fields(&self.device, &self.stream, self.asked_at)?;
        Ok(frame::write(Kind::PositionRequest, fields.len() + SIGNATURE_BYTES, |out| {
            out.extend_from_slice(&fields);
            out.extend_from_slice(&self.signature);
        }))
    }

    /// Reads a frame of at most [`LARGEST_POSITION_REQUEST`] bytes. Does not check the signature: see
    /// [`PositionRequest::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a frame of a position request.
    pub fn read(bytes: &[u8]) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::PositionRequest, LARGEST_POSITION_REQUEST)?;
        let (device, stream, asked_at) = (reader.name()?, reader.name()?, reader.i64()?);
        let signature = reader.array()?;
        reader.finish()?;
        Ok(Self { device, stream, asked_at, signature })
    }

    /// Checks the signature against a device's Ed25519 verifying key.
    ///
    /// # Errors
    /// [`WireError::Signature`] if the signature is not valid under the key.
    pub fn verify(&self, verifying_key: &[u8; 32]) -> Result<(), WireError> {
        let message = signed_message(&fields(&self.device, &self.stream, self.asked_at)?);
        signature::verify(&message, &self.signature, verifying_key)
    }
}

fn fields(device: &str, stream: &str, asked_at: i64) -> Result<Vec<u8>, WireError> {
    let mut out = Vec::with_capacity(160);
    write_name(&mut out, device)?;
    write_name(&mut out, stream)?;
    out.extend_from_slice(&asked_at.to_le_bytes());
    Ok(out)
}

fn signed_message(fields: &[u8]) -> Vec<u8> {
    [SIGNATURE_CONTEXT, fields].concat()
}
