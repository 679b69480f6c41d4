//! The calendar units of the plant's clock.

use serde::{Deserialize, Serialize};

/// A calendar unit of the plant's clock.
///
/// ```
/// use sotto_pack::Span;
///
/// assert!(Span::Hour < Span::Month);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Span {
    /// From one full hour to the next.
    Hour,
    /// From midnight to midnight.
    Day,
    /// From Monday's midnight to the next.
    Week,
    /// From the first of a month to the first of the next.
    Month,
}
