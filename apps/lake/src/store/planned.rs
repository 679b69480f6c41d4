//! A plan: the blocks, windows and sums that a query reads. It travels to workers; it names neither a place nor a key of a store.

use serde::{Deserialize, Serialize};

/// A stream's header, as it is registered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Header {
    /// The frame in hexadecimal.
    pub(crate) frame: String,
}

/// Rows of a block to read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Unit {
    /// The index of the header.
    pub(crate) header: u32,
    /// The digest of the segment in hexadecimal.
    pub(crate) segment: String,
    pub(crate) block: u32,
    /// The first row and how many, of each run, and the number of its first window.
    pub(crate) rows: Vec<(u32, u32, u64)>,
    /// Numbers of windows of which some channels do not count, ascending, with the columns of these.
    pub(crate) replaced: Vec<(u64, Vec<u16>)>,
}

/// A window that no segment has yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Loose {
    pub(crate) header: u32,
    /// The message in hexadecimal.
    pub(crate) message: String,
    pub(crate) position: u64,
    pub(crate) stored_at: i64,
    /// The columns of channels that do not count.
    pub(crate) replaced: Vec<u16>,
}

/// A sum that stays in place of its windows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Rolled {
    pub(crate) header: u32,
    /// The frame in hexadecimal.
    pub(crate) frame: String,
    /// Runs of numbers: the first, and how many.
    pub(crate) numbers: Vec<(u64, u64)>,
    pub(crate) stored_at: i64,
    /// The start of its first window: milliseconds since 1970.
    pub(crate) start: i64,
}

/// Everything that a query reads.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Planned {
    pub(crate) headers: Vec<Header>,
    pub(crate) units: Vec<Unit>,
    pub(crate) loose: Vec<Loose>,
    pub(crate) rolled: Vec<Rolled>,
}
