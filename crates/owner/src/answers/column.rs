//! The tallies that the rows of an answer are made of.

use crate::gathered::Tally;
use crate::windows::RowTime;

/// The tallies of one device, or of all devices together, by group.
pub(crate) struct Column {
    /// The device; None for all devices together.
    pub(crate) device: Option<String>,
    pub(crate) tallies: Vec<Tally>,
    /// For each group, the time that windows cover, in milliseconds.
    pub(crate) covered: Vec<i64>,
}

/// The groups of an answer. Those before the first row are computed and not shown.
#[derive(Clone, Copy)]
pub(crate) struct RowTimes<'t> {
    pub(crate) times: &'t [RowTime],
    /// The number of groups before the first row.
    pub(crate) hidden: usize,
}
