//! Where the windows of a device's streams end.

use std::collections::BTreeMap;

use sotto_pack::{Clock, Cut, WindowDescription};

/// The clock of a device, and how it cuts the windows of each stream that follows it.
#[derive(Clone, Debug)]
pub struct Cuts {
    clock: Clock,
    cuts: BTreeMap<String, Cut>,
}

impl Cuts {
    /// Streams by name. A stream that is not among them begins its windows with a reading.
    #[must_use]
    pub fn new(clock: Clock, cuts: BTreeMap<String, Cut>) -> Self {
        Self { clock, cuts }
    }

    /// The cuts of a device none of whose streams follows a clock.
    #[must_use]
    pub fn none() -> Self {
        Self::new(Clock::utc(), BTreeMap::new())
    }

    /// The clock.
    #[must_use]
    pub fn clock(&self) -> &Clock {
        &self.clock
    }

    /// The cut of a stream; `None` if it follows no clock.
    #[must_use]
    pub fn of(&self, stream: &str) -> Option<Cut> {
        self.cuts.get(stream).copied()
    }

    /// When a window ends: milliseconds since 1970. The end of its span may cut its last tick short. `None` for a stream that
    /// follows no clock.
    #[must_use]
    pub fn end_of(&self, stream: &str, window: &WindowDescription) -> Option<i64> {
        let Cut { span, .. } = self.of(stream)?;
        Some(window.end().min(self.clock.end_of(span, window.start)))
    }
}
