//! The arrangement of slots in rows.

use serde::{Deserialize, Serialize};

use crate::limits;

/// Slots in rows: 2 × n/2 for BFV and BGV with batching, 1 × n/2 for CKKS, 1 × 1 for a single value.
///
/// Slot `(row, column)` is value `row · columns + column` of a vector. Rotations and sums stay within a row.
///
/// ```
/// use sotto_program::SlotShape;
///
/// let bgv = SlotShape { rows: 2, columns: 2048 }; // n = 4096
/// assert_eq!(bgv.slots(), 4096);
/// assert!(bgv.is_valid());
/// assert!(!SlotShape { rows: 0, columns: 2048 }.is_valid());
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct SlotShape {
    /// Number of rows, at least 1.
    pub rows: u32,
    /// Number of slots in a row, at least 1.
    pub columns: u32,
}

impl SlotShape {
    /// A single slot.
    pub const SCALAR: Self = Self { rows: 1, columns: 1 };

    /// Returns the number of slots: `rows · columns`.
    #[must_use]
    pub fn slots(self) -> usize {
        self.rows as usize * self.columns as usize
    }

    /// Returns true if there is at least one slot and at most [`limits::SLOTS`].
    #[must_use]
    pub fn is_valid(self) -> bool {
        (1..=limits::SLOTS as u64).contains(&(u64::from(self.rows) * u64::from(self.columns)))
    }
}
