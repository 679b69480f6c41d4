//! What a device computes of the readings of a window.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::digit::Digit;
use super::error::SumsError;
use crate::{ANGLE_STEPS, Layout, MOST_BINS};

/// A quantity that a device computes of its readings q (whole numbers of steps; columns are numbered from 0, in the order
/// of the stream's channels).
///
/// ```
/// use sotto_pack::Quantity;
///
/// // Readings and squares stand at each tick, counts by bin and extremes once in a window.
/// assert!(!Quantity::Reading(0).is_once() && !Quantity::Product(0, 1).is_once());
/// let bins = Quantity::Bins { column: 0, edges: vec![-100, 0, 100] };
/// assert!(bins.is_once() && Quantity::Largest(0).is_once());
/// assert!(bins.adds() && !Quantity::Largest(0).adds());
/// assert_eq!((bins.places(), Quantity::Square(0).places()), (4, 1));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Quantity {
    /// The reading of a column at each tick.
    Reading(u16),
    /// Its square.
    Square(u16),
    /// The product of the readings of two columns at each tick, the lower number first.
    Product(u16, u16),
    /// The numbers of a window's readings by bin.
    Bins {
        /// The column.
        column: u16,
        /// The first number of each bin but the lowest, ascending; k edges make k + 1 bins.
        edges: Vec<i64>,
    },
    /// The least reading of a window. Such values do not add: they are opened window by window.
    Least(u16),
    /// The largest reading of a window.
    Largest(u16),
    /// The first reading of a window; it does not add, either.
    First(u16),
    /// The last reading of a window; it does not add, either.
    Last(u16),
    /// The increase from the first reading of a window to its last, by the rule of its counter ([`Increase`](crate::Increase)).
    Increase(u16),
    /// What is in doubt about the increase: it may be larger by this.
    Doubt(u16),
    /// The number of readings of a window that differ from the one before.
    Changes(u16),
    /// The sum of the cosines of a window's angles ([`Angle::cosine_and_sine`](crate::Angle::cosine_and_sine)).
    Cosine(u16),
    /// The sum of their sines.
    Sine(u16),
    /// The number of readings of a counter in a window that are below the one before.
    Falls(u16),
    /// The sum of the powers q^exponent of a window's readings.
    Power {
        /// The column.
        column: u16,
        /// The exponent, 1 to 4.
        exponent: u8,
    },
}

/// Maximum exponent of [`Quantity::Power`].
const MOST_EXPONENT: u8 = 4;

impl Quantity {
    /// Returns true if a window has this quantity once, and false if it has it at each tick.
    #[must_use]
    pub fn is_once(&self) -> bool {
        match self {
            Self::Bins { .. }
            | Self::Least(_)
            | Self::Largest(_)
            | Self::First(_)
            | Self::Last(_)
            | Self::Increase(_)
            | Self::Doubt(_)
            | Self::Falls(_)
            | Self::Changes(_)
            | Self::Cosine(_)
            | Self::Sine(_)
            | Self::Power { .. } => true,
            Self::Reading(_) | Self::Square(_) | Self::Product(..) => false,
        }
    }

    /// Returns false for a quantity of a window that is opened window by window: values of several windows do not add, or mean
    /// nothing without those that do not.
    #[must_use]
    pub fn adds(&self) -> bool {
        !self.is_once() || matches!(self, Self::Bins { .. })
    }

    /// Returns the number of its places: in a window, or at a tick.
    #[must_use]
    pub fn places(&self) -> usize {
        match self {
            Self::Bins { edges, .. } => edges.len() + 1,
            _ => 1,
        }
    }

    /// Returns the columns that it is computed of: one, or the two of a product.
    #[must_use]
    pub fn columns(&self) -> (u16, u16) {
        match self {
            Self::Product(x, y) => (*x, *y),
            Self::Reading(x)
            | Self::Square(x)
            | Self::Least(x)
            | Self::Largest(x)
            | Self::First(x)
            | Self::Last(x)
            | Self::Increase(x)
            | Self::Doubt(x)
            | Self::Falls(x)
            | Self::Changes(x)
            | Self::Cosine(x)
            | Self::Sine(x) => (*x, *x),
            Self::Bins { column, .. } | Self::Power { column, .. } => (*column, *column),
        }
    }

    /// Returns the least and the largest value, in windows of up to the layout's ticks.
    ///
    /// # Errors
    /// [`SumsError::Column`] if the layout lacks a column, [`SumsError::Range`] if sums of powers are not below 2^100.
    pub fn range(&self, layout: &Layout) -> Result<(i128, i128), SumsError> {
        let top = |column: u16| {
            layout.quantiser(column).map(|quantiser| i128::from(quantiser.top())).ok_or(SumsError::Column)
        };
        let (x, y) = self.columns();
        let (x, y) = (top(x)?, top(y)?);
        Ok(match self {
            Self::Reading(_) | Self::Least(_) | Self::Largest(_) | Self::First(_) | Self::Last(_) => (-x, x),
            Self::Square(_) => (0, x * x),
            Self::Product(..) => (-x * y, x * y),
            Self::Bins { .. } | Self::Changes(_) | Self::Falls(_) => (0, layout.ticks().into()),
            Self::Increase(column) => {
                let rule = layout.increase(*column).ok_or(SumsError::Column)?;
                (0, rule.largest(layout.ticks()).into())
            }
            Self::Doubt(column) => {
                let rule = layout.increase(*column).ok_or(SumsError::Column)?;
                (0, rule.largest_doubt(layout.ticks()).into())
            }
            Self::Cosine(_) | Self::Sine(_) => {
                let most = i128::from(ANGLE_STEPS) * i128::from(layout.ticks());
                (-most, most)
            }
            Self::Power { exponent, .. } => {
                let most = x
                    .checked_pow((*exponent).into())
                    .and_then(|power| power.checked_mul(layout.ticks().into()))
                    .filter(|most| *most < 1 << 100)
                    .ok_or(SumsError::Range)?;
                (if exponent % 2 == 0 { 0 } else { -most }, most)
            }
        })
    }

    pub(super) fn check(&self) -> Result<(), SumsError> {
        match self {
            Self::Product(x, y) if x >= y => Err(SumsError::Product),
            Self::Bins { edges, .. } if edges.len() >= MOST_BINS => Err(SumsError::Bins),
            Self::Bins { edges, .. } if !edges.is_sorted_by(|a, b| a < b) => Err(SumsError::Edges),
            Self::Power { exponent, .. } if !(1..=MOST_EXPONENT).contains(exponent) => {
                Err(SumsError::Exponent)
            }
            _ => Ok(()),
        }
    }

    /// Appends the values of a window's readings, in time that does not depend on them.
    pub(super) fn push_once(
        &self,
        digit: Digit,
        layout: &Layout,
        readings: &[(u32, i64)],
        values: &mut Vec<Option<i64>>,
    ) {
        let q = || readings.iter().map(|(_, q)| *q);
        let share = |value: i64| digit.of(value.into()) as i64;
        match self {
            _ if readings.is_empty() => values.extend(core::iter::repeat_n(None, self.places())),
            Self::Bins { edges, .. } => {
                let mut before = readings.len() as i64;
                for edge in edges {
                    let from: i64 = q().map(|q| i64::from(q >= *edge)).sum();
                    values.push(Some(share(before - from)));
                    before = from;
                }
                values.push(Some(share(before)));
            }
            Self::Least(_) => values.push(Some(share(-largest(q().map(|q| -q))))),
            Self::Largest(_) => values.push(Some(share(largest(q())))),
            Self::First(_) => values.push(q().next().map(share)),
            Self::Last(_) => values.push(q().next_back().map(share)),
            Self::Increase(column) | Self::Doubt(column) | Self::Falls(column) => {
                let over = layout.increase(*column).map(|rule| rule.over(readings)).unwrap_or_default();
                values.push(Some(share(match self {
                    Self::Increase(_) => over.increase,
                    Self::Doubt(_) => over.doubt,
                    _ => over.falls,
                })));
            }
            Self::Changes(_) => {
                let changes = readings.windows(2).map(|pair| i64::from(pair[0].1 != pair[1].1));
                values.push(Some(share(changes.sum())));
            }
            Self::Cosine(column) | Self::Sine(column) => {
                let at = usize::from(matches!(self, Self::Sine(_)));
                let all = q().map(|q| layout.cosine_and_sine(*column, q)[at]);
                values.push(Some(share(all.sum())));
            }
            Self::Power { exponent, .. } => {
                values.push(Some(digit.of(Self::sum_of_powers(q(), *exponent)) as i64));
            }
            Self::Reading(_) | Self::Square(_) | Self::Product(..) => {}
        }
    }

    /// Returns Σ q^exponent of readings whose range [`Quantity::range`] accepts.
    #[must_use]
    pub fn sum_of_powers(readings: impl Iterator<Item = i64>, exponent: u8) -> i128 {
        readings.map(|q| i128::from(q).pow(exponent.into())).sum()
    }

    /// Returns the value at a tick with readings of both columns.
    pub(super) fn at_tick(&self, x: i64, y: i64) -> i128 {
        match self {
            Self::Reading(_) => x.into(),
            _ => i128::from(x) * i128::from(y),
        }
    }
}

/// Returns the largest of some readings, without a branch on any. Readings are below 2^40.
fn largest(readings: impl Iterator<Item = i64>) -> i64 {
    readings.fold(-1 << 40, |largest, q| {
        let below = (largest - q) >> (i64::BITS - 1);
        q & below | largest & !below
    })
}
