//! The signed part of an envelope: everything but the ciphertext.

use alloc::boxed::Box;
use alloc::sync::Arc;
use alloc::vec::Vec;

use sotto_pack::WindowDescription;
use sotto_sums::{TAG_BYTES, Tag};

use crate::body::Body;
use crate::error::WireError;
use crate::family;
use crate::frame;
use crate::hash::Digest;
use crate::header::EnvelopeHeader;
use crate::kind::Kind;
use crate::mask::MaskName;
use crate::membership::{self, Membership, leaf};
use crate::merkle::leaf_of;
use crate::reader::Reader;
use crate::signature::{self, SIGNATURE_BYTES};
use crate::stream::StreamHeader;
use crate::sums::part_refused;
use crate::window::{self, HeadNumbers, TakenReceipt, WindowHead};

const SIGNATURE_CONTEXT: &[u8] = b"sotto envelope v1";

/// An envelope without its ciphertext: its header, the ciphertext's digest and the device's signature.
///
/// It proves that the device signed the window to anyone who has the device's verifying key.
///
/// ```
/// use sotto_keys::SigningIdentity;
/// use sotto_wire::{Envelope, SignedHeader};
/// # use sotto_keys::{DeviceSecret, SecretKey};
/// # use sotto_rlwe::{Bfv, Params, Scheme};
/// # use sotto_wire::{AnyCiphertext, EnvelopeHeader};
/// # let params = Params::<Bfv>::default_chain(4096, 65_537)?;
/// # let key = SecretKey::derive(&DeviceSecret::from_bytes(&[7; 32]), &params);
/// # let plain = Bfv::encode_slots(&params, &[215, 198], params.top_level())?;
/// # let body = AnyCiphertext::Seeded(key.encrypt(&plain, &mut sotto_ring::secure_rng()?)?).write();
/// # let device = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
/// # let header = EnvelopeHeader {
/// #     device: "cellar".into(),
/// #     stream: "boiler".into(),
/// #     sequence: 7,
/// #     parameters: params.id(),
/// #     key: key.id(),
/// #     started_at: 1_795_000_000_000,
/// #     ended_at: 1_795_000_003_000,
/// #     readings: 4,
/// #     layout: b"{}".to_vec(),
/// # };
///
/// let envelope: Envelope = Envelope::sign(header, body, |message| device.sign(message))?;
/// let proof = SignedHeader::of(&envelope).write(); // without the ciphertext
/// let signed = SignedHeader::read(&proof, 1 << 20)?;
/// signed.verify(&device.verifying_key())?;
/// assert_eq!(signed.header(), envelope.header());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedHeader {
    header: EnvelopeHeader,
    body_digest: Digest,
    signature: [u8; SIGNATURE_BYTES],
    /// The signed form of the header in version 2; None in version 1, which signs the header itself.
    window: Option<Box<SignedWindow>>,
}

/// The head of a window of version 2, in the form that is signed and sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SignedWindow {
    pub(crate) stream: Arc<StreamHeader>,
    pub(crate) numbers: HeadNumbers,
    /// The bytes of the head.
    pub(crate) bytes: Vec<u8>,
    /// The tags of the parts of a window of sums, 8 bytes each.
    pub(crate) tags: Vec<u8>,
    /// The window's place in the signed group; None if the signature covers this window alone.
    pub(crate) member: Option<Member>,
}

/// A window as a member of a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Member {
    pub(crate) place: Membership,
    /// The window's leaf in the group's tree.
    pub(crate) leaf: Digest,
}

impl SignedWindow {
    /// Returns the signed form of a head that is a member of no group.
    ///
    /// # Errors
    /// Those of [`WindowHead::bytes`].
    pub(crate) fn of(head: &WindowHead, stream: &Arc<StreamHeader>) -> Result<Self, WireError> {
        let (numbers, bytes) = (head.numbers(), head.bytes(stream)?);
        Ok(Self { stream: Arc::clone(stream), numbers, bytes, tags: Vec::new(), member: None })
    }

    /// Reads the place in a group, if there is one, and the head. The reader then stands at the window's body.
    pub(crate) fn parse(
        reader: &mut Reader<'_>,
        stream: &Arc<StreamHeader>,
    ) -> Result<(Self, WindowHead, Option<Membership>), WireError> {
        let place = Membership::parse(stream.family(), reader)?;
        let rest = reader.rest();
        let head = WindowHead::parse(reader, stream)?;
        let bytes = rest[..rest.len() - reader.left()].to_vec();
        let (stream, numbers) = (Arc::clone(stream), head.numbers());
        Ok((Self { stream, numbers, bytes, tags: Vec::new(), member: None }, head, place))
    }

    /// Makes the window a member of a group, or of none.
    pub(crate) fn placed(self, place: Option<Membership>, body_digest: &Digest) -> Self {
        let member = place.map(|place| Member { place, leaf: leaf(&self.bytes, &self.tags, body_digest) });
        Self { member, ..self }
    }

    /// Takes the tags of a window of sums from its body.
    pub(crate) fn tagged(self, body: &Body) -> Self {
        Self { tags: body.tags(), ..self }
    }

    /// Returns true if the window comes in the place of others.
    pub(crate) fn replaces(&self) -> bool {
        self.flags() & window::REPLACES != 0
    }

    /// Returns true if the window is a piece of one that was still open.
    pub(crate) fn is_provisional(&self) -> bool {
        self.flags() & window::PROVISIONAL != 0
    }

    /// Returns true if the window can only be the first of a group: the flags of those that follow are all taken.
    pub(crate) fn begins_group(&self) -> bool {
        self.replaces() || self.is_provisional() || self.flags() & window::AFTER_RECEIPT != 0
    }

    /// Returns the flags of the head.
    pub(crate) fn flags(&self) -> u8 {
        self.numbers.lists_in(&self.bytes).0
    }

    /// Returns the digest of head and body.
    fn digest(&self, body_digest: &Digest) -> Digest {
        self.member.as_ref().map_or_else(|| self.own_leaf(body_digest), |member| member.leaf)
    }

    /// Returns the digest of head and body, computed anew.
    pub(crate) fn own_leaf(&self, body_digest: &Digest) -> Digest {
        leaf(&self.bytes, &self.tags, body_digest)
    }

    /// Returns the message that the signature covers.
    pub(crate) fn message(&self, body_digest: &Digest) -> Vec<u8> {
        let Self { stream, bytes, tags, member, .. } = self;
        match member {
            None => window::signed_message(stream, bytes, tags, body_digest),
            Some(Member { place, leaf }) => {
                membership::signed_message(stream, place.count, &place.root(*leaf))
            }
        }
    }

    /// Returns the bytes before the window's body: its place in a group, and its head.
    pub(crate) fn before_body(&self) -> Vec<u8> {
        let family = self.stream.family();
        let place = self.member.as_ref().map(|member| member.place.bytes(family)).unwrap_or_default();
        [&place[..], &self.bytes].concat()
    }
}

impl SignedHeader {
    /// Joins the parts of a header that was checked: those of [`EnvelopeHeader::check`], or of a window's head.
    pub(crate) fn from_parts(
        header: EnvelopeHeader,
        window: Option<SignedWindow>,
        body_digest: Digest,
        signature: [u8; SIGNATURE_BYTES],
    ) -> Self {
        Self { header, body_digest, signature, window: window.map(Box::new) }
    }

    /// Signs a header that was checked.
    pub(crate) fn sign(
        header: EnvelopeHeader,
        window: Option<SignedWindow>,
        body_digest: Digest,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Self {
        let mut signed = Self::from_parts(header, window, body_digest, [0; SIGNATURE_BYTES]);
        signed.signature = sign(&signed.message());
        signed
    }

    /// Returns the facts that the signature covers.
    #[must_use]
    pub fn header(&self) -> &EnvelopeHeader {
        &self.header
    }

    /// Returns the digest of the ciphertext's frame; in version 2 the digest of the window's body without a frame.
    #[must_use]
    pub fn body_digest(&self) -> &Digest {
        &self.body_digest
    }

    pub(crate) fn signature(&self) -> &[u8; SIGNATURE_BYTES] {
        &self.signature
    }

    /// Returns the window of version 2; None in version 1.
    pub(crate) fn window(&self) -> Option<&SignedWindow> {
        self.window.as_deref()
    }

    pub(crate) fn into_parts(self) -> (EnvelopeHeader, Option<SignedWindow>) {
        (self.header, self.window.map(|window| *window))
    }

    /// Returns the message that the signature covers.
    fn message(&self) -> Vec<u8> {
        match &self.window {
            None => [SIGNATURE_CONTEXT, &self.header.bytes(), &self.body_digest].concat(),
            Some(window) => window.message(&self.body_digest),
        }
    }

    /// Returns the digest of head and body of a window of version 2; None in version 1. It does not depend on the
    /// group.
    #[must_use]
    pub fn window_digest(&self) -> Option<Digest> {
        self.window().map(|window| window.digest(&self.body_digest))
    }

    /// Returns the frame; in version 2 it includes the stream's header.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let (kind, header) = match self.window() {
            None => (Kind::SignedHeader, self.header.bytes()),
            Some(window) => {
                let parts = [window.stream.payload(), &window.before_body(), &window.tags];
                (window.stream.family().signed, parts.concat())
            }
        };
        frame::write(kind, header.len() + 32 + SIGNATURE_BYTES, |out| {
            out.extend_from_slice(&header);
            out.extend_from_slice(&self.body_digest);
            out.extend_from_slice(&self.signature);
        })
    }

    /// Reads a frame of at most `limit` bytes. Does not check the signature: see [`SignedHeader::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a frame of a signed header.
    pub fn read(bytes: &[u8], limit: u64) -> Result<Self, WireError> {
        let kind = frame::frame_kind(bytes)?;
        if let Some(family) = family::ALL.iter().find(|family| family.signed == kind) {
            let mut reader = frame::open(bytes, kind, limit)?;
            let stream = Arc::new(StreamHeader::parse(family, &mut reader)?);
            let read = Self::parse_bare(&mut reader, &stream)?;
            reader.finish()?;
            return Ok(read);
        }
        let mut reader = frame::open(bytes, Kind::SignedHeader, limit)?;
        let header = EnvelopeHeader::parse(&mut reader)?;
        let (body_digest, signature) = (reader.array()?, reader.array()?);
        reader.finish()?;
        Ok(Self::from_parts(header, None, body_digest, signature))
    }

    /// Reads a signed window of this stream, without the stream's header.
    pub(crate) fn parse_bare(reader: &mut Reader<'_>, stream: &Arc<StreamHeader>) -> Result<Self, WireError> {
        let (window, head, place) = SignedWindow::parse(reader, stream)?;
        let tags = read_tags(reader, stream)?;
        let (body_digest, signature) = (reader.array()?, reader.array()?);
        let window = SignedWindow { tags, ..window }.placed(place, &body_digest);
        Ok(Self::from_parts(head.header(stream)?, Some(window), body_digest, signature))
    }

    /// Reads the signed header of a window of this stream, without the stream's header. Does not check the signature: see
    /// [`SignedHeader::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not those of [`SignedHeader::write_bare`] for a window of this stream.
    pub fn read_bare(bytes: &[u8], stream: &Arc<StreamHeader>) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let read = Self::parse_bare(&mut reader, stream)?;
        reader.finish()?;
        Ok(read)
    }

    /// Returns the bytes without the stream's header, for [`SignedHeader::read_bare`]; in version 1 the frame.
    #[must_use]
    pub fn write_bare(&self) -> Vec<u8> {
        match self.window() {
            None => self.write(),
            Some(window) => {
                [&window.before_body()[..], &window.tags, &self.body_digest, &self.signature].concat()
            }
        }
    }

    /// Returns the header's leaf in the stream's log: BLAKE3 of a zero byte and the frame.
    #[must_use]
    pub fn leaf(&self) -> Digest {
        leaf_of(&[&self.write()])
    }

    /// Returns true if the signature is all zeros.
    #[must_use]
    pub fn is_unsigned(&self) -> bool {
        self.signature == [0; SIGNATURE_BYTES]
    }

    /// Returns the header of a window's stream; None in version 1.
    #[must_use]
    pub fn stream(&self) -> Option<&Arc<StreamHeader>> {
        self.window().map(|window| &window.stream)
    }

    /// Returns the name of a window's mask or pads; None in version 1.
    #[must_use]
    pub fn mask(&self) -> Option<MaskName> {
        self.window().map(|window| window.numbers.mask)
    }

    /// Returns true for a window that comes in the place of others.
    #[must_use]
    pub fn replaces(&self) -> bool {
        self.window().is_some_and(SignedWindow::replaces)
    }

    /// Returns true for a provisional window: a piece of one that was still open.
    #[must_use]
    pub fn is_provisional(&self) -> bool {
        self.window().is_some_and(SignedWindow::is_provisional)
    }

    /// Returns the last receipt that the device took before it signed the window, if the window names one.
    #[must_use]
    pub fn taken_receipt(&self) -> Option<TakenReceipt> {
        let window = self.window().filter(|window| window.flags() & window::AFTER_RECEIPT != 0)?;
        WindowHead::parse(&mut Reader::new(&window.bytes), &window.stream).ok()?.receipt
    }

    /// Returns the window's index in its group, from 0, and the number of the group's windows. Returns None if the window has
    /// a signature of its own.
    #[must_use]
    pub fn place(&self) -> Option<(u8, u8)> {
        self.window()?.member.as_ref().map(|member| member.place.at())
    }

    /// Returns true if the window can only be the first of a group.
    #[must_use]
    pub fn begins_group(&self) -> bool {
        self.window().is_some_and(SignedWindow::begins_group)
    }

    /// Returns the header of a window's stream, and its head as [`EnvelopeHeader::of_window`] reads it; None in version 1.
    #[must_use]
    pub fn window_head(&self) -> Option<(&Arc<StreamHeader>, &[u8])> {
        self.window().map(|window| (&window.stream, &window.bytes[..]))
    }

    /// Returns the description of a window, without a detour over the text in its header; None in version 1.
    #[must_use]
    pub fn description(&self) -> Option<WindowDescription> {
        let window = self.window()?;
        window::window_description(&window.bytes, &window.stream).ok()
    }

    /// Returns true if both are windows of sums of one encryption: the same pads, bodies and tags. Two windows under one
    /// name that are not the same give away their difference, and make the tags of their stream worthless.
    #[must_use]
    pub fn is_same_encryption(&self, other: &Self) -> bool {
        self.stream() == other.stream()
            && self.mask() == other.mask()
            && self.body_digest == other.body_digest
    }

    /// Checks the signature against a device's Ed25519 verifying key, as
    /// [`Envelope::verify`](crate::Envelope::verify) does.
    ///
    /// # Errors
    /// [`WireError::Signature`] if the signature is not valid under the key.
    pub fn verify(&self, verifying_key: &[u8; 32]) -> Result<(), WireError> {
        signature::verify(&self.message(), &self.signature, verifying_key)
    }
}

/// Reads the header of an envelope of version 1, behind its length.
pub(crate) fn read_header(reader: &mut Reader<'_>) -> Result<EnvelopeHeader, WireError> {
    let length = reader.u32()? as usize;
    let mut header = Reader::new(reader.take(length)?);
    let read = EnvelopeHeader::parse(&mut header)?;
    header.finish()?;
    Ok(read)
}

/// Reads the tags of a window of sums without its bodies; none for windows of slots.
pub(crate) fn read_tags(reader: &mut Reader<'_>, stream: &StreamHeader) -> Result<Vec<u8>, WireError> {
    let mut tags = Vec::new();
    for _ in stream.parts() {
        let tag: [u8; TAG_BYTES] = reader.array()?;
        Tag::from_bytes(&tag).map_err(part_refused)?;
        tags.extend(tag);
    }
    Ok(tags)
}
