//! A window of sums as fields, from which its bytes are made again: for stores that keep windows in columns.

use alloc::sync::Arc;
use alloc::vec::Vec;

use crate::error::WireError;
use crate::hash::{Digest, digest_of};
use crate::lists::zigzag;
use crate::logged::LoggedWindow;
use crate::mask::SALT_BYTES;
use crate::membership::paths;
use crate::reader::write_varint;
use crate::signature::SIGNATURE_BYTES;
use crate::signed::{SignedHeader, SignedWindow};
use crate::stream::StreamHeader;
use crate::window::numbers_of;

/// The fields of a window of sums without its parts.
///
/// ```
/// use sotto_wire::{Envelope, WindowFields};
///
/// /// Takes a stored window apart, and makes the same bytes of its columns.
/// fn again(window: &Envelope) -> Option<Vec<u8>> {
///     let fields = WindowFields::of(window.signed_header())?;
///     let (stream, _) = window.window()?;
///     Some(fields.message(stream, window.body().coefficients()?))
/// }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WindowFields {
    /// The salt of its pads.
    pub salt: [u8; SALT_BYTES],
    /// Its sequence number.
    pub sequence: u64,
    /// Its start: milliseconds since 1970.
    pub start: i64,
    /// The flags of its head.
    pub flags: u8,
    /// The ticks that it covers.
    pub ticks: u32,
    /// The lists of its head: the pad's number, presence, readings left out, windows replaced, the last receipt.
    pub lists: Vec<u8>,
    /// Its place in the signed group; None if the signature covers this window alone.
    pub place: Option<GroupPlace>,
    /// The signature of the window, or of its group.
    pub signature: [u8; SIGNATURE_BYTES],
}

/// The parts of a window of sums, or their digest and tags: its content beside its fields.
///
/// Example: [`WindowFields::logged`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WindowRest<'r> {
    /// Its parts, bodies and tags, as they were sent.
    Parts(&'r [u8]),
    /// Their digest, and the tags.
    Digests {
        /// The digest of the parts.
        body: &'r Digest,
        /// The tags, 8 bytes a part.
        tags: &'r [u8],
    },
}

/// The place of a window in a signed group.
///
/// Example: [`WindowFields`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupPlace {
    /// Its index, below `count`.
    pub index: u8,
    /// Windows in the group.
    pub count: u8,
    /// The digests on its path to the root, 32 bytes each, the lowest first.
    pub path: Vec<u8>,
}

/// Returns for each window of a group its path to the root, 32 bytes a digest. `leaves` are the digests of its windows
/// ([`SignedHeader::window_digest`]).
#[must_use]
pub fn group_paths(leaves: &[Digest]) -> Vec<Vec<u8>> {
    paths(leaves).1.into_iter().map(|path| path.concat()).collect()
}

impl WindowFields {
    /// Returns the fields of a signed window of sums; None for other envelopes.
    #[must_use]
    pub fn of(signed: &SignedHeader) -> Option<Self> {
        let window = signed.window().filter(|window| window.stream.is_of_sums())?;
        let (flags, lists) = window.numbers.lists_in(&window.bytes);
        let place = window.member.as_ref().map(|member| {
            let (index, count, path) = member.place.parts();
            GroupPlace { index, count, path: path.concat() }
        });
        Some(Self {
            salt: window.numbers.mask.salt,
            sequence: window.numbers.sequence,
            start: window.numbers.start,
            flags,
            ticks: window.numbers.length,
            lists: lists.to_vec(),
            place,
            signature: *signed.signature(),
        })
    }

    /// Returns the head, as a window alone writes it.
    #[must_use]
    pub fn head(&self, stream: &StreamHeader) -> Vec<u8> {
        let mut out = Vec::with_capacity(64);
        out.push(stream.family().window);
        out.extend_from_slice(&stream.id().tag().0);
        out.extend_from_slice(&self.salt);
        write_varint(&mut out, self.sequence);
        write_varint(&mut out, zigzag(self.start));
        out.push(self.flags);
        write_varint(&mut out, self.ticks.into());
        out.extend_from_slice(&self.lists);
        out
    }

    fn before_body(&self, stream: &StreamHeader) -> Vec<u8> {
        let mut out = Vec::with_capacity(320);
        if let Some(GroupPlace { index, count, path }) = &self.place {
            out.extend_from_slice(&[stream.family().member, *index, *count]);
            out.extend_from_slice(path);
        }
        out.extend_from_slice(&self.head(stream));
        out
    }

    /// Returns the bytes of the window as it is kept, for [`Envelope::read_window`](crate::Envelope::read_window).
    #[must_use]
    pub fn message(&self, stream: &StreamHeader, parts: &[u8]) -> Vec<u8> {
        [&self.before_body(stream)[..], parts, &self.signature].concat()
    }

    /// Returns its signed header.
    ///
    /// # Errors
    /// [`WireError`] if the fields are not those of a window of this stream.
    pub fn signed(
        &self,
        stream: &Arc<StreamHeader>,
        tags: &[u8],
        body_digest: &Digest,
    ) -> Result<SignedHeader, WireError> {
        let bare = [&self.before_body(stream)[..], tags, body_digest, &self.signature].concat();
        SignedHeader::read_bare(&bare, stream)
    }

    /// Returns the window as it stands in a log, without its place and its signature. `bytes` are those that it took on the way.
    ///
    /// ```
    /// use sotto_wire::{Envelope, LogItem, WindowFields, WindowRest};
    ///
    /// /// Takes a stored window that was signed alone to an item of a page.
    /// fn item(window: &Envelope) -> Option<LogItem> {
    ///     let fields = WindowFields::of(window.signed_header())?;
    ///     let (stream, _) = window.window()?;
    ///     let rest = WindowRest::Parts(window.body().coefficients()?);
    ///     Some(LogItem::alone(fields.logged(stream, rest, 300).ok()?, fields.signature))
    /// }
    /// ```
    ///
    /// # Errors
    /// [`WireError`] if the fields are not those of a window of this stream.
    pub fn logged(
        &self,
        stream: &Arc<StreamHeader>,
        rest: WindowRest<'_>,
        bytes: u64,
    ) -> Result<LoggedWindow, WireError> {
        let head = self.head(stream);
        let numbers = numbers_of(&head, stream)?;
        let (tags, body_digest) = match rest {
            WindowRest::Parts(parts) => {
                let tags = stream.tags_of(numbers.sent, parts);
                let tags = tags.ok_or(WireError::Value("the parts are not those of the window's ticks"))?;
                (tags, digest_of([parts]))
            }
            WindowRest::Digests { body, tags } => (tags.to_vec(), *body),
        };
        let window = SignedWindow { stream: Arc::clone(stream), numbers, bytes: head, tags, member: None };
        Ok(LoggedWindow { window, body_digest, id: None, bytes: Some(bytes) })
    }
}
