//! A window as a row of a segment.

use sotto_wire::{Digest, Envelope, SignedHeader, StreamTag, WindowFields};

/// The part of a window that a segment has.
///
/// Example: [`Segment`](crate::Segment)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All of it.
    Whole,
    /// Its signed header. It was a piece of a window that was still open, and that window has its readings.
    Head,
    /// Its number and its leaf. The owner has deleted it.
    Deleted,
}

impl Kind {
    /// Returns the number in the column `kind`.
    #[must_use]
    pub fn number(self) -> i32 {
        match self {
            Self::Whole => 0,
            Self::Head => 1,
            Self::Deleted => 2,
        }
    }

    /// Returns the kind with a number.
    #[must_use]
    pub fn of_number(number: i64) -> Option<Self> {
        [Self::Whole, Self::Head, Self::Deleted].into_iter().find(|kind| i64::from(kind.number()) == number)
    }
}

/// A window to write.
///
/// Example: [`Segment`](crate::Segment)
#[derive(Clone, Debug)]
pub struct Row {
    /// Its number.
    pub sequence: u64,
    /// Its position in the log of its stream.
    pub position: u64,
    /// The bytes that lists and quotas count.
    pub bytes: u64,
    /// When it was stored: milliseconds since 1970.
    pub stored_at: i64,
    /// The window.
    pub window: Window,
}

/// The contents of a row.
///
/// Example: [`Segment`](crate::Segment)
#[derive(Clone, Debug)]
pub enum Window {
    /// All of it.
    Whole {
        /// Its clear facts.
        facts: Box<Facts>,
        /// Bodies and tags, as they were sent.
        parts: Vec<u8>,
    },
    /// Its signed header.
    Head {
        /// Its clear facts.
        facts: Box<Facts>,
        /// The digest of the message that was stored, that of its body, its tags, and the parts that stay of a window of a
        /// roll-up.
        rest: Vec<u8>,
        /// The roll-up whose first window it is, as the store writes it; else empty.
        sum: Vec<u8>,
    },
    /// Its leaf.
    Deleted {
        /// The leaf in the log of its stream.
        leaf: Digest,
    },
}

/// The clear facts of a window.
///
/// Example: [`Segment`](crate::Segment)
#[derive(Clone, Debug)]
pub struct Facts {
    /// The stream's header.
    pub tag: StreamTag,
    /// The fields from which its bytes are made again.
    pub fields: WindowFields,
    /// The number of its pads.
    pub pad: u64,
    /// The times of its first and its last reading: milliseconds since 1970.
    pub first: i64,
    /// Like `first`.
    pub last: i64,
    /// The number of its readings.
    pub readings: u32,
}

impl Facts {
    /// Returns the facts of a window of sums; None of other envelopes.
    #[must_use]
    pub fn of(signed: &SignedHeader) -> Option<Self> {
        let (header, stream, mask) = (signed.header(), signed.stream()?, signed.mask()?);
        Some(Self {
            tag: stream.id().tag(),
            fields: WindowFields::of(signed)?,
            pad: mask.sequence,
            first: header.started_at,
            last: header.ended_at,
            readings: header.readings,
        })
    }
}

impl Window {
    /// Returns a whole window; None if it is not one of sums.
    pub fn whole(envelope: &Envelope) -> Option<Self> {
        let facts = Box::new(Facts::of(envelope.signed_header())?);
        Some(Self::Whole { facts, parts: envelope.body().coefficients()?.to_vec() })
    }

    /// Returns what stays of a window whose message had this digest, with these parts.
    pub fn head(signed: &SignedHeader, message: &Digest, values: &[u8]) -> Option<Self> {
        let facts = Box::new(Facts::of(signed)?);
        let bare = signed.write_bare();
        // Behind the head: the tags, the body's digest 32, the signature 64.
        let tags = 8 * signed.stream()?.parts().len();
        let end = bare.len().checked_sub(64)?;
        let begin = end.checked_sub(32 + tags)?;
        let (tags, digest) = bare.get(begin..end)?.split_at(tags);
        Some(Self::Head { facts, rest: [message, digest, tags, values].concat(), sum: Vec::new() })
    }

    /// Returns the part of the window that it has.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Whole { .. } => Kind::Whole,
            Self::Head { .. } => Kind::Head,
            Self::Deleted { .. } => Kind::Deleted,
        }
    }

    /// Returns the facts; None of a deleted window.
    #[must_use]
    pub fn facts(&self) -> Option<&Facts> {
        match self {
            Self::Whole { facts, .. } | Self::Head { facts, .. } => Some(facts),
            Self::Deleted { .. } => None,
        }
    }

    /// Returns the bytes of its body, or of the sum with it.
    pub fn body_bytes(&self) -> usize {
        match self {
            Self::Whole { parts, .. } => parts.len(),
            Self::Head { sum, .. } => sum.len(),
            Self::Deleted { .. } => 0,
        }
    }
}
