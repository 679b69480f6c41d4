//! The end, counts and ticks that a message adds to the state of its stream.

use std::collections::BTreeMap;

use sotto_pack::WindowDescription;

use super::sent::{Runs, ticks_of};
use super::totals::Totals;

/// The time, the counts and the ticks of a message's window. Empty for a message that is counted already.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// The start of the window: milliseconds since 1970.
    pub start: Option<i64>,
    /// The end of the window.
    pub until: Option<i64>,
    /// The counts of its readings.
    pub totals: Totals,
    /// The ticks of its readings, by channel.
    pub sent: BTreeMap<String, Runs>,
    /// Times, by channel, whose ticks count no more: the window corrects those that had them.
    pub cleared: BTreeMap<String, Runs>,
    /// The number that the message had before.
    pub moved: Option<u64>,
}

impl Contents {
    /// Returns the contents of a window that ends at `until`.
    #[must_use]
    pub fn of(description: &WindowDescription, until: i64) -> Self {
        let sent = ticks_of(description, until);
        let (start, totals) = (Some(description.start), Totals::of(description));
        Self { start, until: Some(until), totals, sent, ..Self::default() }
    }
}
