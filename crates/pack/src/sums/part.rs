//! Parts of a window: quantities under one tag.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use super::error::SumsError;
use super::placed::Placed;
use super::quantity::Quantity;
use crate::{Layout, Presence, Reason, WindowDescription};

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

    /// Returns true if it has values that [add](Quantity::adds) over windows.
    ///
    /// ```
    /// use sotto_pack::{Digit, Placed, Quantity, SumsPart};
    ///
    /// let part = |quantity| {
    ///     let quantities = vec![Placed { quantity, digit: Digit::Whole, width: 24 }];
    ///     SumsPart { quantities, reasons: 0 }
    /// };
    /// assert!(part(Quantity::Reading(0)).adds() && !part(Quantity::Largest(0)).adds());
    /// ```
    #[must_use]
    pub fn adds(&self) -> bool {
        self.quantities.iter().any(|placed| placed.quantity.adds())
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
            let readings: Vec<(u32, i64)> =
                (0..ticks).filter_map(|tick| Some((tick, reading(column, tick)?))).collect();
            quantity.push_once(*digit, layout, &readings, &mut values);
        }
        for at in 0..ticks {
            for Placed { quantity, digit, .. } in tick {
                let (x, y) = quantity.columns();
                let value = reading(x, at).zip(reading(y, at)).map(|(x, y)| quantity.at_tick(x, y));
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
