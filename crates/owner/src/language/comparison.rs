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
    /// `=`.
    Equal,
    /// `!=`.
    Differs,
}

impl Comparison {
    /// In the order of the declaration.
    pub const ALL: [Self; 6] =
        [Self::Greater, Self::AtLeast, Self::Less, Self::AtMost, Self::Equal, Self::Differs];

    /// Returns the text, such as `>=`.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Equal => "=",
            Self::Differs => "!=",
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
            Self::Equal => Self::Differs,
            Self::Differs => Self::Equal,
        }
    }

    /// Returns the comparison with its operands exchanged: `60 <= x` for `x >= 60`.
    #[must_use]
    pub const fn turned(self) -> Self {
        match self {
            Self::Greater => Self::Less,
            Self::AtLeast => Self::AtMost,
            Self::Less => Self::Greater,
            Self::AtMost => Self::AtLeast,
            Self::Equal | Self::Differs => self,
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
            Self::Equal => value == limit,
            Self::Differs => value != limit,
        }
    }

    /// Returns true for `=` and `!=`.
    #[must_use]
    pub const fn is_equality(self) -> bool {
        matches!(self, Self::Equal | Self::Differs)
    }

    /// Returns whether all values from `low` to `high` are on this side of `limit`, or none; None if some may be.
    #[must_use]
    pub fn decides(self, low: f64, high: f64, limit: f64) -> Option<bool> {
        match self {
            Self::Equal if low == limit && high == limit => Some(true),
            Self::Equal if high < limit || limit < low => Some(false),
            Self::Equal => None,
            Self::Differs => Self::Equal.decides(low, high, limit).map(|equal| !equal),
            // The ends decide, as the comparison is monotonic.
            _ => {
                let (low, high) = (self.holds(low, limit), self.holds(high, limit));
                (low == high).then_some(low)
            }
        }
    }
}
