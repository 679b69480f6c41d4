//! The signed part of a window of sums: everything but its bodies.

use alloc::sync::Arc;
use alloc::vec::Vec;

use sotto_sums::{TAG_BYTES, Tag};

use super::codec::{MEMBER, part_refused};
use super::head::SumsHead;
use super::header::SumsHeader;
use crate::error::WireError;
use crate::frame;
use crate::hash::Digest;
use crate::kind::Kind;
use crate::membership::Membership;
use crate::merkle::leaf_of;
use crate::reader::Reader;
use crate::signature::{self, SIGNATURE_BYTES};

const CONTEXT: &[u8] = b"sotto sums window v1";
const GROUP_CONTEXT: &[u8] = b"sotto sums windows v1";

/// A window of sums without its bodies: its header, its head, its tags, the digest of its parts, and the device's
/// Ed25519 signature over them.
///
/// Example: [`SumsWindow`](crate::SumsWindow)
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SignedSums {
    pub(super) header: Arc<SumsHeader>,
    pub(super) head: SumsHead,
    pub(super) head_bytes: Vec<u8>,
    pub(super) tags: Vec<[u8; TAG_BYTES]>,
    pub(super) digest: Digest,
    pub(super) signature: [u8; SIGNATURE_BYTES],
    /// The window's place in the group that was signed; None if the signature covers this window alone.
    pub(super) member: Option<Membership>,
}

impl SignedSums {
    /// Returns the header of the stream.
    #[must_use]
    pub fn header(&self) -> &Arc<SumsHeader> {
        &self.header
    }

    /// Returns the window's public facts.
    #[must_use]
    pub fn head(&self) -> &SumsHead {
        &self.head
    }

    /// Returns the tags of the parts, in order.
    pub fn tags(&self) -> impl ExactSizeIterator<Item = &[u8; TAG_BYTES]> {
        self.tags.iter()
    }

    /// Returns the digest of the parts, bodies and tags.
    #[must_use]
    pub fn parts_digest(&self) -> &Digest {
        &self.digest
    }

    /// Returns true if both are one encryption: the same pads, bodies and tags. Two windows under one name that are not
    /// the same give away their difference, and make the tags of their stream worthless.
    #[must_use]
    pub fn is_same_encryption(&self, other: &Self) -> bool {
        self.header == other.header && self.head.pad == other.head.pad && self.digest == other.digest
    }

    /// Returns the window's leaf in the tree of a group: BLAKE3 of a zero byte, head, tags and the parts' digest. It is the
    /// same in every group, and if the window is signed alone.
    #[must_use]
    pub fn window_digest(&self) -> Digest {
        leaf_of(&[&self.head_bytes, self.tags.as_flattened(), &self.digest])
    }

    /// Returns the message that the signature covers.
    pub(super) fn message(&self) -> Vec<u8> {
        match &self.member {
            Some(place) => group_message(&self.header, place.count, &place.root(self.window_digest())),
            None => {
                let tags = self.tags.as_flattened();
                [CONTEXT, &self.header.id().0, &self.head_bytes, tags, &self.digest].concat()
            }
        }
    }

    /// Returns the bytes before the parts: the place in a group, and the head.
    pub(super) fn before_parts(&self) -> Vec<u8> {
        let place = self.member.as_ref().map(|place| place.bytes_after(MEMBER)).unwrap_or_default();
        [&place[..], &self.head_bytes].concat()
    }

    /// Checks the signature against a device's Ed25519 verifying key.
    ///
    /// # Errors
    /// [`WireError::Signature`] if the signature is not valid under the key.
    pub fn verify(&self, verifying_key: &[u8; 32]) -> Result<(), WireError> {
        signature::verify(&self.message(), &self.signature, verifying_key)
    }

    /// Returns the frame, with the header of the stream.
    #[must_use]
    pub fn write(&self) -> Vec<u8> {
        let before = self.before_parts();
        let parts = [self.header.payload(), &before, self.tags.as_flattened(), &self.digest];
        frame::write(
            Kind::SignedSums,
            parts.iter().map(|part| part.len()).sum::<usize>() + SIGNATURE_BYTES,
            |out| {
                parts.iter().for_each(|part| out.extend_from_slice(part));
                out.extend_from_slice(&self.signature);
            },
        )
    }

    /// Reads a frame of at most `limit` bytes. Does not check the signature: see [`SignedSums::verify`].
    ///
    /// # Errors
    /// [`WireError`] if the bytes are not a frame of a signed window of sums.
    pub fn read(bytes: &[u8], limit: u64) -> Result<Self, WireError> {
        let mut reader = frame::open(bytes, Kind::SignedSums, limit)?;
        let header = Arc::new(SumsHeader::parse(&mut reader)?);
        let member = Membership::parse_after(MEMBER, &mut reader)?;
        let (head, head_bytes) = read_head(&mut reader, &header)?;
        let mut tags = Vec::new();
        for _ in &header.stream().parts {
            let tag = reader.array()?;
            Tag::from_bytes(&tag).map_err(part_refused)?;
            tags.push(tag);
        }
        let (digest, signature) = (reader.array()?, reader.array()?);
        reader.finish()?;
        Ok(Self { header, head, head_bytes, tags, digest, signature, member })
    }
}

/// Reads a head, and returns its bytes, too.
pub(super) fn read_head(
    reader: &mut Reader<'_>,
    header: &SumsHeader,
) -> Result<(SumsHead, Vec<u8>), WireError> {
    let rest = reader.rest();
    let head = SumsHead::parse(reader, header)?;
    Ok((head, rest[..rest.len() - reader.left()].to_vec()))
}

/// Returns the message that the signature of a group covers.
pub(super) fn group_message(header: &SumsHeader, windows: u8, root: &Digest) -> Vec<u8> {
    [GROUP_CONTEXT, &header.id().0, &[windows], root].concat()
}
