//! Packed windows: slots with their layout and counts.

use alloc::vec::Vec;

use crate::{Layout, LeftOut, Period, Presence};

/// The numbers of all slots, at index `row · columns + column`.
///
/// Example: [`crate::unpack()`]
#[derive(Clone, Debug, PartialEq)]
pub enum Slots {
    /// Whole numbers, for BFV and BGV.
    Integers(Vec<i64>),
    /// Reals, for CKKS.
    Reals(Vec<f64>),
}

impl Slots {
    /// Returns the number of slots.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(numbers) => numbers.len(),
            Self::Reals(numbers) => numbers.len(),
        }
    }

    /// Returns true if there are no slots.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A window of readings, ready to be encoded.
///
/// Example: [`crate::Window`]
#[derive(Clone, Debug, PartialEq)]
pub struct Packed {
    /// The numbers of all slots. A missing reading is 0, like every slot without a reading.
    pub slots: Slots,
    /// The slots of channels and ticks.
    pub layout: Layout,
    /// The number of readings of each channel: the divisor of a mean.
    pub present: Vec<u32>,
    /// Start of the window: milliseconds since 1970.
    pub start: i64,
    /// The time between ticks.
    pub period: Period,
    /// Ticks of the window: at most the layout's.
    pub length: u32,
    /// The ticks with a reading, for each channel.
    pub presence: Vec<Presence>,
    /// The number of readings of each channel whose value differs from the one that was given: those that are no multiple
    /// of the resolution.
    pub rounded: Vec<u32>,
    /// For each channel, the readings left out of this window, or between the previous window and this one.
    pub left_out: Vec<LeftOut>,
}

impl Packed {
    /// Returns the numbers if they are whole.
    #[must_use]
    pub fn integers(&self) -> Option<&[i64]> {
        match &self.slots {
            Slots::Integers(numbers) => Some(numbers),
            Slots::Reals(_) => None,
        }
    }

    /// Returns the numbers if they are reals.
    #[must_use]
    pub fn reals(&self) -> Option<&[f64]> {
        match &self.slots {
            Slots::Reals(numbers) => Some(numbers),
            Slots::Integers(_) => None,
        }
    }

    /// Returns the number of readings in the window.
    #[must_use]
    pub fn readings(&self) -> u64 {
        self.present.iter().copied().map(u64::from).sum()
    }
}
