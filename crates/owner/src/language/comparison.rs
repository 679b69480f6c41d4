//! Comparisons with a limit.

use serde::{Deserialize, Serialize};

/// A comparison of a reading with a limit.
///
/// ```
/// use sotto_owner::question::Comparison;
///
/// assert!(Comparison::AtMost.holds(80.0, 80.0) && !Comparison::Less.holds(80.0, 80.0));
/// assert_eq!(Comparison::AtLeast.symbol(), ">=");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// `>`.
    Greater,
    /// `>=`.
    AtLeast,
    /// `<`.
    Less,
    /// `<=`.
    AtMost,
}

impl Comparison {
    /// In the order of the declaration.
    pub const ALL: [Self; 4] = [Self::Greater, Self::AtLeast, Self::Less, Self::AtMost];

    /// Returns the text, such as `>=`.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::AtMost => "<=",
        }
    }

    /// Returns the comparison that holds where this one does not.
    #[must_use]
    pub const fn negated(self) -> Self {
        match self {
            Self::Greater => Self::AtMost,
            Self::AtLeast => Self::Less,
            Self::Less => Self::AtLeast,
            Self::AtMost => Self::Greater,
        }
    }

    /// Returns true if `value` is on this side of `limit`.
    #[must_use]
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Greater => value > limit,
            Self::AtLeast => value >= limit,
            Self::Less => value < limit,
            Self::AtMost => value <= limit,
        }
    }
}
