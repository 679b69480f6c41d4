//! The quantities that the windows of a stream of sums hold, and the parts in which they travel.

use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{Channel, Encoding, Layout, MOST_BINS, PackError, Presence, Reason, WindowDescription};

/// Maximum number of parts of a window.
pub const MOST_PARTS: usize = 16;
/// Maximum number of ticks of a window of sums: its readings are a count, below 2^16.
pub const MOST_SUM_TICKS: u32 = u16::MAX as u32;
/// Maximum bits of a place.
const MOST_WIDTH: u8 = 60;
/// Bits of the low digit of a quantity that travels as two.
const LOW_BITS: u32 = 30;

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
}

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

/// A quantity in a part: the share of its values that the places hold, and the bits of each.
///
/// Example: [`SumsPart`]
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

/// A part of a window: quantities that are asked for together, under one tag.
///
/// The places follow the order of the quantities: first those that a window has once, then tick after tick. Its counts
/// are 1 for the window; one for each quantity that stands once: the readings of a column in bins, 1 where an extreme
/// has a reading; the readings left out, for each column the first `reasons` of [`Reason::ALL`]; then, tick after tick,
/// 1 for each quantity whose reading is there.
///
/// ```
/// use sotto_pack::{Channel, Digit, Layout, Placed, Presence, Quantity, SumsPart};
///
/// let level = Channel { name: "level".into(), maximum: 100.0, resolution: Some(1.0), ..Channel::default() };
/// let layout = Layout::of_sums(vec![level], 4)?;
/// let placed = |quantity, width| Placed { quantity, digit: Digit::Whole, width };
/// let bins = Quantity::Bins { column: 0, edges: vec![0] };
/// let part = SumsPart { quantities: vec![placed(bins, 12), placed(Quantity::Square(0), 24)], reasons: 0 };
/// // Readings of -3, 7 and 2 steps from the middle of the range; the second tick has none.
/// let mut present = Presence::first(1);
/// (2..4).for_each(|tick| present.insert(tick));
/// let values = part.values(&layout, 4, &[-3, 0, 7, 2], &[present]);
/// assert_eq!(values, [Some(1), Some(2), Some(9), None, Some(49), Some(4)]);
/// # Ok::<(), sotto_pack::PackError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SumsPart {
    /// The quantities; those that stand once come first.
    pub quantities: Vec<Placed>,
    /// The number of reasons by which readings left out are counted: the first of [`Reason::ALL`], 0 for none.
    #[serde(default)]
    pub reasons: u8,
}

/// The reason why parts do not fit the channels of a stream.
///
/// Example: [`SumsPart::check`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SumsError {
    /// A quantity names a channel that the stream lacks.
    #[error("a quantity names a column that the stream does not have")]
    Column,
    /// The columns of a product are equal, or in the wrong order.
    #[error("a product names the lower column first, and two columns")]
    Product,
    /// There are too many bins.
    #[error("a column has at most 1024 bins")]
    Bins,
    /// The edges of bins do not ascend.
    #[error("the edges of bins ascend")]
    Edges,
    /// A quantity of a tick comes before one of the window.
    #[error("quantities that a window has once come before those of ticks")]
    Order,
    /// There are more reasons than this version knows.
    #[error("a part counts readings left out for reasons that are not known here")]
    Reasons,
    /// A place has too few bits for all values of its quantity, or not 1 to 60.
    #[error(
        "the bits of a place, 1 to 60, do not tell all values of its quantity apart: widen it, or split the quantity in two"
    )]
    Range,
    /// The number of parts is not possible.
    #[error("a window of sums has 1 to 16 parts")]
    Parts,
    /// The number of ticks is not possible.
    #[error("a window of sums has 1 to 65535 ticks")]
    Ticks,
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
    fn range(self, (least, most): (i128, i128)) -> (i128, i128) {
        match self {
            Self::Low => (0, (1 << LOW_BITS) - 1),
            _ => (self.of(least), self.of(most)),
        }
    }

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_whole(&self) -> bool {
        *self == Self::Whole
    }
}

impl Quantity {
    /// Returns true if a window has this quantity once, and false if it has it at each tick.
    #[must_use]
    pub fn is_once(&self) -> bool {
        matches!(self, Self::Bins { .. } | Self::Least(_) | Self::Largest(_))
    }

    /// Returns false if the values of several windows do not add: they are opened window by window.
    #[must_use]
    pub fn adds(&self) -> bool {
        !matches!(self, Self::Least(_) | Self::Largest(_))
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
            Self::Reading(x) | Self::Square(x) | Self::Least(x) | Self::Largest(x) => (*x, *x),
            Self::Bins { column, .. } => (*column, *column),
        }
    }

    /// Returns the least and the largest value, in windows of up to the layout's ticks.
    ///
    /// # Errors
    /// [`SumsError::Column`] if the layout lacks a column.
    pub fn range(&self, layout: &Layout) -> Result<(i128, i128), SumsError> {
        let top = |column: u16| {
            layout.quantiser(column).map(|quantiser| i128::from(quantiser.top())).ok_or(SumsError::Column)
        };
        let (x, y) = self.columns();
        let (x, y) = (top(x)?, top(y)?);
        Ok(match self {
            Self::Reading(_) | Self::Least(_) | Self::Largest(_) => (-x, x),
            Self::Square(_) => (0, x * x),
            Self::Product(..) => (-x * y, x * y),
            Self::Bins { .. } => (0, layout.ticks().into()),
        })
    }

    fn check(&self) -> Result<(), SumsError> {
        match self {
            Self::Product(x, y) if x >= y => Err(SumsError::Product),
            Self::Bins { edges, .. } if edges.len() >= MOST_BINS => Err(SumsError::Bins),
            Self::Bins { edges, .. } if !edges.is_sorted_by(|a, b| a < b) => Err(SumsError::Edges),
            _ => Ok(()),
        }
    }

    /// Appends the values of a window's readings, in time that does not depend on them.
    fn push_once(&self, digit: Digit, readings: &[i64], values: &mut Vec<Option<i64>>) {
        let share = |value: i64| digit.of(value.into()) as i64;
        match self {
            _ if readings.is_empty() => values.extend(core::iter::repeat_n(None, self.places())),
            Self::Bins { edges, .. } => {
                let mut before = readings.len() as i64;
                for edge in edges {
                    let from: i64 = readings.iter().map(|q| i64::from(q >= edge)).sum();
                    values.push(Some(share(before - from)));
                    before = from;
                }
                values.push(Some(share(before)));
            }
            Self::Least(_) => values.push(Some(share(-largest(readings.iter().map(|q| -q))))),
            Self::Largest(_) => values.push(Some(share(largest(readings.iter().copied())))),
            Self::Reading(_) | Self::Square(_) | Self::Product(..) => {}
        }
    }
}

/// Returns the largest of some readings, without a branch on any. Readings are below 2^32.
fn largest(readings: impl Iterator<Item = i64>) -> i64 {
    readings.fold(i64::from(i32::MIN) << 1, |largest, q| {
        let below = (largest - q) >> (i64::BITS - 1);
        q & below | largest & !below
    })
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

impl SumsPart {
    /// Checks a part of a stream with this layout.
    ///
    /// # Errors
    /// [`SumsError`]
    ///
    /// ```
    /// use sotto_pack::{Channel, Digit, Layout, Placed, Quantity, SumsError, SumsPart};
    ///
    /// let level = Channel { name: "level".into(), maximum: 100.0, resolution: Some(1.0), ..Channel::default() };
    /// let layout = Layout::of_sums(vec![level], 4)?;
    /// let placed = |quantity| Placed { quantity, digit: Digit::Whole, width: 24 };
    /// let part = SumsPart { quantities: vec![placed(Quantity::Reading(1))], reasons: 0 };
    /// assert_eq!(part.check(&layout), Err(SumsError::Column));
    /// # Ok::<(), sotto_pack::PackError>(())
    /// ```
    pub fn check(&self, layout: &Layout) -> Result<(), SumsError> {
        let quantities = &self.quantities;
        if quantities.windows(2).any(|pair| !pair[0].quantity.is_once() && pair[1].quantity.is_once()) {
            return Err(SumsError::Order);
        }
        if usize::from(self.reasons) > Reason::ALL.len() {
            return Err(SumsError::Reasons);
        }
        quantities.iter().try_for_each(|placed| {
            placed.quantity.check()?;
            placed.range(layout).map(drop)
        })
    }

    /// Returns the quantities that stand once, and those of ticks.
    #[must_use]
    pub fn split(&self) -> (&[Placed], &[Placed]) {
        self.quantities.split_at(self.quantities.partition_point(|placed| placed.quantity.is_once()))
    }

    /// Returns the values at the places of a window that sends `ticks` ticks, in order: None where absent. `presence` has
    /// the ticks with a reading of each channel. No branch, address or division depends on a reading.
    #[must_use]
    pub fn values(
        &self,
        layout: &Layout,
        ticks: u32,
        slots: &[i64],
        presence: &[Presence],
    ) -> Vec<Option<i64>> {
        let (once, tick) = self.split();
        let mut values = Vec::with_capacity(
            once.iter().map(|placed| placed.quantity.places()).sum::<usize>() + tick.len() * ticks as usize,
        );
        let reading = |column: u16, tick: u32| {
            let there = presence.get(usize::from(column)).is_some_and(|presence| presence.contains(tick));
            let slot = layout.slot(column, tick).filter(|_| there)?;
            slots.get(slot).copied()
        };
        for Placed { quantity, digit, .. } in once {
            let column = quantity.columns().0;
            let readings: Vec<i64> = (0..ticks).filter_map(|tick| reading(column, tick)).collect();
            quantity.push_once(*digit, &readings, &mut values);
        }
        for at in 0..ticks {
            for Placed { quantity, digit, .. } in tick {
                let (x, y) = quantity.columns();
                let value = reading(x, at).zip(reading(y, at)).map(|(x, y)| match quantity {
                    Quantity::Reading(_) => i128::from(x),
                    _ => i128::from(x) * i128::from(y),
                });
                values.push(value.map(|value| digit.of(value) as i64));
            }
        }
        values
    }

    /// Returns for each place of a window, in order, if the window has it. Others hold 0, without a pad.
    #[must_use]
    pub fn present(&self, window: &WindowDescription) -> Vec<bool> {
        let (once, tick) = self.split();
        let places = once.iter().flat_map(|placed| {
            let present = window.count(placed.quantity.columns().0) > 0;
            core::iter::repeat_n(present, placed.quantity.places())
        });
        places.chain(at_ticks(tick, window)).collect()
    }

    /// Returns the counts of a window, which its tag covers. Counts of readings left out stop at 65,535.
    #[must_use]
    pub fn counts(&self, window: &WindowDescription) -> Vec<u16> {
        let (once, tick) = self.split();
        let below = |count: u64| u16::try_from(count).unwrap_or(u16::MAX);
        let once = once.iter().map(|placed| {
            let readings = below(window.count(placed.quantity.columns().0).into());
            if matches!(placed.quantity, Quantity::Bins { .. }) { readings } else { readings.min(1) }
        });
        let reasons = Reason::ALL.iter().take(self.reasons.into());
        let left_out = (0..window.layout.channels().len()).flat_map(|column| {
            let all = window.left_out.get(column);
            reasons.clone().map(move |reason| below(all.map_or(0, |all| all.count(*reason))))
        });
        let ticks = at_ticks(tick, window).into_iter().map(u16::from);
        core::iter::once(1).chain(once).chain(left_out).chain(ticks).collect()
    }

    /// Returns the number of counts that a window has once, and of those of each tick.
    #[must_use]
    pub fn count_numbers(&self, columns: usize) -> (usize, usize) {
        let (once, tick) = self.split();
        (1 + once.len() + columns * usize::from(self.reasons), tick.len())
    }
}

/// Returns for each quantity, tick after tick, if a window has its readings.
fn at_ticks(quantities: &[Placed], window: &WindowDescription) -> Vec<bool> {
    let columns = 0..window.layout.channels().len() as u16;
    let presence: Vec<Option<Presence>> = columns.map(|column| window.presence(column)).collect();
    let has = |column: u16, tick| {
        presence.get(usize::from(column)).and_then(Option::as_ref).is_some_and(|all| all.contains(tick))
    };
    let at = |tick| {
        quantities.iter().map(move |placed| {
            let (x, y) = placed.quantity.columns();
            (x, y, tick)
        })
    };
    (0..window.sent_ticks()).flat_map(at).map(|(x, y, tick)| has(x, tick) && has(y, tick)).collect()
}

impl WindowDescription {
    /// Returns the description of a window of `ticks` ticks without gaps. `start` is in milliseconds since 1970, `period`
    /// the milliseconds between ticks.
    #[must_use]
    pub fn whole(layout: &Layout, start: i64, period: u32, ticks: u32) -> Self {
        Self {
            layout: layout.clone(),
            present: vec![ticks; layout.channels().len()],
            start,
            period,
            length: ticks,
            presence: Vec::new(),
            left_out: Vec::new(),
            generated: false,
        }
    }

    /// Returns the ticks that a window of sums sends: up to its last reading.
    #[must_use]
    pub fn sent_ticks(&self) -> u32 {
        let columns = 0..self.layout.channels().len() as u16;
        columns
            .filter_map(|column| self.presence(column))
            .map(|presence| presence.end())
            .max()
            .unwrap_or_default()
    }

    /// Returns the number of a channel's readings.
    fn count(&self, channel: u16) -> u32 {
        self.present.get(usize::from(channel)).copied().unwrap_or_default()
    }
}

impl Layout {
    /// Makes the layout of a stream of sums: one row, as long as the channels need, at most 2^16 slots. Each channel needs
    /// a resolution.
    ///
    /// # Errors
    /// [`PackError`], as [`Layout::new`].
    pub fn of_sums(channels: Vec<Channel>, ticks: u32) -> Result<Self, PackError> {
        let blocks = u32::try_from(channels.len()).unwrap_or(u32::MAX).checked_next_power_of_two();
        let block = ticks.checked_next_power_of_two();
        let columns = blocks.zip(block).and_then(|(blocks, block)| blocks.checked_mul(block)).unwrap_or(0);
        Self::smallest(channels, ticks, columns, 1, Encoding::Resolution)
    }
}

/// Checks the parts of a stream of sums.
pub(crate) fn check_parts(parts: &[SumsPart], channels: &[Channel], ticks: u32) -> Result<(), String> {
    if !(1..=MOST_PARTS).contains(&parts.len()) {
        return Err(format!("{}", SumsError::Parts));
    }
    if ticks > MOST_SUM_TICKS {
        return Err(format!("{}", SumsError::Ticks));
    }
    let layout = Layout::of_sums(channels.to_vec(), ticks).map_err(|error| format!("{error}"))?;
    parts.iter().try_for_each(|part| part.check(&layout)).map_err(|error| format!("{error}"))
}
