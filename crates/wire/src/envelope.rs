//! The signed envelope in which a device sends a ciphertext.

use alloc::borrow::Cow;
use alloc::string::ToString;
use alloc::sync::Arc;
use alloc::vec::Vec;

use sotto_pack::WindowDescription;
use sotto_sums::Part;

use crate::body::Body;
use crate::error::WireError;
use crate::family;
use crate::frame::{self, FRAME_OVERHEAD, frame_digest, frame_kind};
use crate::hash::{Digest, digest};
use crate::header::EnvelopeHeader;
use crate::kind::Kind;
use crate::mask::MaskName;
use crate::reader::Reader;
use crate::signature::SIGNATURE_BYTES;
use crate::signed::{SignedHeader, SignedWindow, read_header};
use crate::stream::StreamHeader;
use crate::window::{WindowHead, stream_tag};

/// The largest envelope: 64 MiB.
pub const LARGEST_ENVELOPE: u64 = 64 << 20;

/// A window's header, its ciphertext's frame, and the device's Ed25519 signature over the header and the ciphertext's
/// digest.
///
/// There are two versions. Version 1 is one frame. Version 2, for windows of slots and of sums, is shorter: its head has only the
/// fields that differ between windows of a stream, so a reader needs the [`StreamHeader`]. Its signature covers one
/// window, or a [`WindowGroup`](crate::WindowGroup) that the window belongs to.
///
/// ```
/// use sotto_keys::SigningIdentity;
/// use sotto_wire::{Envelope, EnvelopeHeader};
/// # use sotto_keys::{DeviceSecret, SecretKey};
/// # use sotto_rlwe::{Bfv, Params, Scheme};
/// # use sotto_wire::AnyCiphertext;
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let key = SecretKey::derive(&DeviceSecret::from_bytes(&[7; 32]), &params);
/// # let plain = Bfv::encode_slots(&params, &[215, 198], params.top_level())?;
/// # let body = AnyCiphertext::Seeded(key.encrypt(&plain, &mut sotto_ring::secure_rng()?)?).write();
/// # let device = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
///
/// let header = EnvelopeHeader {
///     device: "cellar".into(),
///     stream: "boiler".into(),
///     sequence: 7,
///     parameters: params.id(),
///     key: key.id(),
///     started_at: 1_795_000_000_000,
///     ended_at: 1_795_000_003_000,
///     readings: 4,
///     layout: b"{}".to_vec(),
/// };
/// let envelope = Envelope::sign(header, body, |message| device.sign(message))?;
/// // The cloud checks the signature with the device's registered key.
/// let received = Envelope::read(&envelope.write(), 1 << 20)?;
/// received.verify(&device.verifying_key())?;
/// assert_eq!(received.header().readings, 4);
/// let stranger = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
/// assert!(received.verify(&stranger.verifying_key()).is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Envelope {
    signed: SignedHeader,
    body: Body,
}

impl SignedHeader {
    /// Returns the signed part of an envelope.
    #[must_use]
    pub fn of(envelope: &Envelope) -> Self {
        envelope.signed.clone()
    }
}

impl Envelope {
    /// Signs a ciphertext's frame as an envelope of version 1.
    ///
    /// # Errors
    /// [`WireError`] if the header cannot be written or the body is not the frame of a ciphertext.
    pub fn sign(
        header: EnvelopeHeader,
        body: Vec<u8>,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        header.check()?;
        let body = whole_body(body.into(), u64::MAX)?;
        Ok(Self { signed: SignedHeader::sign(header, None, *body.digest(), sign), body })
    }

    /// Signs the frame of a window of slots as an envelope of version 2.
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
        let given = Body::read(body, u64::MAX)?;
        let (Some(mask), Some(coefficients)) = (given.mask(), given.coefficients()) else {
            let found = given.kind().to_string();
            return Err(WireError::Kind { expected: Kind::SlotsWindow, found });
        };
        let head = WindowHead { sequence, mask, description, receipt: None };
        let (header, window) = (head.header(stream)?, SignedWindow::of(&head, stream)?);
        let body = Body::of_window(&head, stream, coefficients)?;
        if !body.is_same(&given) {
            return Err(WireError::Value("the ciphertext is not that of a window of the stream"));
        }
        Ok(Self { signed: SignedHeader::sign(header, Some(window), *body.digest(), sign), body })
    }

    /// Signs a window of sums. `parts` are a body and a tag for each part of the stream, in order.
    ///
    /// # Errors
    /// [`WireError`] if the stream is not one of sums, or the description or the parts are not those of a window of it.
    pub fn sign_sums(
        stream: &Arc<StreamHeader>,
        sequence: u64,
        mask: MaskName,
        description: WindowDescription,
        parts: &[u8],
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        if !stream.is_of_sums() {
            return Err(WireError::Value("the stream is not one of sums"));
        }
        let head = WindowHead { sequence, mask, description, receipt: None };
        let (window, header) = (SignedWindow::of(&head, stream)?, head.header(stream)?);
        let body = Body::of_window(&head, stream, parts)?;
        let window = window.tagged(&body);
        Ok(Self { signed: SignedHeader::sign(header, Some(window), *body.digest(), sign), body })
    }

    /// Returns a part of a window of sums: its body and its tag.
    ///
    /// # Errors
    /// [`WireError::Value`] if the window is not one of sums, or lacks the part.
    pub fn part(&self, part: usize) -> Result<Part<'_>, WireError> {
        let window = self.signed.window().ok_or(WireError::Value("the window is not one of sums"))?;
        window.stream.part_of(part, window.numbers.sent, self.coefficients())
    }

    /// Joins a signed header with the ciphertext whose digest it has.
    pub(crate) fn from_parts(signed: SignedHeader, body: Body) -> Self {
        Self { signed, body }
    }

    pub(crate) fn into_parts(self) -> (SignedHeader, Body) {
        (self.signed, self.body)
    }

    /// Returns the signed facts without the body.
    #[must_use]
    pub fn header(&self) -> &EnvelopeHeader {
        self.signed.header()
    }

    /// Returns the signed part: everything but the ciphertext.
    #[must_use]
    pub fn signed_header(&self) -> &SignedHeader {
        &self.signed
    }

    /// Returns the ciphertext.
    #[must_use]
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// Returns the ciphertext, without the signed part.
    #[must_use]
    pub fn into_body(self) -> Body {
        self.body
    }

    /// Returns the bytes to send.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let signature = self.signed.signature();
        match self.signed.window() {
            None => {
                let (header, body) = (self.header().bytes(), self.body.frame());
                frame::write(Kind::Envelope, self.whole_bytes(), |out| {
                    out.extend_from_slice(&(header.len() as u32).to_le_bytes());
                    out.extend_from_slice(&header);
                    out.extend_from_slice(&body);
                    out.extend_from_slice(signature);
                })
            }
            Some(window) => [&window.before_body(), self.coefficients(), &signature[..]].concat(),
        }
    }

    /// Returns the coefficients of a window; nothing for other ciphertexts.
    pub(crate) fn coefficients(&self) -> &[u8] {
        self.body.coefficients().unwrap_or_default()
    }

    /// Reads an envelope of version 1 of at most `limit` bytes.
    ///
    /// Checks the frames of envelope and body, and that header and body name the same parameters and key. Does not
    /// check the signature: see [`Envelope::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a version-1 envelope; [`WireError::UnknownStream`] if they are one of version
    /// 2; [`WireError::Places`] if its ciphertext is one of places.
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
    /// [`WireError`] if the bytes are not a window of the stream; [`WireError::Places`] if the stream is one of places.
    pub fn read_window(bytes: &[u8], stream: &Arc<StreamHeader>) -> Result<Self, WireError> {
        if stream.is_of_places() {
            return Err(WireError::Places);
        }
        let mut reader = Reader::new(bytes);
        let (window, head, place) = SignedWindow::parse(&mut reader, stream)?;
        let coefficients = reader.take_but(SIGNATURE_BYTES)?;
        let header = head.header(stream)?;
        let body = Body::of_window(&head, stream, coefficients)?;
        let window = window.tagged(&body).placed(place, body.digest());
        let signed = SignedHeader::from_parts(header, Some(window), *body.digest(), reader.array()?);
        Ok(Self { signed, body })
    }

    fn read_whole(bytes: &[u8], limit: u64) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::Envelope, limit.min(LARGEST_ENVELOPE))?;
        let header = read_header(&mut reader)?;
        let body = whole_body(reader.take_but(SIGNATURE_BYTES)?.into(), limit)?;
        let (parameters, key) = (body.parameters(), body.key());
        if parameters != header.parameters {
            return Err(WireError::Parameters { expected: header.parameters, found: parameters });
        }
        if key != header.key {
            return Err(WireError::Key { expected: header.key, found: key });
        }
        let signed = SignedHeader::from_parts(header, None, *body.digest(), reader.array()?);
        Ok(Self { signed, body })
    }

    /// Returns bytes that can be read on their own: an envelope of version 2 together with its stream's header.
    #[must_use]
    pub fn write_kept(&self) -> Vec<u8> {
        let message = self.write();
        let Some(SignedWindow { stream, .. }) = self.signed.window() else { return message };
        let bytes = stream.payload().len() + message.len();
        frame::write(stream.family().kept, bytes, |out| {
            out.extend_from_slice(stream.payload());
            out.extend_from_slice(&message);
        })
    }

    /// Reads the bytes that [`Envelope::write_kept`] returned, at most `limit`.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are neither a version-1 envelope nor a version-2 envelope with its stream's header;
    /// [`WireError::Places`] if they are of a window of places.
    pub fn read_kept(bytes: &[u8], limit: u64) -> Result<Self, WireError> {
        let kind = frame_kind(bytes)?;
        let Some(family) = family::ALL.iter().find(|family| family.kept == kind) else {
            return Self::read_whole(bytes, limit);
        };
        let mut reader = frame::open(bytes, kind, limit)?;
        let stream = Arc::new(StreamHeader::parse(family, &mut reader)?);
        Self::read_window(reader.rest(), &stream)
    }

    /// Returns the stream and the head, which precedes the body, of a version-2 envelope. Returns None for version 1.
    #[must_use]
    pub fn window(&self) -> Option<(&Arc<StreamHeader>, &[u8])> {
        self.signed.window_head()
    }

    /// Returns true for a version-2 window that comes in the place of others.
    #[must_use]
    pub fn replaces(&self) -> bool {
        self.signed.replaces()
    }

    /// Returns true for a version-2 window that can only be the first of a group: it comes in the place of others, or is
    /// provisional.
    #[must_use]
    pub fn begins_group(&self) -> bool {
        self.signed.begins_group()
    }

    /// Returns the digest of head and body of a version-2 window; None for version 1. It does not depend on the group.
    /// A member of a group keeps it; for another window it is computed.
    #[must_use]
    pub fn window_digest(&self) -> Option<Digest> {
        self.signed.window_digest()
    }

    /// Returns the window's size within its group, in bytes: head, body and its share of the signature, rounded up.
    /// This is at least its size in the group's message. Returns None if the envelope has a signature of its own.
    #[must_use]
    pub fn member_bytes(&self) -> Option<usize> {
        let window = self.signed.window()?;
        let share = SIGNATURE_BYTES.div_ceil(window.member.as_ref()?.place.count.into());
        Some(window.bytes.len() + self.coefficients().len() + share)
    }

    /// Returns the number of bytes to send.
    #[must_use]
    pub fn message_bytes(&self) -> usize {
        match self.signed.window() {
            None => FRAME_OVERHEAD + self.whole_bytes(),
            Some(window) => window.before_body().len() + self.coefficients().len() + SIGNATURE_BYTES,
        }
    }

    /// Returns the length in bytes of the payload of version 1.
    fn whole_bytes(&self) -> usize {
        4 + self.header().written_bytes() + self.body.frame_bytes() + SIGNATURE_BYTES
    }

    /// Returns the name of a window's mask or pads; None in version 1.
    #[must_use]
    pub fn mask(&self) -> Option<MaskName> {
        self.body.mask()
    }

    /// Checks the signature against a device's Ed25519 verifying key.
    ///
    /// # Errors
    /// [`WireError::Signature`] if the signature is not valid under the key.
    pub fn verify(&self, verifying_key: &[u8; 32]) -> Result<(), WireError> {
        self.signed.verify(verifying_key)
    }
}

/// Reads the body of an envelope of version 1, which is no window of slots.
fn whole_body(frame: Cow<'_, [u8]>, limit: u64) -> Result<Body, WireError> {
    match frame_kind(&frame)? {
        kind @ Kind::SlotsWindow => {
            Err(WireError::Kind { expected: Kind::Ciphertext, found: kind.to_string() })
        }
        _ => Body::read(frame, limit),
    }
}

/// Returns the digest of an envelope that a receipt names: in version 1 the digest that ends the frame, in version 2
/// the BLAKE3 hash of all bytes.
///
/// # Errors
/// [`WireError::Truncated`] if the bytes are shorter than a frame.
pub fn message_digest(bytes: &[u8]) -> Result<[u8; 32], WireError> {
    match stream_tag(bytes)? {
        Some(_) => Ok(digest(bytes)),
        None => frame_digest(bytes),
    }
}
