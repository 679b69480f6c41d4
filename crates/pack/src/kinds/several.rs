//! A tick with several readings.

use serde::{Deserialize, Serialize};

/// What a tick with several readings holds.
///
/// It does not depend on their order: readings of one time and value are one reading, and of the readings of one time the
/// smallest value comes first.
///
/// Example: [`crate::ChannelKind`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Several {
    /// The reading of the earliest time.
    First,
    /// The reading of the latest time.
    Last,
    /// Their mean, rounded to the resolution once.
    Mean,
    /// The smallest.
    Min,
    /// The largest.
    Max,
    /// Their sum.
    Sum,
    /// The first that comes; others are left out as off the grid.
    Refuse,
}

impl Several {
    /// Every rule, in the order of its code in a header.
    pub const ALL: [Self; 7] =
        [Self::First, Self::Last, Self::Mean, Self::Min, Self::Max, Self::Sum, Self::Refuse];

    /// Returns the word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
            Self::Mean => "mean",
            Self::Min => "min",
            Self::Max => "max",
            Self::Sum => "sum",
            Self::Refuse => "refuse",
        }
    }
}
