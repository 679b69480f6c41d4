//! Windows of one stream under one signature.
//!
//! A group is `3 ‖ windows 1 ‖ head of the first window ‖ length of its body ‖ body ‖ of each further window the
//! differences to the one before, length and body ‖ signature 64`. The signature covers the root of a Merkle tree of
//! the windows (RFC 9162, section 2.1, with BLAKE3), so each window can be kept and verified without the others:
//! `4 ‖ index 1 ‖ windows 1 ‖ path, 32 bytes each ‖ head ‖ body ‖ signature 64`. docs/concepts/wire.md has the layout.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::body::Body;
use crate::envelope::Envelope;
use crate::error::WireError;
use crate::family::SLOTS;
use crate::hash::Digest;
use crate::header::EnvelopeHeader;
use crate::lists::{unzigzag, zigzag};
use crate::membership::{self, MOST_GROUPED, Membership, leaf};
use crate::reader::{Reader, write_varint};
use crate::signature::SIGNATURE_BYTES;
use crate::signed::{Member, SignedHeader, SignedWindow};
use crate::stream::StreamHeader;
use crate::sums;
use crate::window::{HeadNumbers, WindowHead};

const WRONG_COUNT: WireError = WireError::Value("a group has 2 to 64 windows");
const OLD_VERSION: WireError = WireError::Value("a group has windows of version 2 only");

/// Windows of one stream in ascending order of their sequence numbers, 2 to [`MOST_GROUPED`], under one signature.
///
/// ```
/// use std::sync::Arc;
/// use sotto_keys::SigningIdentity;
/// use sotto_wire::{Envelope, WindowGroup};
/// # use sotto_pack::{Channel, WindowDescription};
/// # use sotto_rlwe::{Kept, KeyId, ParameterId};
/// # use sotto_wire::{MaskName, SlotsWindow, StreamHeader, StreamParts, WindowValues, WireError, mask_seed};
/// # let level = Channel { name: "level".into(), maximum: 100.0, resolution: Some(0.1), ..Channel::default() };
/// # let stream = Arc::new(StreamHeader::new(StreamParts {
/// #     device: "cellar".into(),
/// #     stream: "tank".into(),
/// #     parameters: ParameterId([1; 32]),
/// #     key: KeyId([2; 16]),
/// #     period: 60_000,
/// #     ticks: 16,
/// #     channels: vec![level],
/// #     values: WindowValues::Slots(16),
/// # })?);
/// # let device = SigningIdentity::generate(&mut sotto_ring::secure_rng()?);
/// # let window = |sequence: u64| -> Result<Envelope, WireError> {
/// #     let description = WindowDescription {
/// #         layout: stream.layout().clone(),
/// #         present: vec![16],
/// #         start: 1_795_000_000_000 + 960_000 * sequence as i64,
/// #         period: stream.period(),
/// #         length: 16,
/// #         presence: Vec::new(),
/// #         left_out: Vec::new(),
/// #         rounded: None,
/// #         generated: false,
/// #         replaces: None,
/// #         provisional: false,
/// #     };
/// #     let (parameters, key) = (stream.parameters(), stream.key());
/// #     let mask = MaskName { salt: [3; 12], sequence };
/// #     let (kept, seed) = (Kept::Folded(16), mask_seed(key, "tank", &mask));
/// #     let body = SlotsWindow { parameters, key, kept, mask, seed, body: vec![0xa5; 60] }.write();
/// #     Envelope::sign_window(&stream, sequence, description, &body, |message| device.sign(message))
/// # };
///
/// // Two windows that waited for the network.
/// let windows: Vec<Envelope> = vec![window(7)?, window(8)?];
/// let group = WindowGroup::sign(windows, |message| device.sign(message))?;
/// assert_eq!(group.upload_key(), "cellar.tank.7-8");
/// let received = WindowGroup::read(&group.write(), &stream)?;
/// received.verify(&device.verifying_key())?;
/// // Each window can be verified without the other.
/// received.windows()[1].verify(&device.verifying_key())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowGroup {
    /// Each window carries its path to the signed root.
    windows: Vec<Envelope>,
}

/// A window before its place in the group is known.
struct Part {
    header: EnvelopeHeader,
    window: SignedWindow,
    body: Body,
}

impl WindowGroup {
    /// Signs windows of one stream, in ascending order of their sequence numbers. Drops their own signatures.
    ///
    /// # Errors
    /// [`WireError::Value`] if there are fewer than 2 or more than [`MOST_GROUPED`] windows, an envelope of version 1,
    /// windows of several streams, sequence numbers that do not ascend by 1 to 2^63, or a window but the first that replaces
    /// others, is provisional or names a receipt.
    pub fn sign(
        windows: Vec<Envelope>,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        let mut parts = Vec::with_capacity(windows.len().min(MOST_GROUPED));
        for envelope in windows {
            let (signed, body) = envelope.into_parts();
            let (header, Some(window)) = signed.into_parts() else { return Err(OLD_VERSION) };
            parts.push(Part { header, window, body });
        }
        let stream = parts.first().map(|part| Arc::clone(&part.window.stream)).ok_or(WRONG_COUNT)?;
        if parts.iter().any(|part| part.window.stream != stream) {
            return Err(WireError::Value("the windows of a group are of one stream"));
        }
        let leaves = leaves(&parts)?;
        let signature =
            sign(&membership::signed_message(&stream, leaves.len() as u8, &membership::root(&leaves)));
        Ok(Self::of_parts(parts, &leaves, signature))
    }

    /// Reads a group of windows of this stream. Does not check the signature: see [`WindowGroup::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a group of windows of the stream; [`WireError::Places`] if the stream is one of
    /// places.
    pub fn read(bytes: &[u8], stream: &Arc<StreamHeader>) -> Result<Self, WireError> {
        if stream.is_of_places() {
            return Err(WireError::Places);
        }
        let mut reader = Reader::new(bytes);
        match reader.u8()? {
            group if group == stream.family().group => {}
            other => return Err(WireError::Version(other)),
        }
        let count = usize::from(reader.u8()?);
        if !(2..=MOST_GROUPED).contains(&count) {
            return Err(WRONG_COUNT);
        }
        // Grows with the windows that are read: the count alone reserves nothing.
        let mut parts: Vec<Part> = Vec::new();
        for _ in 0..count {
            let head = match parts.last() {
                None => WindowHead::parse(&mut reader, stream)?,
                Some(before) if stream.is_of_sums() => sums::parse_next(&mut reader, stream, &before.window)?,
                Some(before) => parse_next(&mut reader, stream, &before.window.numbers)?,
            };
            let length = if stream.is_of_sums() {
                stream.parts_bytes(head.description.sent_ticks())?
            } else {
                // `take` refuses a length beyond the bytes.
                usize::try_from(reader.varint()?).unwrap_or(usize::MAX)
            };
            let body = Body::of_window(&head, stream, reader.take(length)?)?;
            let (header, window) = (head.header(stream)?, SignedWindow::of(&head, stream)?.tagged(&body));
            parts.push(Part { header, window, body });
        }
        let signature = reader.array()?;
        reader.finish()?;
        let leaves = leaves(&parts)?;
        Ok(Self::of_parts(parts, &leaves, signature))
    }

    fn of_parts(parts: Vec<Part>, leaves: &[Digest], signature: [u8; SIGNATURE_BYTES]) -> Self {
        let places = Membership::all(leaves).zip(leaves);
        let windows = parts.into_iter().zip(places).map(|(part, (place, leaf))| {
            let Part { header, window, body } = part;
            let window = SignedWindow { member: Some(Member { place, leaf: *leaf }), ..window };
            let signed = SignedHeader::from_parts(header, Some(window), *body.digest(), signature);
            Envelope::from_parts(signed, body)
        });
        Self { windows: windows.collect() }
    }

    /// Returns the bytes to send.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let family = self.windows.first().and_then(|window| window.signed_header().stream());
        let family = family.map_or(&SLOTS, |stream| stream.family());
        let mut out = vec![family.group, self.windows.len() as u8];
        let (mut before, mut signature): (Option<&SignedWindow>, _) = (None, &[0; SIGNATURE_BYTES]);
        for envelope in &self.windows {
            let signed = envelope.signed_header();
            if let Some(window) = signed.window() {
                match before {
                    None => out.extend_from_slice(&window.bytes),
                    Some(before) if window.stream.is_of_sums() => sums::write_next(&mut out, before, window),
                    Some(before) => write_next(&mut out, before, window),
                }
                if !window.stream.is_of_sums() {
                    write_varint(&mut out, envelope.coefficients().len() as u64);
                }
                before = Some(window);
            }
            out.extend_from_slice(envelope.coefficients());
            signature = signed.signature();
        }
        out.extend_from_slice(signature);
        out
    }

    /// Returns the windows. Each carries the group's signature and its place in the group, so it can be kept and
    /// verified without the others.
    #[must_use]
    pub fn windows(&self) -> &[Envelope] {
        &self.windows
    }

    /// Returns the windows without a copy.
    #[must_use]
    pub fn into_windows(self) -> Vec<Envelope> {
        self.windows
    }

    /// Returns the idempotency key of the upload: `device.stream.first-last`, with the sequence numbers of the first
    /// and last window; at most [`LONGEST_UPLOAD_KEY`](crate::LONGEST_UPLOAD_KEY) visible ASCII characters.
    #[must_use]
    pub fn upload_key(&self) -> String {
        let first = self.windows.first().map_or_else(String::new, |window| window.header().upload_key());
        format!("{first}-{}", self.windows.last().map_or(0, |window| window.header().sequence))
    }

    /// Checks the signature, which covers all windows, against a device's Ed25519 verifying key.
    ///
    /// # Errors
    /// [`WireError::Signature`] if the signature is not valid under the key.
    pub fn verify(&self, verifying_key: &[u8; 32]) -> Result<(), WireError> {
        // Every path comes from the same list of leaves, so all paths lead to the signed root.
        self.windows.first().ok_or(WireError::Signature)?.verify(verifying_key)
    }
}

/// Checks the number and the order of windows, and returns their leaves.
fn leaves(parts: &[Part]) -> Result<Vec<Digest>, WireError> {
    if !(2..=MOST_GROUPED).contains(&parts.len()) {
        return Err(WRONG_COUNT);
    }
    for pair in parts.windows(2) {
        let [before, after] = [&pair[0], &pair[1]].map(|part| part.window.numbers.sequence);
        if before >= after {
            return Err(WireError::Value("the numbers of a group's windows ascend"));
        }
        if after - before > 1 << 63 {
            return Err(WireError::Value("the numbers of a group ascend, by at most 2^63"));
        }
    }
    if parts.iter().skip(1).any(|part| part.window.begins_group()) {
        return Err(WireError::Value(
            "a window that replaces others, is provisional or names a receipt is the first of its group",
        ));
    }
    Ok(parts.iter().map(|part| leaf(&part.window.bytes, &part.window.tags, part.body.digest())).collect())
}

/// Appends a window as differences to the one before: `2 × skipped numbers, plus 1 if a salt follows ‖ salt ‖ start
/// after the end of the window before ‖ flags, ticks, lists`.
fn write_next(out: &mut Vec<u8>, before: &SignedWindow, window: &SignedWindow) {
    let SignedWindow { stream, numbers, bytes, .. } = window;
    // `leaves` checked that the numbers ascend by at most 2^63.
    let skipped = numbers.sequence - before.numbers.sequence - 1;
    let other_salt = numbers.mask.salt != before.numbers.mask.salt;
    write_varint(out, skipped << 1 | u64::from(other_salt));
    if other_salt {
        out.extend_from_slice(&numbers.mask.salt);
    }
    write_varint(out, zigzag(numbers.start.wrapping_sub(before.numbers.next_start(stream))));
    out.extend_from_slice(numbers.tail_in(bytes));
}

/// Reads the head of a window that follows another one.
fn parse_next(
    reader: &mut Reader<'_>,
    stream: &StreamHeader,
    before: &HeadNumbers,
) -> Result<WindowHead, WireError> {
    let first = reader.varint()?;
    let sequence = before.sequence.checked_add(first >> 1).and_then(|sequence| sequence.checked_add(1));
    let sequence = sequence.ok_or(WireError::Value("a window's number has 64 bits"))?;
    let salt = if first & 1 == 1 { reader.array()? } else { before.mask.salt };
    if first & 1 == 1 && salt == before.mask.salt {
        return Err(WireError::Value("the salt of a window is written only where it changes"));
    }
    let start = before.next_start(stream).wrapping_add(unzigzag(reader.varint()?));
    WindowHead::parse_tail(reader, stream, salt, sequence, start)
}
