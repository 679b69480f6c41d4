//! The readings that devices left out.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use sotto_pack::{LeftOut, Reason};

use super::window::{StoredWindow, once};

/// The windows of a stream that are counted.
#[derive(Default)]
struct Counted {
    /// Starts and ends, in milliseconds since 1970.
    times: BTreeMap<i64, i64>,
    longest: i64,
}

impl Counted {
    fn add(&mut self, from: i64, to: i64) {
        let end = self.times.entry(from).or_insert(to);
        *end = to.max(*end);
        self.longest = self.longest.max(to.saturating_sub(from));
    }

    /// Returns true if one of them overlaps a time.
    fn meets(&self, from: i64, to: i64) -> bool {
        self.times.range(from.saturating_sub(self.longest)..to).any(|(_, end)| *end > from)
    }
}

/// Returns the readings that devices left out of these windows, by channel. A device reports a reading in each stream with its
/// channel: of windows of two streams of a bundle that cover the same time, the longer one counts.
pub(crate) fn left_out(windows: &[StoredWindow]) -> BTreeMap<String, LeftOut> {
    let mut left_out: BTreeMap<String, LeftOut> = BTreeMap::new();
    let mut counted: BTreeMap<(&str, usize), BTreeMap<&str, Counted>> = BTreeMap::new();
    let mut windows: Vec<&StoredWindow> = once(windows).collect();
    windows.sort_by_key(|window| Reverse(window.end.saturating_sub(window.start())));
    for window in windows {
        let (from, to) = (window.start(), window.end);
        for (channel, counts) in window.layout().channels().iter().zip(&window.description.left_out) {
            let streams = counted.entry((&channel.name, window.bundle)).or_default();
            let mut others = streams.iter().filter(|(stream, _)| ***stream != *window.stream);
            if others.any(|(_, counted)| counted.meets(from, to)) {
                continue;
            }
            streams.entry(&window.stream).or_default().add(from, to);
            // A reading that was already sent is in another window, so it is not lacking.
            let lacking = counts.iter().filter(|(reason, _)| *reason != Reason::AlreadySent);
            let all = left_out.entry(channel.name.clone()).or_default();
            lacking.for_each(|(reason, count)| all.add(reason, count));
        }
    }
    left_out
}
