//! The names of streams: hashes of their headers.

use core::fmt;

/// Bytes of a stream's tag in a window.
pub const STREAM_TAG_BYTES: usize = 8;

/// The hash of a stream's header: BLAKE3 in key derivation mode. Signatures of windows cover it in full.
///
/// Example: [`StreamHeader`](crate::StreamHeader)
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct StreamId(pub [u8; 32]);

/// The first [`STREAM_TAG_BYTES`] of a [`StreamId`]; a window names its stream by them.
///
/// Example: [`StreamHeader`](crate::StreamHeader)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct StreamTag(pub [u8; STREAM_TAG_BYTES]);

impl StreamId {
    /// Returns the first bytes of the hash.
    #[must_use]
    pub fn tag(&self) -> StreamTag {
        let mut tag = [0; STREAM_TAG_BYTES];
        tag.copy_from_slice(&self.0[..STREAM_TAG_BYTES]);
        StreamTag(tag)
    }
}

impl fmt::Debug for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StreamId({})", self.tag())
    }
}

impl fmt::Display for StreamTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
