//! The windows that a query may need.

use std::collections::BTreeSet;

/// Windows that match: of these devices and streams, with starts and numbers in these ranges.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Filter {
    /// None for all.
    pub(crate) devices: Option<BTreeSet<String>>,
    pub(crate) streams: Option<BTreeSet<String>>,
    /// The first and the last start, both inclusive: milliseconds since 1970.
    pub(crate) starts: (i64, i64),
    /// The first and the last number, both inclusive.
    pub(crate) numbers: (i64, i64),
    /// True if the tenant is another one than 0, which all windows have.
    pub(crate) nothing: bool,
    /// True if windows match that do not count any more, or have no reading.
    pub(crate) every: bool,
}

impl Default for Filter {
    fn default() -> Self {
        let all = (i64::MIN, i64::MAX);
        Self { devices: None, streams: None, starts: all, numbers: all, nothing: false, every: false }
    }
}

impl Filter {
    pub(crate) fn has_device(&self, device: &str) -> bool {
        self.devices.as_ref().is_none_or(|devices| devices.contains(device))
    }

    pub(crate) fn has_stream(&self, stream: &str) -> bool {
        self.streams.as_ref().is_none_or(|streams| streams.contains(stream))
    }

    /// Returns true for a window with this number and start.
    pub(crate) fn has_window(&self, number: u64, start: i64) -> bool {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        (self.numbers.0..=self.numbers.1).contains(&number)
            && (self.starts.0..=self.starts.1).contains(&start)
    }

    /// Returns true if starts between two times may match.
    pub(crate) fn may_start(&self, (first, last): (i64, i64)) -> bool {
        first <= self.starts.1 && last >= self.starts.0
    }

    /// Returns true if windows of a run of numbers may match whose readings lie between two times and whose length is at most
    /// `longest` milliseconds.
    pub(crate) fn may_have(&self, (first, last): (i64, i64), longest: i64) -> bool {
        // A window starts at its first reading or before, and not a length before.
        last >= self.starts.0 && first.saturating_sub(longest) <= self.starts.1
    }
}
