//! The cost of readings that come down.

/// Readings that came down.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CameDown {
    /// Number of windows, each of which came by itself.
    pub(crate) windows: u64,
    pub(crate) bytes: u64,
}
