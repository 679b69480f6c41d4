//! The end, counts and ticks that a message adds to the state of its stream.

use std::collections::BTreeMap;
use std::path::Path;

use sotto_pack::WindowDescription;

use super::cuts::Cuts;
use super::entry::Entry;
use super::folder::read;
use super::sent::{Runs, ticks_of};
use super::totals::Totals;

/// The end, the counts and the ticks of a message's window. Empty for a message that is counted already.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contents {
    /// The end of the window: milliseconds since 1970.
    pub until: Option<i64>,
    /// The counts of its readings.
    pub totals: Totals,
    /// The ticks of its readings, by channel.
    pub sent: BTreeMap<String, Runs>,
}

impl Contents {
    /// Returns the contents of a window that ends at `until`.
    #[must_use]
    pub fn of(description: &WindowDescription, until: i64) -> Self {
        let sent = ticks_of(description, until);
        Self { until: Some(until), totals: Totals::of(description), sent }
    }
}

/// Returns the contents of a message, by its own header. The end is unknown if the device's bundle lacks its stream.
/// Returns `None` for a damaged message, which the sender puts aside.
pub(super) fn contents(folder: &Path, entry: &Entry, cuts: &Cuts) -> Option<Contents> {
    let (_, envelope) = read(folder, entry).ok()?;
    let window = WindowDescription::parse(&envelope.header().layout).ok()?;
    let until = cuts.end_of(&entry.stream, &window);
    let of = Contents::of(&window, until.unwrap_or_else(|| window.end()));
    Some(Contents { until, ..of })
}
