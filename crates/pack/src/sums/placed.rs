//! Quantities at places of so many bits.

use serde::{Deserialize, Serialize};

use super::digit::Digit;
use super::error::SumsError;
use super::quantity::Quantity;
use crate::Layout;

/// Maximum bits of a place.
const MOST_WIDTH: u8 = 60;

/// A quantity in a part: the share of its values that the places hold, and the bits of each.
///
/// Example: [`crate::SumsPart`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Placed {
    /// The quantity.
    pub quantity: Quantity,
    /// The share of its values.
    #[serde(default, skip_serializing_if = "Digit::is_whole")]
    pub digit: Digit,
    /// Bits of a place, 1 to 60.
    pub width: u8,
}

impl Placed {
    /// Returns a share of a quantity at the narrowest places that hold sums of so many windows. Returns None if those have
    /// more than 60 bits.
    ///
    /// # Errors
    /// [`SumsError::Column`] if the layout lacks a column.
    ///
    /// ```
    /// use sotto_pack::{Channel, Digit, Layout, Placed, Quantity};
    ///
    /// let level = Channel { name: "level".into(), maximum: 100.0, resolution: Some(1.0), ..Channel::default() };
    /// let layout = Layout::of_sums(vec![level], 24)?;
    /// // Readings of -50 to 50 steps: 100 · 512 is below 2^16.
    /// let placed = Placed::for_windows(Quantity::Reading(0), Digit::Whole, &layout, 512)?;
    /// assert_eq!(placed.map(|placed| placed.width), Some(16));
    /// assert_eq!(Placed::for_windows(Quantity::Reading(0), Digit::Whole, &layout, 1 << 60)?, None);
    /// # Ok::<(), Box<dyn core::error::Error>>(())
    /// ```
    pub fn for_windows(
        quantity: Quantity,
        digit: Digit,
        layout: &Layout,
        windows: u64,
    ) -> Result<Option<Self>, SumsError> {
        let (least, most) = digit.range(quantity.range(layout)?);
        // Below 2^64 each.
        let largest = (most - least) as u128 * u128::from(windows);
        let width = (u128::BITS - largest.leading_zeros()).max(1);
        Ok((width <= MOST_WIDTH.into()).then_some(Self { quantity, digit, width: width as u8 }))
    }

    /// Returns the least and the largest value of a place.
    ///
    /// # Errors
    /// [`SumsError::Column`] and [`SumsError::Range`].
    pub fn range(&self, layout: &Layout) -> Result<(i64, i64), SumsError> {
        let (least, most) = self.digit.range(self.quantity.range(layout)?);
        // Differences of values that a place tells apart are below 2^60, so that the values fit.
        if (1..=MOST_WIDTH).contains(&self.width) && most - least < 1 << self.width {
            Ok((least as i64, most as i64))
        } else {
            Err(SumsError::Range)
        }
    }
}
