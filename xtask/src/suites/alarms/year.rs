//! The year of the house.

/// 2025-01-01T00:00:00Z in milliseconds.
pub(super) const BEGIN: i64 = 1_735_689_600_000;
pub(super) const HOUR: i64 = 3_600_000;

/// Returns a moment as RFC 3339.
pub(super) fn time(at: i64) -> String {
    jiff::Timestamp::from_millisecond(at).unwrap_or_default().to_string()
}
