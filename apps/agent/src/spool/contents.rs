//! The end, counts and ticks that a message adds to the state of its stream.

use std::collections::BTreeMap;
use std::path::Path;

use sotto_pack::WindowDescription;

use super::cuts::Cuts;
use super::entry::Entry;
use super::folder::read;
use super::names::Names;
use super::runs::{Runs, ticks_of};
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
    /// The windows in whose place the window comes.
    pub names: Names,
    /// The number that the message had before.
    pub moved: Option<u64>,
}

impl Contents {
    /// Returns the contents of a window that ends at `until`.
    #[must_use]
    pub fn of(description: &WindowDescription, until: i64) -> Self {
        let sent = ticks_of(description, until);
        let (start, totals) = (Some(description.start), Totals::of(description));
        Self { start, until: Some(until), totals, sent, names: Names::of(description), ..Self::default() }
    }
}

/// Returns the contents of a message, by its own header. The end is unknown if the device's bundle lacks its stream.
/// Returns `None` for a damaged message, which the sender puts aside.
pub(super) fn contents(folder: &Path, entry: &Entry, cuts: &Cuts) -> Option<Contents> {
    let (_, envelope) = read(folder, entry).ok()?;
    let window = WindowDescription::parse(&envelope.header().layout).ok()?;
    let until = cuts.end_of(&entry.stream, &window);
    let of = Contents::of(&window, until.unwrap_or_else(|| window.end()));
    let start = of.start.filter(|_| until.is_some());
    Some(Contents { start, until, ..of })
}
