//! Slots, and what stands in them.

use crate::{Layout, LeftOut, Presence};

/// The numbers of all slots: `row · columns + column`.
#[derive(Clone, Debug, PartialEq)]
pub enum Slots {
    /// For BFV and BGV.
    Integers(Vec<i64>),
    /// For CKKS.
    Reals(Vec<f64>),
}

impl Slots {
    /// How many slots there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(numbers) => numbers.len(),
            Self::Reals(numbers) => numbers.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A window of readings, ready to be encoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Packed {
    /// The numbers of all slots. A missing reading is 0, as is every slot that no reading has.
    pub slots: Slots,
    /// What stands where.
    pub layout: Layout,
    /// For each channel, how many readings there are: what a mean divides by.
    pub present: Vec<u32>,
    /// Where the window begins: milliseconds since 1970.
    pub start: i64,
    /// Milliseconds between ticks.
    pub period: u32,
    /// Ticks that the window covers: at most the layout's.
    pub length: u32,
    /// For each channel, which ticks have a reading.
    pub presence: Vec<Presence>,
    /// For each channel, readings that were left out of this window, or since the one before it.
    pub left_out: Vec<LeftOut>,
}

impl Packed {
    /// The numbers when they are whole.
    #[must_use]
    pub fn integers(&self) -> Option<&[i64]> {
        match &self.slots {
            Slots::Integers(numbers) => Some(numbers),
            Slots::Reals(_) => None,
        }
    }

    /// The numbers when they are reals.
    #[must_use]
    pub fn reals(&self) -> Option<&[f64]> {
        match &self.slots {
            Slots::Reals(numbers) => Some(numbers),
            Slots::Integers(_) => None,
        }
    }

    /// All readings in the window.
    #[must_use]
    pub fn readings(&self) -> u64 {
        self.present.iter().copied().map(u64::from).sum()
    }
}
