//! Words that stand around a call.

/// The functions along groups.
pub(super) const ALONG: [&str; 4] = ["cumulative", "difference", "rate", "ewma"];

/// A cost.
pub(super) const TARIFF: &str = "tariff";
