//! Windows of a stream of sums.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use sotto_sums::{Part, SALT_BYTES, TAG_BYTES};

use super::codec::{GROUP, MEMBER, VERSION, part_refused};
use super::head::SumsHead;
use super::header::SumsHeader;
use super::signed::{SignedSums, read_head};
use crate::error::WireError;
use crate::frame;
use crate::hash::{Digest, digest};
use crate::kind::Kind;
use crate::membership::Membership;
use crate::reader::Reader;
use crate::signature::SIGNATURE_BYTES;
use crate::tag::{STREAM_TAG_BYTES, StreamTag};

/// Largest number of bytes of a window in addition to its bodies and tags, if no reading is missing, its number is below
/// 2^21, it has at most 127 ticks and the time is before the year 10,000. Before September 2039 there is a byte less.
pub const SUMS_WINDOW_OVERHEAD: usize = 1 + STREAM_TAG_BYTES + SALT_BYTES + 3 + 7 + 1 + 1 + SIGNATURE_BYTES;

/// A window of a stream of sums: public facts, a body and a tag for each part, and the device's signature.
///
/// ```
/// use std::sync::Arc;
/// use sotto_keys::SigningIdentity;
/// use sotto_sums::{Encryptor, StreamKeys};
/// use sotto_wire::{PadName, SignedSums, SumsHead, SumsWindow};
/// # use sotto_rlwe::KeyId;
/// # use sotto_wire::{Digit, Placed, Quantity, SumsColumn, SumsHeader, SumsPart, SumsStream, TickPeriod};
/// # let level = SumsColumn {
/// #     name: "level".into(), unit: "cm".into(), origin: 0.0, step: 0.1, least: 0, most: 4095,
/// # };
/// # let readings = Placed { quantity: Quantity::Reading(0), digit: Digit::Whole, width: 23 };
/// # let stream = SumsStream {
/// #     device: "cellar".into(),
/// #     stream: "tank".into(),
/// #     period: TickPeriod::new(60, 1)?,
/// #     ticks: 16,
/// #     columns: vec![level],
/// #     parts: vec![SumsPart { quantities: vec![readings], reasons: 0 }],
/// # };
/// # let secret = [1; 32];
/// # let header = SumsHeader::new(stream, |id| KeyId(StreamKeys::derive(&secret, id).id()))?;
/// # let header = Arc::new(header);
/// # let device = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
///
/// // The device encrypts its readings: one part here.
/// let pad = PadName { salt: [3; 12], number: 7 };
/// let head = SumsHead::whole(&header, 7, pad, 1_795_000_000_000, 4);
/// let mut encryptor = Encryptor::new(&secret, header.stream_id(), &pad.salt, 0);
/// let form = header.form(0)?;
/// let mut part = vec![0; form.body_bytes(4)];
/// let readings = [215, 198, 187, 203].map(Some);
/// let tag = encryptor.window(7)?.encrypt(&form, 4, 0, readings, head.counts(&header, 0)?, &mut part)?;
/// part.extend(tag.to_bytes());
/// let window = SumsWindow::sign(&header, head, part, |message| device.sign(message))?;
///
/// // The cloud reads it, and checks the signature.
/// let received = SumsWindow::read(&window.write(), &header)?;
/// received.signed().verify(&device.verifying_key())?;
/// assert_eq!(received.part(0)?.tag(), tag);
/// assert_eq!(received.upload_key(), "cellar.tank.7");
/// // Facts and tags without the bodies.
/// let signed: SignedSums = SignedSums::read(&received.signed().write(), 1 << 10)?;
/// assert_eq!(signed.head(), received.signed().head());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SumsWindow {
    signed: SignedSums,
    /// A body and a tag for each part.
    parts: Vec<u8>,
}

/// Returns the tag of the stream of a window of sums, of a group, or of a member of a group. Returns None for other bytes.
///
/// # Errors
/// [`WireError`] if the message ends before the tag, or if its place in a group is impossible.
///
/// ```
/// use sotto_wire::{StreamTag, sums_tag};
///
/// assert_eq!(sums_tag(&[5, 1, 2, 3, 4, 5, 6, 7, 8, 9])?, Some(StreamTag([1, 2, 3, 4, 5, 6, 7, 8])));
/// assert_eq!(sums_tag(b"sott")?, None);
/// # Ok::<(), sotto_wire::WireError>(())
/// ```
pub fn sums_tag(message: &[u8]) -> Result<Option<StreamTag>, WireError> {
    let mut reader = Reader::new(message);
    match message.first() {
        Some(&VERSION) => {}
        Some(&GROUP) => drop(reader.take(2)?),
        Some(&MEMBER) => drop(Membership::parse_after(MEMBER, &mut reader)?),
        _ => return Ok(None),
    }
    reader.take(1)?;
    reader.array().map(|tag| Some(StreamTag(tag)))
}

impl SumsWindow {
    /// Signs a window. `parts` are a body and a tag for each part of the stream, in order.
    ///
    /// # Errors
    /// [`WireError`] if the head is not that of a window of the stream, or the parts are not those of such a window.
    pub fn sign(
        header: &Arc<SumsHeader>,
        head: SumsHead,
        parts: Vec<u8>,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        head.check(header)?;
        let head_bytes = head.bytes(header);
        let mut window = Self::of(header, head, head_bytes, parts)?;
        window.signed.signature = sign(&window.signed.message());
        Ok(window)
    }

    /// Signs the window again under another number. It keeps its pads, bodies and tags.
    ///
    /// # Errors
    /// [`WireError::Value`] if the new number is smaller than that of the pads.
    pub fn renumbered(
        self,
        sequence: u64,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        let Self { signed: SignedSums { header, head, .. }, parts } = self;
        Self::sign(&header, SumsHead { sequence, ..head }, parts, sign)
    }

    /// Joins a head that was checked and its parts. The signature is missing.
    pub(super) fn of(
        header: &Arc<SumsHeader>,
        head: SumsHead,
        head_bytes: Vec<u8>,
        parts: Vec<u8>,
    ) -> Result<Self, WireError> {
        let read = read_parts(header, head.sent_ticks(), &parts)?;
        let tags = read.iter().map(|part| part.tag().to_bytes()).collect();
        let (header, digest, signature) = (Arc::clone(header), digest(&parts), [0; SIGNATURE_BYTES]);
        let signed = SignedSums { header, head, head_bytes, tags, digest, signature, member: None };
        Ok(Self { signed, parts })
    }

    /// Places the window in a group, or in none, under a signature.
    pub(super) fn placed(self, member: Option<Membership>, signature: [u8; SIGNATURE_BYTES]) -> Self {
        let Self { signed, parts } = self;
        Self { signed: SignedSums { member, signature, ..signed }, parts }
    }

    /// Reads a window of this stream, alone or as a member of a group. Does not check the signature: see
    /// [`SignedSums::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a window of the stream.
    pub fn read(bytes: &[u8], header: &Arc<SumsHeader>) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        let member = Membership::parse_after(MEMBER, &mut reader)?;
        let (head, head_bytes) = read_head(&mut reader, header)?;
        let too_short =
            WireError::Truncated { expected: SIGNATURE_BYTES as u64, found: reader.left() as u64 };
        let (parts, signature) = reader.rest().split_last_chunk().ok_or(too_short)?;
        // Before anything is allocated for them.
        Reader::new(parts).expect_left(parts_bytes(header, head.sent_ticks())?)?;
        Ok(Self::of(header, head, head_bytes, parts.to_vec())?.placed(member, *signature))
    }

    /// Returns the bytes to send.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        [&self.signed.before_parts()[..], &self.parts, &self.signed.signature].concat()
    }

    /// Returns everything but the bodies.
    #[must_use]
    pub fn signed(&self) -> &SignedSums {
        &self.signed
    }

    /// Returns the bodies and tags of all parts.
    pub(super) fn parts(&self) -> &[u8] {
        &self.parts
    }

    /// Returns a part: its body and its tag.
    ///
    /// # Errors
    /// [`WireError::Value`] if the stream has no such part.
    pub fn part(&self, part: usize) -> Result<Part<'_>, WireError> {
        let (header, ticks) = (&self.signed.header, self.signed.head.sent_ticks());
        let form = header.form(part)?;
        let mut first = 0;
        for before in 0..part {
            first += header.form(before)?.body_bytes(ticks) + TAG_BYTES;
        }
        let bytes = self.parts.get(first..first + form.body_bytes(ticks) + TAG_BYTES).unwrap_or_default();
        Part::read(&form, ticks, bytes).map_err(part_refused)
    }

    /// Returns the idempotency key of the upload: `device.stream.sequence`.
    #[must_use]
    pub fn upload_key(&self) -> String {
        let stream = self.signed.header.stream();
        format!("{}.{}.{}", stream.device, stream.stream, self.signed.head.sequence)
    }

    /// Returns the digest that a receipt names: BLAKE3 of all bytes to send.
    #[must_use]
    pub fn message_digest(&self) -> Digest {
        digest(&self.write())
    }

    /// Returns bytes that can be read alone: the window with its stream's header.
    #[must_use]
    pub fn write_kept(&self) -> Vec<u8> {
        let (payload, message) = (self.signed.header.payload(), self.write());
        frame::write(Kind::KeptSumsWindow, payload.len() + message.len(), |out| {
            out.extend_from_slice(payload);
            out.extend_from_slice(&message);
        })
    }

    /// Reads the bytes that [`SumsWindow::write_kept`] returned, at most `limit`.
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a window of sums with its stream's header.
    pub fn read_kept(bytes: &[u8], limit: u64) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::KeptSumsWindow, limit)?;
        let header = Arc::new(SumsHeader::parse(&mut reader)?);
        Self::read(reader.rest(), &header)
    }
}

/// Returns the bytes of all parts of a window of this many ticks.
pub(super) fn parts_bytes(header: &SumsHeader, ticks: u32) -> Result<usize, WireError> {
    (0..header.stream().parts.len()).map(|part| Ok(header.form(part)?.body_bytes(ticks) + TAG_BYTES)).sum()
}

/// Reads all parts of a window.
fn read_parts<'p>(header: &'p SumsHeader, ticks: u32, bytes: &'p [u8]) -> Result<Vec<Part<'p>>, WireError> {
    let mut reader = Reader::new(bytes);
    reader.expect_left(parts_bytes(header, ticks)?)?;
    let part = |part| {
        let form = header.form(part)?;
        let bytes = reader.take(form.body_bytes(ticks) + TAG_BYTES)?;
        Part::read(&form, ticks, bytes).map_err(part_refused)
    };
    (0..header.stream().parts.len()).map(part).collect()
}
