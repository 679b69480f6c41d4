//! The cost of readings that come down.

/// Readings that came down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CameDown {
    /// Number of windows, each of which came by itself.
    pub(crate) windows: u64,
    pub(crate) bytes: u64,
}

impl CameDown {
    /// Adds others.
    pub(crate) fn add(&mut self, others: Self) {
        self.windows += others.windows;
        self.bytes = self.bytes.saturating_add(others.bytes);
    }
}
