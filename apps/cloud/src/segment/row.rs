//! A window as a row of a segment.

use sotto_wire::{Digest, Envelope, SignedHeader, StreamTag, WindowFields};

/// The part of a window that a segment has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// All of it.
    Whole,
    /// Its signed header. It was a piece of a window that was still open, and that window has its readings.
    Head,
    /// Its number and its leaf. The owner has deleted it.
    Deleted,
}

impl Kind {
    pub(crate) fn number(self) -> i32 {
        match self {
            Self::Whole => 0,
            Self::Head => 1,
            Self::Deleted => 2,
        }
    }

    pub(crate) fn of_number(number: i64) -> Option<Self> {
        [Self::Whole, Self::Head, Self::Deleted].into_iter().find(|kind| i64::from(kind.number()) == number)
    }
}

/// A window to write.
#[derive(Clone, Debug)]
pub(crate) struct Row {
    pub(crate) sequence: u64,
    /// Its position in the log of its stream.
    pub(crate) position: u64,
    /// The bytes that lists and quotas count.
    pub(crate) bytes: u64,
    /// When it was stored: milliseconds since 1970.
    pub(crate) stored_at: i64,
    pub(crate) window: Window,
}

/// The contents of a row.
#[derive(Clone, Debug)]
pub(crate) enum Window {
    Whole {
        facts: Box<Facts>,
        parts: Vec<u8>,
    },
    /// `rest`: the digest of the message that was stored, that of its body, its tags, and the parts that stay of a window of a
    /// roll-up. `sum`: the roll-up whose first window it is, as the store writes it; else empty.
    Head {
        facts: Box<Facts>,
        rest: Vec<u8>,
        sum: Vec<u8>,
    },
    Deleted {
        leaf: Digest,
    },
}

/// The clear facts of a window.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// The stream's header.
    pub(crate) tag: StreamTag,
    pub(crate) fields: WindowFields,
    /// The number of its pads.
    pub(crate) pad: u64,
    /// The times of its first and its last reading: milliseconds since 1970.
    pub(crate) first: i64,
    pub(crate) last: i64,
    pub(crate) readings: u32,
}

impl Facts {
    pub(crate) fn of(signed: &SignedHeader) -> Option<Self> {
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
    pub(crate) fn whole(envelope: &Envelope) -> Option<Self> {
        let facts = Box::new(Facts::of(envelope.signed_header())?);
        Some(Self::Whole { facts, parts: envelope.body().coefficients()?.to_vec() })
    }

    /// Returns what stays of a window whose message had this digest, with these parts.
    pub(crate) fn head(signed: &SignedHeader, message: &Digest, values: &[u8]) -> Option<Self> {
        let facts = Box::new(Facts::of(signed)?);
        let bare = signed.write_bare();
        // Behind the head: the tags, the body's digest 32, the signature 64.
        let tags = 8 * signed.stream()?.parts().len();
        let end = bare.len().checked_sub(64)?;
        let begin = end.checked_sub(32 + tags)?;
        let (tags, digest) = bare.get(begin..end)?.split_at(tags);
        Some(Self::Head { facts, rest: [message, digest, tags, values].concat(), sum: Vec::new() })
    }

    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Whole { .. } => Kind::Whole,
            Self::Head { .. } => Kind::Head,
            Self::Deleted { .. } => Kind::Deleted,
        }
    }

    pub(crate) fn facts(&self) -> Option<&Facts> {
        match self {
            Self::Whole { facts, .. } | Self::Head { facts, .. } => Some(facts),
            Self::Deleted { .. } => None,
        }
    }

    /// Returns the bytes of its body, or of the sum with it.
    pub(crate) fn body_bytes(&self) -> usize {
        match self {
            Self::Whole { parts, .. } => parts.len(),
            Self::Head { sum, .. } => sum.len(),
            Self::Deleted { .. } => 0,
        }
    }
}
