//! Windows of one stream under one signature.
//!
//! A group is `3 ‖ windows 1 ‖ head of the first window ‖ length of its body ‖ body ‖ of each further window the
//! differences to the one before, length and body ‖ signature 64`. The signature covers the root of a Merkle tree of
//! the windows (RFC 9162, section 2.1, with BLAKE3), so each window can be kept and verified without the others:
//! `4 ‖ index 1 ‖ windows 1 ‖ path, 32 bytes each ‖ head ‖ body ‖ signature 64`. docs/concepts/wire.md has the layout.

use alloc::string::String;
use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::envelope::{Envelope, HeaderForm};
use crate::error::WireError;
use crate::merkle::{Digest, leaf_of, node};
use crate::reader::{Reader, write_varint};
use crate::stream::StreamHeader;
use crate::window::{SIGNATURE_BYTES, WindowHead, mask_and_body, unzigzag, zigzag};

/// Largest number of windows in a [`WindowGroup`].
pub const MOST_GROUPED: usize = 64;
/// The first byte of a group.
const GROUP: u8 = 3;
/// The first byte of a member of a group.
const MEMBER: u8 = 4;
const CONTEXT: &[u8] = b"sotto windows v2";

/// Windows of one stream in ascending order of their sequence numbers, 2 to [`MOST_GROUPED`], under one signature.
///
/// ```
/// use std::sync::Arc;
/// use sotto_keys::SigningIdentity;
/// use sotto_wire::{Envelope, WindowGroup};
/// # use sotto_pack::{Channel, Places, WindowDescription};
/// # use sotto_rlwe::{KeyId, ParameterId};
/// # use sotto_wire::{CompactCiphertext, MaskName, StreamHeader, StreamParts, WindowValues, WireError};
/// # let level = Channel { name: "level".into(), maximum: 100.0, resolution: Some(0.1), ..Channel::default() };
/// # let stream = Arc::new(StreamHeader::new(StreamParts {
/// #     device: "cellar".into(),
/// #     stream: "tank".into(),
/// #     parameters: ParameterId([1; 32]),
/// #     key: KeyId([2; 16]),
/// #     period: 60_000,
/// #     ticks: 16,
/// #     channels: vec![level],
/// #     values: WindowValues::Places(Places { width: 12, ..Places::default() }),
/// #     fleet: None,
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
/// #         generated: false,
/// #     };
/// #     let form = stream.form(16)?;
/// #     let mask = MaskName { salt: [3; 12], sequence };
/// #     let body = CompactCiphertext { form, mask, body: vec![0xa5; form.bytes(16)] }.write()?;
/// #     Envelope::sign_window(&stream, sequence, description, &body, |message| device.sign(message))
/// # };
///
/// // Two windows that waited for the network.
/// let windows: Vec<Envelope> = vec![window(7)?, window(8)?];
/// let group = WindowGroup::sign(windows, |message| device.sign(message))?;
/// assert_eq!(group.upload_key(), "cellar.tank.7-8");
/// let received = WindowGroup::read(&group.write()?, &stream)?;
/// received.verify(&device.verifying_key())?;
/// // Each window can be verified without the other.
/// received.windows()[1].verify(&device.verifying_key())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowGroup {
    stream: Arc<StreamHeader>,
    /// Each window carries its path to the signed root.
    windows: Vec<Envelope>,
}

/// The place of a window in a group. Together with the window it determines the root that the group's signature covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Membership {
    /// The window's index, below `count`.
    index: u8,
    /// Number of windows in the group.
    pub(crate) count: u8,
    /// Sibling digests from the leaf up to the root, the lowest first.
    path: Vec<Digest>,
}

/// A window of a group under construction.
struct Part {
    head: WindowHead,
    /// The head, as version 2 writes it.
    bytes: Vec<u8>,
    /// The ciphertext's frame.
    body: Vec<u8>,
}

/// Returns true if the bytes start with a group's tag.
#[must_use]
pub fn is_group(message: &[u8]) -> bool {
    message.first() == Some(&GROUP)
}

impl WindowGroup {
    /// Signs windows of one stream, in ascending order of their sequence numbers. Drops their own signatures.
    ///
    /// # Errors
    /// [`WireError::Value`] if there are fewer than 2 or more than [`MOST_GROUPED`] windows, an envelope of version 1,
    /// windows of several streams, or sequence numbers that do not ascend.
    pub fn sign(
        windows: Vec<Envelope>,
        sign: impl FnOnce(&[u8]) -> [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        let (mut stream, mut parts) = (None, Vec::with_capacity(windows.len().min(MOST_GROUPED)));
        for Envelope { body, form, .. } in windows {
            let HeaderForm::Window { stream: own, head: bytes, .. } = form else {
                return Err(WireError::Value("a group has windows of version 2 only"));
            };
            if *stream.get_or_insert_with(|| Arc::clone(&own)) != own {
                return Err(WireError::Value("the windows of a group are of one stream"));
            }
            let head = WindowHead::parse(&mut Reader::new(&bytes), &own)?;
            parts.push(Part { head, bytes, body });
        }
        let stream = stream.ok_or(WRONG_COUNT)?;
        let mut group = Self::of_parts(stream, parts, [0; SIGNATURE_BYTES])?;
        let signature = sign(&group.signed()?);
        group.windows.iter_mut().for_each(|window| window.signature = signature);
        Ok(group)
    }

    /// Reads a group of windows of this stream. Does not check the signature: see [`WindowGroup::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a group of windows of the stream.
    pub fn read(bytes: &[u8], stream: &Arc<StreamHeader>) -> Result<Self, WireError> {
        let mut reader = Reader::new(bytes);
        match reader.u8()? {
            GROUP => {}
            other => return Err(WireError::Version(other)),
        }
        let count = usize::from(reader.u8()?);
        if !(2..=MOST_GROUPED).contains(&count) {
            return Err(WRONG_COUNT);
        }
        let mut parts: Vec<Part> = Vec::with_capacity(count);
        for _ in 0..count {
            let head = match parts.last() {
                None => WindowHead::parse(&mut reader, stream)?,
                Some(before) => parse_next(&mut reader, stream, &before.head)?,
            };
            // `take` refuses a length beyond the bytes.
            let length = usize::try_from(reader.varint()?).unwrap_or(usize::MAX);
            let body = head.ciphertext(stream, reader.take(length)?)?;
            parts.push(Part { bytes: head.bytes(stream)?, head, body });
        }
        let signature = reader.array()?;
        reader.finish()?;
        Self::of_parts(Arc::clone(stream), parts, signature)
    }

    fn of_parts(
        stream: Arc<StreamHeader>,
        parts: Vec<Part>,
        signature: [u8; SIGNATURE_BYTES],
    ) -> Result<Self, WireError> {
        if !(2..=MOST_GROUPED).contains(&parts.len()) {
            return Err(WRONG_COUNT);
        }
        if parts.windows(2).any(|pair| pair[0].head.sequence >= pair[1].head.sequence) {
            return Err(WireError::Value("the numbers of a group's windows ascend"));
        }
        let window = |head: &[u8], group| HeaderForm::Window {
            stream: Arc::clone(&stream),
            head: head.to_vec(),
            group,
        };
        let leaves = parts
            .iter()
            .map(|Part { bytes, body, .. }| Ok(leaf(bytes, &window(&[], None).body_digest(body)?)))
            .collect::<Result<Vec<_>, WireError>>()?;
        let windows = parts
            .into_iter()
            .enumerate()
            .map(|(index, Part { head, bytes, body })| {
                // Both are below 2^8, checked above.
                let (index, count, path) = (index as u8, leaves.len() as u8, path(index, &leaves));
                let form = window(&bytes, Some(Membership { index, count, path }));
                Ok(Envelope { header: head.header(&stream)?, body, signature, form })
            })
            .collect::<Result<_, WireError>>()?;
        Ok(Self { stream, windows })
    }

    /// Returns the bytes to send.
    ///
    /// # Errors
    /// [`WireError::Value`] if two neighbouring sequence numbers differ by 2^63 or more.
    pub fn write(&self) -> Result<Vec<u8>, WireError> {
        let mut out = vec![GROUP, self.windows.len() as u8];
        let (mut before, mut signature): (Option<WindowHead>, _) = (None, [0; SIGNATURE_BYTES]);
        for window in &self.windows {
            let (_, bytes) =
                window.window().ok_or(WireError::Value("a group has windows of version 2 only"))?;
            let head = WindowHead::parse(&mut Reader::new(bytes), &self.stream)?;
            match &before {
                None => out.extend_from_slice(bytes),
                Some(before) => write_next(&mut out, &self.stream, before, &head)?,
            }
            let (_, body) = mask_and_body(&window.body)?;
            write_varint(&mut out, body.len() as u64);
            out.extend_from_slice(body);
            (before, signature) = (Some(head), window.signature);
        }
        out.extend_from_slice(&signature);
        Ok(out)
    }

    /// Returns the windows. Each carries the group's signature and its place in the group, so it can be kept and
    /// verified without the others.
    #[must_use]
    pub fn windows(&self) -> &[Envelope] {
        &self.windows
    }

    /// Returns the idempotency key of the upload: `device.stream.first-last`, with the sequence numbers of the first
    /// and last window; at most [`LONGEST_UPLOAD_KEY`](crate::LONGEST_UPLOAD_KEY) visible ASCII characters.
    #[must_use]
    pub fn upload_key(&self) -> String {
        let first = self.windows.first().map_or_else(String::new, |window| window.header.upload_key());
        format!("{first}-{}", self.windows.last().map_or(0, |window| window.header.sequence))
    }

    /// Checks the signature, which covers all windows, against a device's Ed25519 verifying key.
    ///
    /// # Errors
    /// [`WireError::Signature`] if the signature is not valid under the key.
    pub fn verify(&self, verifying_key: &[u8; 32]) -> Result<(), WireError> {
        // Every path comes from the same list of leaves, so all paths lead to the signed root.
        self.windows.first().ok_or(WireError::Signature)?.verify(verifying_key)
    }

    fn signed(&self) -> Result<Vec<u8>, WireError> {
        let leaves = self.windows.iter().filter_map(|window| window.window_digest().transpose());
        let leaves = leaves.collect::<Result<Vec<_>, _>>()?;
        Ok(signed_message(&self.stream, leaves.len() as u8, &root(&leaves)))
    }
}

impl Membership {
    /// Reads the place of a member. Returns None, and reads nothing, if the bytes start with another tag.
    pub(crate) fn parse(reader: &mut Reader<'_>) -> Result<Option<Self>, WireError> {
        if reader.rest().first() != Some(&MEMBER) {
            return Ok(None);
        }
        reader.take(1)?;
        let (index, count) = (reader.u8()?, reader.u8()?);
        if !(2..=MOST_GROUPED).contains(&usize::from(count)) || index >= count {
            return Err(WireError::Value(
                "a group has 2 to 64 windows, a member's index is below their number",
            ));
        }
        let steps = steps(usize::from(index), usize::from(count));
        let path = (0..steps).map(|_| reader.array()).collect::<Result<_, _>>()?;
        Ok(Some(Self { index, count, path }))
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        [&[MEMBER, self.index, self.count][..], self.path.as_flattened()].concat()
    }

    /// Returns the root of the group whose member at this place has this leaf.
    pub(crate) fn root(&self, leaf: Digest) -> Digest {
        root_from(leaf, usize::from(self.index), usize::from(self.count), &self.path)
    }
}

const WRONG_COUNT: WireError = WireError::Value("a group has 2 to 64 windows");

/// Advances the reader to the first window of a group or a member and returns true. Returns false for other bytes.
pub(crate) fn skip_to_window(reader: &mut Reader<'_>) -> Result<bool, WireError> {
    if is_group(reader.rest()) {
        return reader.take(2).map(|_| true);
    }
    Ok(Membership::parse(reader)?.is_some())
}

/// Returns the message that a device signs. It covers the stream's header by its hash and all windows by the root of
/// their tree.
pub(crate) fn signed_message(stream: &StreamHeader, count: u8, root: &Digest) -> Vec<u8> {
    [CONTEXT, &stream.id().0, &[count], root].concat()
}

/// Returns the leaf of a window: the digest of its head, as version 2 writes it, and of its body.
pub(crate) fn leaf(head: &[u8], body_digest: &Digest) -> Digest {
    leaf_of(&[head, body_digest])
}

/// Returns the number of leaves in the left half of a tree: the largest power of two below `count`, which is at least
/// 2.
fn left_half(count: usize) -> usize {
    count.next_power_of_two() / 2
}

/// Returns the root of a tree with at least one leaf.
fn root(leaves: &[Digest]) -> Digest {
    match leaves {
        [] => [0; 32],
        [leaf] => *leaf,
        _ => {
            let (left, right) = leaves.split_at(left_half(leaves.len()));
            node(&root(left), &root(right))
        }
    }
}

/// Returns the digests on the path from a leaf to the root, the lowest first.
fn path(index: usize, leaves: &[Digest]) -> Vec<Digest> {
    if leaves.len() < 2 {
        return Vec::new();
    }
    let half = left_half(leaves.len());
    let (left, right) = leaves.split_at(half);
    let (mut below, beside) =
        if index < half { (path(index, left), root(right)) } else { (path(index - half, right), root(left)) };
    below.push(beside);
    below
}

/// Returns the number of digests on the path of a leaf.
fn steps(index: usize, count: usize) -> usize {
    if count < 2 {
        return 0;
    }
    let half = left_half(count);
    1 + if index < half { steps(index, half) } else { steps(index - half, count - half) }
}

/// Returns the root of a tree of `count` leaves, from a leaf and its path. The path's length must be [`steps`].
fn root_from(leaf: Digest, index: usize, count: usize, path: &[Digest]) -> Digest {
    let Some((beside, below)) = path.split_last() else { return leaf };
    let half = left_half(count);
    if index < half {
        node(&root_from(leaf, index, half, below), beside)
    } else {
        node(beside, &root_from(leaf, index - half, count - half, below))
    }
}

/// Returns the start of the next window, in milliseconds, if no time lies between the windows.
fn next_start(stream: &StreamHeader, before: &WindowHead) -> i64 {
    let length = i64::from(before.description.length).wrapping_mul(stream.period().into());
    before.description.start.wrapping_add(length)
}

/// Appends a window as differences to the one before: `2 × skipped numbers, plus 1 if a salt follows ‖ salt ‖ start
/// after the end of the window before ‖ flags, ticks, lists`.
fn write_next(
    out: &mut Vec<u8>,
    stream: &StreamHeader,
    before: &WindowHead,
    head: &WindowHead,
) -> Result<(), WireError> {
    let passed = head.sequence.checked_sub(before.sequence).and_then(|gap| gap.checked_sub(1));
    let passed = passed.and_then(|passed| passed.checked_mul(2));
    let passed = passed.ok_or(WireError::Value("the numbers of a group ascend, by less than 2^63"))?;
    let other_salt = head.mask.salt != before.mask.salt;
    write_varint(out, passed | u64::from(other_salt));
    if other_salt {
        out.extend_from_slice(&head.mask.salt);
    }
    write_varint(out, zigzag(head.description.start.wrapping_sub(next_start(stream, before))));
    out.extend_from_slice(&head.tail(stream)?);
    Ok(())
}

/// Reads the head of a window that follows another one.
fn parse_next(
    reader: &mut Reader<'_>,
    stream: &StreamHeader,
    before: &WindowHead,
) -> Result<WindowHead, WireError> {
    let first = reader.varint()?;
    let sequence = before.sequence.checked_add(first >> 1).and_then(|sequence| sequence.checked_add(1));
    let sequence = sequence.ok_or(WireError::Value("a window's number has 64 bits"))?;
    let salt = if first & 1 == 1 { reader.array()? } else { before.mask.salt };
    if first & 1 == 1 && salt == before.mask.salt {
        return Err(WireError::Value("the salt of a window is written only where it changes"));
    }
    let start = next_start(stream, before).wrapping_add(unzigzag(reader.varint()?));
    WindowHead::parse_tail(reader, stream, salt, sequence, start)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_path_leads_to_the_root() {
        let mut least = 8;
        for count in 1..=MOST_GROUPED {
            let leaves: Vec<Digest> = (0..count).map(|at| [at as u8; 32]).collect();
            for index in 0..count {
                let path = path(index, &leaves);
                assert_eq!(path.len(), steps(index, count), "{index} of {count}");
                assert!(path.len() <= 6);
                assert_eq!(
                    root_from(leaves[index], index, count, &path),
                    root(&leaves),
                    "{index} of {count}"
                );
                // Another leaf or another place gives another root.
                assert_ne!(root_from([0xff; 32], index, count, &path), root(&leaves));
                least = least.min(path.len());
            }
        }
        assert_eq!(least, 0);
    }

    /// The tree of seven leaves drawn in RFC 9162, section 2.1.5.
    #[test]
    fn a_tree_is_that_of_the_standard() {
        let d: Vec<Digest> = (0..7).map(|at| [at; 32]).collect();
        let (g, h, i, j) = (node(&d[0], &d[1]), node(&d[2], &d[3]), node(&d[4], &d[5]), d[6]);
        let (k, l) = (node(&g, &h), node(&i, &j));
        assert_eq!(root(&d), node(&k, &l));
        assert_eq!(path(0, &d), [d[1], h, l]);
        assert_eq!(path(3, &d), [d[2], g, l]);
        assert_eq!(path(4, &d), [d[5], j, k]);
        assert_eq!(path(6, &d), [i, k]);
    }

    #[test]
    fn digests_of_leaves_and_nodes_differ() {
        let (left, right) = ([1; 32], [2; 32]);
        assert_ne!(leaf(&left, &right), node(&left, &right));
        assert_eq!(leaf(b"head", &left), *blake3::hash(&[&[0][..], b"head", &left].concat()).as_bytes());
        assert_eq!(node(&left, &right), *blake3::hash(&[&[1][..], &left, &right].concat()).as_bytes());
    }
}
