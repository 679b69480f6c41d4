//! The place of a device in the order of a result.

use serde::{Deserialize, Serialize};

/// The place of a device in its group.
///
/// Example: [`Answer`](crate::Answer)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rank {
    /// From 1. Devices with equal values have the same place.
    pub place: u32,
    /// The way in which a device behind it in the order is near, also if that one has no row. None: it is certainly before all
    /// of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<Next>,
}

/// The way in which two devices of an order are near.
///
/// Example: [`Answer`](crate::Answer)
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Next {
    /// The value of the device next in the order is equal.
    Equal,
    /// The bounds of a device behind overlap, so that their order may be the other one.
    Overlaps,
}
