//! The measurement of one operation on one engine.

use crate::statistics::Statistics;

/// The final measurement.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) statistics: Statistics,
    pub(super) bytes: Option<u64>,
    pub(super) verified: bool,
    /// The operation or codec that was measured instead.
    pub(super) instead: Option<String>,
}
