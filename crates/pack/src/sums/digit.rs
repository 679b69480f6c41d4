//! Quantities that travel as two places.

use serde::{Deserialize, Serialize};

/// Bits of the low digit of a quantity that travels as two.
const LOW_BITS: u32 = 30;

/// The share of a value that a place holds. A quantity of more than 60 bits travels as two places.
///
/// ```
/// use sotto_pack::Digit;
///
/// let value = -(1_i128 << 40) + 5;
/// assert_eq!((Digit::Low.of(value), Digit::High.of(value)), (5, -(1 << 10)));
/// assert_eq!(Digit::Whole.of(7), 7);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Digit {
    /// The whole value.
    #[default]
    Whole,
    /// The value modulo 2^30, from 0.
    Low,
    /// The value divided by 2^30, rounded down.
    High,
}

impl Digit {
    /// Returns the share of a value: `value = low + 2^30 · high`.
    #[must_use]
    pub const fn of(self, value: i128) -> i128 {
        match self {
            Self::Whole => value,
            Self::Low => value & ((1 << LOW_BITS) - 1),
            Self::High => value >> LOW_BITS,
        }
    }

    /// Returns the factor of the share in the value.
    #[must_use]
    pub const fn factor(self) -> i64 {
        match self {
            Self::Whole | Self::Low => 1,
            Self::High => 1 << LOW_BITS,
        }
    }

    /// Returns the least and the largest share of values in a range.
    pub(super) fn range(self, (least, most): (i128, i128)) -> (i128, i128) {
        match self {
            Self::Low => (0, (1 << LOW_BITS) - 1),
            _ => (self.of(least), self.of(most)),
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}
