//! The time of a row of an answer.

/// The time that a row of an answer covers, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Group {
    pub(crate) from: i64,
    pub(crate) to: i64,
}
