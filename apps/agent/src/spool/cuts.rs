//! Ends of the windows of a device's streams.

use std::collections::BTreeMap;

use sotto_pack::{Clock, Cut, WindowDescription};

/// The clock of a device, and the cut of each stream whose windows follow it.
#[derive(Clone, Debug)]
pub struct Cuts {
    clock: Clock,
    cuts: BTreeMap<String, Cut>,
}

impl Cuts {
    /// Creates the cuts of streams by name. A stream without a cut begins its windows with a reading.
    #[must_use]
    pub fn new(clock: Clock, cuts: BTreeMap<String, Cut>) -> Self {
        Self { clock, cuts }
    }

    /// Returns the cuts of a device without any stream that follows a clock.
    #[must_use]
    pub fn none() -> Self {
        Self::new(Clock::utc(), BTreeMap::new())
    }

    /// Returns the clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// Returns the cut of a stream; `None` if it follows no clock.
    #[must_use]
    pub fn of(&self, stream: &str) -> Option<Cut> {
        self.cuts.get(stream).copied()
    }

    /// Returns the end of a window in milliseconds since 1970. The end of the span may shorten the last tick. Returns
    /// `None` if the stream follows no clock.
    #[must_use]
    pub fn end_of(&self, stream: &str, window: &WindowDescription) -> Option<i64> {
        let Cut { span, .. } = self.of(stream)?;
        Some(window.end().min(self.clock.end_of(span, window.start)))
    }
}
