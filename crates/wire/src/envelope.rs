//! The signed envelope in which a device sends a ciphertext.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use sotto_pack::WindowDescription;
use sotto_rlwe::{KeyId, ParameterId};

use crate::ciphertext::CiphertextHeader;
use crate::compact::{CompactCiphertext, MaskName};
use crate::error::WireError;
use crate::frame::{self, Kind, frame_digest};
use crate::group::{self, Membership};
use crate::reader::{Reader, write_name};
use crate::signature;
use crate::stream::StreamHeader;
use crate::window::{self, SIGNATURE_BYTES, WindowHead, stream_tag};

/// The largest envelope: 64 MiB.
pub const LARGEST_ENVELOPE: u64 = 64 << 20;
/// Length in characters of the longest upload key: two names of 64, two numbers of 20 digits, two dots and a hyphen.
pub const LONGEST_UPLOAD_KEY: usize = 64 + 64 + 20 + 2 + 21;
/// The longest layout description: 16 KiB, in bytes.
pub const LARGEST_LAYOUT: usize = 16 << 10;
const SIGNATURE_CONTEXT: &[u8] = b"sotto envelope v1";

/// The description of a window of readings that the cloud sees. All of it is signed.
///
/// Example: [`Envelope`]
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

/// A window's header, its ciphertext's frame, and the device's Ed25519 signature over the header and the ciphertext's
/// digest.
///
/// There are two versions. Version 1 is one frame. Version 2, for compact windows, is shorter: its head has only the
/// fields that differ between windows of a stream, so a reader needs the [`StreamHeader`]. Its signature covers one
/// window, or a [`WindowGroup`](crate::WindowGroup) that the window belongs to.
///
/// ```
/// use sotto_keys::SigningIdentity;
/// use sotto_wire::{Envelope, EnvelopeHeader};
/// # use sotto_rlwe::{KeyId, ParameterId};
/// # use sotto_wire::{CompactCiphertext, CompactForm, MaskName};
/// # let (parameters, key) = (ParameterId([1; 32]), KeyId([2; 16]));
/// # let form = CompactForm { parameters, key, places: 24, width: 12 };
/// # let mask = MaskName { salt: [3; 12], sequence: 7 };
/// # let body = CompactCiphertext { form, mask, body: vec![0xa5; form.bytes(24)] }.write()?;
/// # let device = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
///
/// let header = EnvelopeHeader {
///     device: "cellar".into(),
///     stream: "boiler".into(),
///     sequence: 7,
///     parameters,
///     key,
///     started_at: 1_795_000_000_000,
///     ended_at: 1_795_000_003_000,
///     readings: 4,
///     layout: b"{}".to_vec(),
/// };
/// let envelope = Envelope::sign(header, body, |message| device.sign(message))?;
/// // The cloud checks the signature with the device's registered key.
/// let mut received = Envelope::read(&envelope.write()?, 1 << 20)?;
/// received.verify(&device.verifying_key())?;
/// received.header.readings = 5;
/// assert!(received.verify(&device.verifying_key()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    /// The header.
    pub header: EnvelopeHeader,
    /// The ciphertext's frame.
    pub body: Vec<u8>,
    pub(crate) signature: [u8; SIGNATURE_BYTES],
    pub(crate) form: HeaderForm,
}

/// The form in which a header is signed and sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum HeaderForm {
    /// Version 1: the header itself.
    Whole,
    /// Version 2: a window's head, read together with its stream's header.
    Window {
        /// The stream.
        stream: Arc<StreamHeader>,
        /// The head, as bytes.
        head: Vec<u8>,
        /// The window's place in the signed group; `None` if the signature covers this window alone.
        group: Option<Membership>,
    },
}

impl EnvelopeHeader {
    /// Returns the idempotency key of the upload: `device.stream.sequence`, at most [`LONGEST_UPLOAD_KEY`] visible
    /// ASCII characters. Names contain no other characters.
    #[must_use]
    pub fn upload_key(&self) -> String {
        format!("{}.{}.{}", self.device, self.stream, self.sequence)
    }

    /// Returns the header of a version-2 window from the head that [`Envelope::window`] returns.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not the head of a window of this stream.
    pub fn of_window(head: &[u8], stream: &StreamHeader) -> Result<Self, WireError> {
        let mut reader = Reader::new(head);
        let parsed = WindowHead::parse(&mut reader, stream)?;
        reader.finish()?;
        parsed.header(stream)
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

impl HeaderForm {
    /// Returns the message that the signature covers.
    fn signed(&self, header: &EnvelopeHeader, body_digest: &[u8; 32]) -> Result<Vec<u8>, WireError> {
        Ok(match self {
            Self::Whole => [SIGNATURE_CONTEXT, &header.bytes()?, body_digest].concat(),
            Self::Window { stream, head, group: None } => window::signed_message(stream, head, body_digest),
            Self::Window { stream, head, group: Some(member) } => {
                group::signed_message(stream, member.count, &member.root(group::leaf(head, body_digest)))
            }
        })
    }

    /// Returns the digest of a ciphertext's frame (version 1), or of a window's body without its frame (version 2).
    pub(crate) fn body_digest(&self, body: &[u8]) -> Result<[u8; 32], WireError> {
        match self {
            Self::Whole => frame_digest(body),
            Self::Window { .. } => Ok(blake3::hash(window::mask_and_body(body)?.1).into()),
        }
    }

    /// Checks a device's signature over a header and its ciphertext's digest.
    pub(crate) fn verify(
        &self,
        header: &EnvelopeHeader,
        body_digest: &[u8; 32],
        signature: &[u8; SIGNATURE_BYTES],
        verifying_key: &[u8; 32],
    ) -> Result<(), WireError> {
        signature::verify(&self.signed(header, body_digest)?, signature, verifying_key)
    }
}

impl Envelope {
    /// Signs a ciphertext's frame as an envelope of version 1.
    ///
    /// # Errors
    /// [`WireError`] if the header cannot be written or the body is not a frame.
    pub fn sign(
        header: EnvelopeHeader,
        body: Vec<u8>,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        Self::signed(header, body, HeaderForm::Whole, sign)
    }

    /// Signs the frame of a stream's compact ciphertext as an envelope of version 2.
    ///
    /// # Errors
    /// [`WireError`] if the description, the sequence number or the ciphertext does not match the stream.
    pub fn sign_window(
        stream: &Arc<StreamHeader>,
        sequence: u64,
        description: WindowDescription,
        body: &[u8],
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        let (mask, coefficients) = window::mask_and_body(body)?;
        let head = WindowHead { sequence, mask, description };
        let (header, bytes) = (head.header(stream)?, head.bytes(stream)?);
        let ciphertext = head.ciphertext(stream, coefficients)?;
        if ciphertext != body {
            return Err(WireError::Value("the ciphertext is not that of a window of the stream"));
        }
        let form = HeaderForm::Window { stream: Arc::clone(stream), head: bytes, group: None };
        Self::signed(header, ciphertext, form, sign)
    }

    fn signed(
        header: EnvelopeHeader,
        body: Vec<u8>,
        form: HeaderForm,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        let signature = sign(&form.signed(&header, &form.body_digest(&body)?)?);
        Ok(Self { header, body, signature, form })
    }

    /// Signs the envelope again under another sequence number. A compact window keeps its mask, which carries the
    /// number of its encryption.
    ///
    /// # Errors
    /// [`WireError::Value`] if the new number is smaller than the mask's.
    pub fn renumbered(
        self,
        sequence: u64,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        let Self { header, body, form, .. } = self;
        match form {
            HeaderForm::Whole => Self::sign(EnvelopeHeader { sequence, ..header }, body, sign),
            HeaderForm::Window { stream, head, .. } => {
                let WindowHead { description, .. } = WindowHead::parse(&mut Reader::new(&head), &stream)?;
                Self::sign_window(&stream, sequence, description, &body, sign)
            }
        }
    }

    /// Returns the bytes to send.
    ///
    /// # Errors
    /// [`WireError`] if the header cannot be written.
    pub fn write(&self) -> Result<Vec<u8>, WireError> {
        match &self.form {
            HeaderForm::Whole => {
                let header = self.header.bytes()?;
                Ok(frame::write(
                    Kind::Envelope,
                    4 + header.len() + self.body.len() + SIGNATURE_BYTES,
                    |out| {
                        out.extend_from_slice(&(header.len() as u32).to_le_bytes());
                        out.extend_from_slice(&header);
                        out.extend_from_slice(&self.body);
                        out.extend_from_slice(&self.signature);
                    },
                ))
            }
            HeaderForm::Window { head, group, .. } => {
                let place = group.as_ref().map(Membership::bytes).unwrap_or_default();
                Ok([&place, head, window::mask_and_body(&self.body)?.1, &self.signature[..]].concat())
            }
        }
    }

    /// Reads an envelope of version 1 of at most `limit` bytes.
    ///
    /// Checks the frames of envelope and body, and that header and body name the same parameters and key. Does not
    /// check the signature: see [`Envelope::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a version-1 envelope; [`WireError::UnknownStream`] if they are one of version
    /// 2.
    pub fn read(bytes: &[u8], limit: u64) -> Result<Self, WireError> {
        match stream_tag(bytes)? {
            Some(stream) => Err(WireError::UnknownStream(stream)),
            None => Self::read_whole(bytes, limit),
        }
    }

    /// Reads an envelope of version 2: a window of this stream, alone or as a member of a group. Does not check the
    /// signature: see [`Envelope::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a window of the stream.
    pub fn read_window(bytes: &[u8], stream: &Arc<StreamHeader>) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let group = Membership::parse(&mut reader)?;
        let window = reader.rest();
        let head = WindowHead::parse(&mut reader, stream)?;
        let head_bytes = window[..window.len() - reader.left()].to_vec();
        let too_short =
            WireError::Truncated { expected: SIGNATURE_BYTES as u64, found: reader.left() as u64 };
        let body = reader.take(reader.left().checked_sub(SIGNATURE_BYTES).ok_or(too_short)?)?;
        let (header, body) = (head.header(stream)?, head.ciphertext(stream, body)?);
        let form = HeaderForm::Window { stream: Arc::clone(stream), head: head_bytes, group };
        Ok(Self { header, body, signature: reader.array()?, form })
    }

    fn read_whole(bytes: &[u8], limit: u64) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::Envelope, limit.min(LARGEST_ENVELOPE))?;
        let length = reader.u32()? as usize;
        let mut header_reader = Reader::new(reader.take(length)?);
        let header = EnvelopeHeader::parse(&mut header_reader)?;
        header_reader.finish()?;
        let too_short = WireError::Truncated { expected: 64, found: reader.left() as u64 };
        let body_length = reader.left().checked_sub(SIGNATURE_BYTES).ok_or(too_short)?;
        let body = reader.take(body_length)?;
        let (parameters, key) = match frame::frame_kind(body)? {
            Kind::CompactCiphertext => {
                let CompactCiphertext { form, mask, .. } = CompactCiphertext::read(body)?;
                if mask.sequence > header.sequence {
                    return Err(WireError::Value(
                        "a window's mask has a number that comes after the window's",
                    ));
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
        Ok(Self { header, body: body.to_vec(), signature: reader.array()?, form: HeaderForm::Whole })
    }

    /// Returns bytes that can be read on their own: an envelope of version 2 together with its stream's header.
    ///
    /// # Errors
    /// Those of [`Envelope::write`].
    pub fn write_kept(&self) -> Result<Vec<u8>, WireError> {
        let message = self.write()?;
        let HeaderForm::Window { stream, .. } = &self.form else { return Ok(message) };
        let bytes = stream.payload().len() + message.len();
        Ok(frame::write(Kind::KeptWindow, bytes, |out| {
            out.extend_from_slice(stream.payload());
            out.extend_from_slice(&message);
        }))
    }

    /// Reads the bytes that [`Envelope::write_kept`] returned, at most `limit`.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are neither a version-1 envelope nor a version-2 envelope with its stream's header.
    pub fn read_kept(bytes: &[u8], limit: u64) -> Result<Self, WireError> {
        if frame::frame_kind(bytes)? != Kind::KeptWindow {
            return Self::read_whole(bytes, limit);
        }
        let mut reader = frame::open(bytes, Kind::KeptWindow, limit)?;
        let stream = Arc::new(StreamHeader::parse(&mut reader)?);
        Self::read_window(reader.rest(), &stream)
    }

    /// Returns the stream and the head, which precedes the body, of a version-2 envelope. Returns None for version 1.
    #[must_use]
    pub fn window(&self) -> Option<(&Arc<StreamHeader>, &[u8])> {
        match &self.form {
            HeaderForm::Whole => None,
            HeaderForm::Window { stream, head, .. } => Some((stream, head)),
        }
    }

    /// Returns the digest of head and body of a version-2 window; None for version 1. It does not depend on the group.
    ///
    /// # Errors
    /// [`WireError`] if the body is not the frame of a window's ciphertext.
    pub fn window_digest(&self) -> Result<Option<[u8; 32]>, WireError> {
        let HeaderForm::Window { head, .. } = &self.form else { return Ok(None) };
        Ok(Some(group::leaf(head, &self.form.body_digest(&self.body)?)))
    }

    /// Returns the window's size within its group, in bytes: head, body and its share of the signature, rounded up.
    /// This is at least its size in the group's message. Returns None if the envelope has a signature of its own.
    #[must_use]
    pub fn member_bytes(&self) -> Option<usize> {
        let HeaderForm::Window { head, group: Some(member), .. } = &self.form else { return None };
        let (_, body) = window::mask_and_body(&self.body).ok()?;
        Some(head.len() + body.len() + SIGNATURE_BYTES.div_ceil(member.count.into()))
    }

    /// Returns the name of a compact window's mask; None for other ciphertexts.
    #[must_use]
    pub fn mask(&self) -> Option<MaskName> {
        window::mask_and_body(&self.body).ok().map(|(mask, _)| mask)
    }

    /// Checks the signature against a device's Ed25519 verifying key.
    ///
    /// # Errors
    /// [`WireError::Signature`] if the signature is not valid under the key.
    pub fn verify(&self, verifying_key: &[u8; 32]) -> Result<(), WireError> {
        let digest = self.form.body_digest(&self.body)?;
        self.form.verify(&self.header, &digest, &self.signature, verifying_key)
    }
}

/// Returns the digest of an envelope that a receipt names: in version 1 the digest that ends the frame, in version 2
/// the BLAKE3 hash of all bytes.
///
/// # Errors
/// [`WireError::Truncated`] if the bytes are shorter than a frame.
pub fn message_digest(bytes: &[u8]) -> Result<[u8; 32], WireError> {
    match stream_tag(bytes)? {
        Some(_) => Ok(blake3::hash(bytes).into()),
        None => frame_digest(bytes),
    }
}
