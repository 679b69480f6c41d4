//! The request of a device that lost its spool for the position of a stream, and the cloud's proof.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::envelope::{Envelope, EnvelopeHeader, HeaderForm};
use crate::error::WireError;
use crate::frame::{self, Kind};
use crate::group::Membership;
use crate::merkle::{Digest, leaf_of};
use crate::reader::{Reader, write_name};
use crate::signature;
use crate::stream::StreamHeader;
use crate::window::WindowHead;

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
    signature: [u8; 64],
}

/// An envelope without its ciphertext: its header, the ciphertext's digest and the device's signature.
///
/// It proves that the device signed the window to anyone who has the device's verifying key.
///
/// ```
/// use sotto_keys::SigningIdentity;
/// use sotto_wire::{Envelope, SignedHeader};
/// # use sotto_rlwe::{KeyId, ParameterId};
/// # use sotto_wire::{CompactCiphertext, CompactForm, EnvelopeHeader, MaskName};
/// # let (parameters, key) = (ParameterId([1; 32]), KeyId([2; 16]));
/// # let form = CompactForm { parameters, key, places: 24, width: 12 };
/// # let mask = MaskName { salt: [3; 12], sequence: 7 };
/// # let body = CompactCiphertext { form, mask, body: vec![0xa5; form.bytes(24)] }.write()?;
/// # let device = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
/// # let header = EnvelopeHeader {
/// #     device: "cellar".into(),
/// #     stream: "boiler".into(),
/// #     sequence: 7,
/// #     parameters,
/// #     key,
/// #     started_at: 1_795_000_000_000,
/// #     ended_at: 1_795_000_003_000,
/// #     readings: 4,
/// #     layout: b"{}".to_vec(),
/// # };
///
/// let envelope: Envelope = Envelope::sign(header, body, |message| device.sign(message))?;
/// let proof = SignedHeader::of(&envelope)?.write()?; // without the ciphertext
/// let signed = SignedHeader::read(&proof, 1 << 20)?;
/// signed.verify(&device.verifying_key())?;
/// assert_eq!(signed.header, envelope.header);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedHeader {
    /// The header.
    pub header: EnvelopeHeader,
    /// The digest of the ciphertext's frame; in version 2 the digest of its body.
    pub body_digest: [u8; 32],
    signature: [u8; 64],
    form: HeaderForm,
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
        sign: impl FnOnce(&[u8]) -> [u8; 64],
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
        Ok(frame::write(Kind::PositionRequest, fields.len() + 64, |out| {
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

impl SignedHeader {
    /// Returns the signed part of an envelope.
    ///
    /// # Errors
    /// [`WireError`] if the body is not a frame.
    pub fn of(envelope: &Envelope) -> Result<Self, WireError> {
        let Envelope { header, body, signature, form } = envelope.clone();
        Ok(Self { header, body_digest: form.body_digest(&body)?, signature, form })
    }

    /// Returns the frame; in version 2 it includes the stream's header.
    ///
    /// # Errors
    /// [`WireError::Value`] if the header cannot be written.
    pub fn write(&self) -> Result<Vec<u8>, WireError> {
        let (kind, header) = match &self.form {
            HeaderForm::Whole => (Kind::SignedHeader, self.header.bytes()?),
            HeaderForm::Window { stream, head, group } => {
                let place = group.as_ref().map(Membership::bytes).unwrap_or_default();
                (Kind::SignedWindow, [stream.payload(), &place, head].concat())
            }
        };
        Ok(frame::write(kind, header.len() + 96, |out| {
            out.extend_from_slice(&header);
            out.extend_from_slice(&self.body_digest);
            out.extend_from_slice(&self.signature);
        }))
    }

    /// Reads a frame of at most `limit` bytes. Does not check the signature: see [`SignedHeader::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a frame of a signed header.
    pub fn read(bytes: &[u8], limit: u64) -> Result<Self, WireError> {
        let (mut reader, header, form);
        if frame::frame_kind(bytes)? == Kind::SignedWindow {
            reader = frame::open(bytes, Kind::SignedWindow, limit)?;
            let stream = Arc::new(StreamHeader::parse(&mut reader)?);
            let group = Membership::parse(&mut reader)?;
            let rest = reader.rest();
            header = WindowHead::parse(&mut reader, &stream)?.header(&stream)?;
            let head = rest[..rest.len() - reader.left()].to_vec();
            form = HeaderForm::Window { stream, head, group };
        } else {
            reader = frame::open(bytes, Kind::SignedHeader, limit)?;
            (header, form) = (EnvelopeHeader::parse(&mut reader)?, HeaderForm::Whole);
        }
        let (body_digest, signature) = (reader.array()?, reader.array()?);
        reader.finish()?;
        Ok(Self { header, body_digest, signature, form })
    }

    /// Returns the header's leaf in the stream's log: BLAKE3 of a zero byte and the frame.
    ///
    /// # Errors
    /// Those of [`SignedHeader::write`].
    pub fn leaf(&self) -> Result<Digest, WireError> {
        Ok(leaf_of(&[&self.write()?]))
    }

    /// Returns the stream of a version-2 window; None for version 1.
    #[must_use]
    pub fn window_stream(&self) -> Option<&Arc<StreamHeader>> {
        match &self.form {
            HeaderForm::Whole => None,
            HeaderForm::Window { stream, .. } => Some(stream),
        }
    }

    /// Returns true if the signature is all zeros.
    #[must_use]
    pub fn is_unsigned(&self) -> bool {
        self.signature == [0; 64]
    }

    /// Returns true if the window is encrypted under the mask of its fleet.
    #[must_use]
    pub fn is_under_shared_mask(&self) -> bool {
        let HeaderForm::Window { stream, head, .. } = &self.form else { return false };
        WindowHead::parse(&mut Reader::new(head), stream).is_ok_and(|head| head.mask.is_shared())
    }

    /// Checks the signature against a device's Ed25519 verifying key, as [`Envelope::verify`] does.
    ///
    /// # Errors
    /// [`WireError::Signature`] if the signature is not valid under the key.
    pub fn verify(&self, verifying_key: &[u8; 32]) -> Result<(), WireError> {
        self.form.verify(&self.header, &self.body_digest, &self.signature, verifying_key)
    }
}
