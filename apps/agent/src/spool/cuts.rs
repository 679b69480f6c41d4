//! Ends of the windows of a device's streams.

use std::collections::BTreeMap;

use sotto_pack::{Clock, Cut, WindowDescription};

/// The clock of a device, and the cut of each of its streams.
#[derive(Clone, Debug)]
pub struct Cuts {
    clock: Clock,
    cuts: BTreeMap<String, Cut>,
}

impl Cuts {
    /// Creates the cuts of streams by name.
    #[must_use]
    pub fn new(clock: Clock, cuts: BTreeMap<String, Cut>) -> Self {
        Self { clock, cuts }
    }

    /// Returns the plant's clock, with its time zone.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns the cut of a stream; `None` if the device's bundle lacks the stream.
    #[must_use]
    pub fn of(&self, stream: &str) -> Option<Cut> {
        self.cuts.get(stream).copied()
    }

    /// Returns the end of a window in milliseconds since 1970. The end of the span may shorten the last tick. Returns
    /// `None` if the device's bundle lacks the stream.
    #[must_use]
    pub fn end_of(&self, stream: &str, window: &WindowDescription) -> Option<i64> {
        Some(self.of(stream)?.end(&self.clock, window.start, window.ticks()))
    }
}
