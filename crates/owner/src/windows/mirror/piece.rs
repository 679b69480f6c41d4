//! The pieces of a log: runs of windows that follow each other, and windows that are in no run.

use sotto_wire::{Digest, ID_BYTES, SALT_BYTES, SignedHeader};

use crate::runs::share;

/// Windows of sums of one stream that follow each other without a gap. Each has all readings, and replaces no other.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Run {
    pub(super) form: Form,
    pub(super) first: First,
    /// Number of windows, at least 1.
    pub(super) count: u64,
    /// Bytes that all took on the way, by the cloud's word.
    pub(super) bytes: u64,
}

/// The facts that all windows of a run share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Form {
    /// The index of the stream's header.
    pub(super) stream: u32,
    pub(super) generated: bool,
    pub(super) ticks: u32,
    /// Milliseconds from a window's start to the next one's.
    pub(super) step: i64,
    pub(super) salt: [u8; SALT_BYTES],
    /// By how much pad numbers are lower than windows'.
    pub(super) back: u64,
    pub(super) receipt: Option<Receipt>,
}

/// A receipt, relative to the window that names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Receipt {
    /// By how much the number of the receipt's window is lower, modulo 2^64.
    pub(super) back: u64,
    /// By how much its position is above that number, modulo 2^64.
    pub(super) ahead: u64,
}

/// The facts in which the windows of a run differ, of one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct First {
    pub(super) sequence: u64,
    /// The start, in milliseconds since 1970.
    pub(super) start: i64,
}

impl Run {
    /// Returns the facts of a window of the run, or of that behind its last.
    pub(super) fn at(&self, index: u64) -> First {
        let start = self.first.start.wrapping_add(self.form.step.wrapping_mul(index.cast_signed()));
        First { sequence: self.first.sequence.wrapping_add(index), start }
    }

    /// Returns the bytes of a window. All together are those of the run.
    pub(super) fn bytes_at(&self, index: u64) -> u64 {
        self.bytes_of(index, 1)
    }

    /// Returns the bytes of the windows from an index on, so many.
    pub(super) fn bytes_of(&self, from: u64, count: u64) -> u64 {
        share(self.bytes, from..from + count, self.count)
    }

    /// Returns the windows from an index on, at most as many.
    pub(super) fn part(&self, from: u64, count: u64) -> Self {
        let bytes = self.bytes_of(from, count);
        Self { first: self.at(from), count, bytes, ..self.clone() }
    }
}

/// Windows of a log that follow each other.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Piece {
    Run(Run),
    /// Windows that were deleted, of neighbouring numbers.
    Gone {
        first: u64,
        count: u64,
        /// True if this plant's owner deleted them.
        here: bool,
    },
    /// A window that the cloud cannot read.
    Unread {
        sequence: u64,
    },
    One(Box<One>),
}

/// A window that is in no run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct One {
    pub(super) sequence: u64,
    /// Bytes that it took on the way.
    pub(super) bytes: u64,
    /// The time of its first reading.
    pub(super) started: i64,
    /// The time of its last reading.
    pub(super) ended: i64,
    pub(super) what: What,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum What {
    /// A window of sums: the index of its stream's header, and its head.
    Sums { stream: u32, head: Box<[u8]>, marks: u8 },
    /// A window of slots, whose leaf and id jobs name.
    Slots { stream: u32, head: Box<[u8]>, marks: u8, leaf: Digest, id: [u8; ID_BYTES] },
    /// An envelope of version 1.
    Old { signed: Box<SignedHeader>, id: [u8; ID_BYTES] },
}

/// Marks of a head: the window replaces others.
pub(super) const REPLACES: u8 = 1;
/// The window is a piece of one that was still open.
pub(super) const PROVISIONAL: u8 = 2;
/// The window names a receipt.
pub(super) const RECEIPT: u8 = 4;

impl Piece {
    /// Returns the number of windows.
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Run(run) => run.count,
            Self::Gone { count, .. } => *count,
            Self::Unread { .. } | Self::One(_) => 1,
        }
    }

    /// Returns the windows from an index on, at most as many.
    pub(super) fn part(&self, from: u64, count: u64) -> Self {
        match self {
            Self::Run(run) => Self::Run(run.part(from, count)),
            Self::Gone { first, here, .. } => {
                Self::Gone { first: first.wrapping_add(from), count, here: *here }
            }
            Self::Unread { .. } | Self::One(_) => self.clone(),
        }
    }

    /// Returns the bytes of memory that the piece takes.
    pub(super) fn memory(&self) -> usize {
        let beside = match self {
            Self::Run(_) | Self::Gone { .. } | Self::Unread { .. } => 0,
            Self::One(one) => {
                size_of::<One>()
                    + match &one.what {
                        What::Sums { head, .. } | What::Slots { head, .. } => head.len(),
                        What::Old { signed, .. } => size_of::<SignedHeader>() + signed.header().layout.len(),
                    }
            }
        };
        // With the position of the piece.
        size_of::<Self>() + size_of::<u64>() + beside
    }

    /// Adds windows that continue the piece. Returns them if they do not.
    pub(super) fn join(&mut self, next: Self) -> Option<Self> {
        match (self, next) {
            (Self::Run(run), Self::Run(next)) if run.form == next.form && run.at(run.count) == next.first => {
                run.count += next.count;
                run.bytes = run.bytes.saturating_add(next.bytes);
                None
            }
            (Self::Gone { first, count, here }, Self::Gone { first: next, count: more, here: is_here })
                if *here == is_here && first.wrapping_add(*count) == next =>
            {
                *count += more;
                None
            }
            (_, next) => Some(next),
        }
    }
}
