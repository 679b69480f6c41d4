//! The places of a compact window: readings, their squares, their products, and counts of readings by bin.

use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{Channel, ChannelBins, Layout, PackError, Presence, WindowDescription};

/// Maximum number of different lengths of a stream's windows.
const STEPS: u32 = 16;
/// Maximum columns: readings and squares of channels, and products of pairs.
const MOST_COLUMNS: usize = 4096;

/// The form of a stream's compact windows. A column holds one value a tick: first the readings of each
/// channel, then the squares of each channel, then the products of pairs. The place of a column at a tick is
/// column · ticks + tick. Ticks after the last reading are not sent ([`Places::ticks`]). After the columns come the
/// counts: a place for each bin of a channel, however many ticks there are.
///
/// ```
/// use sotto_pack::{Channel, Column, Places};
///
/// let channel = |name: &str| {
///     Channel { name: name.into(), maximum: 100.0, resolution: Some(1.0), ..Channel::default() }
/// };
/// let layout = Places::layout(vec![channel("inlet"), channel("outlet")], 16)?;
/// // Readings and squares of both channels, and their product.
/// let places = Places { width: 24, squares: true, products: vec![(0, 1)], ..Places::default() };
/// assert!(places.is_for(2));
/// assert_eq!(places.count(&layout, 16), 5 * 16);
/// assert_eq!(places.first(&layout, 16, Column::Square(1)), Some(3 * 16));
/// assert_eq!(places.first(&layout, 16, Column::Product(0, 1)), Some(4 * 16));
/// # Ok::<(), sotto_pack::PackError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Places {
    /// Bits of a place.
    pub width: u32,
    /// True if squares of readings are sent in addition.
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    pub squares: bool,
    /// Pairs of channels whose products are sent: the lower number first in each pair, pairs in ascending
    /// order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub products: Vec<(u16, u16)>,
    /// Bins in which the readings of a window are counted: channels in ascending order, each at most once.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bins: Vec<ChannelBins>,
}

/// A column of a compact window.
///
/// Example: [`Places`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// The readings of a channel.
    Reading(u16),
    /// The squares of a channel's readings.
    Square(u16),
    /// Products of the readings of two channels at the same tick; 0 if one is missing.
    Product(u16, u16),
    /// Number of a channel's readings in each bin.
    Bins(u16),
}

impl Places {
    /// Returns the number of columns for this many channels.
    #[must_use]
    pub fn columns(&self, channels: usize) -> usize {
        channels * if self.squares { 2 } else { 1 } + self.products.len()
    }

    /// Returns the ticks that a window sends: up to its last reading, rounded up to a sixteenth of the
    /// layout's ticks to limit the number of different lengths.
    #[must_use]
    pub fn ticks(window: &WindowDescription) -> u32 {
        let layout = &window.layout;
        let channels = 0..layout.channels().len() as u16;
        let end = |channel: u16| window.presence(channel).map_or(layout.ticks(), |presence| presence.end());
        let reach = channels.map(end).max().unwrap_or_default().max(1);
        reach.next_multiple_of(layout.ticks().div_ceil(STEPS)).min(layout.ticks())
    }

    /// Returns the number of places of windows with this many ticks.
    #[must_use]
    pub fn count(&self, layout: &Layout, ticks: u32) -> usize {
        self.columns(layout.channels().len()) * ticks as usize + self.bin_count()
    }

    /// Returns the number of bins of all channels.
    #[must_use]
    pub fn bin_count(&self) -> usize {
        self.bins.iter().map(ChannelBins::count).sum()
    }

    /// Returns the bins of a channel. Returns None if its readings are not counted.
    #[must_use]
    pub fn bins_of(&self, channel: u16) -> Option<&ChannelBins> {
        self.bins.iter().find(|bins| bins.channel == channel)
    }

    /// Returns the number of places of a column in windows with this many ticks.
    #[must_use]
    pub fn length(&self, ticks: u32, column: Column) -> usize {
        match column {
            Column::Bins(channel) => self.bins_of(channel).map_or(0, ChannelBins::count),
            _ => ticks as usize,
        }
    }

    /// Returns the first place of a column in windows with this many ticks. Returns None if the column is not
    /// sent.
    #[must_use]
    pub fn first(&self, layout: &Layout, ticks: u32, column: Column) -> Option<usize> {
        let channels = layout.channels().len();
        let known = |channel: u16| (usize::from(channel) < channels).then_some(usize::from(channel));
        let number = match column {
            Column::Reading(channel) => known(channel)?,
            Column::Square(channel) if self.squares => channels + known(channel)?,
            Column::Square(_) => return None,
            Column::Product(x, y) => {
                let at = self.products.iter().position(|pair| *pair == (x.min(y), x.max(y)))?;
                self.columns(channels) - self.products.len() + at
            }
            Column::Bins(channel) => {
                let at = self.bins.iter().position(|bins| bins.channel == channel)?;
                let before: usize = self.bins[..at].iter().map(ChannelBins::count).sum();
                return Some(self.columns(channels) * ticks as usize + before);
            }
        };
        Some(number * ticks as usize)
    }

    /// Makes the layout of compact windows: one row, as long as the channels need.
    ///
    /// # Errors
    /// [`PackError`], as [`Layout::new`]. The channels are encoded by [`Encoding::Resolution`], so each needs
    /// a resolution.
    pub fn layout(channels: Vec<Channel>, ticks: u32) -> Result<Layout, PackError> {
        Layout::of_sums(channels, ticks)
    }

    /// Returns the values of all places of a window with this many ticks, from its slots. A missing reading
    /// is 0 there. `presence` has the ticks with a reading, for each channel; a channel without one is not counted in
    /// bins.
    #[must_use]
    pub fn values(&self, layout: &Layout, ticks: u32, slots: &[i64], presence: &[Presence]) -> Vec<i64> {
        let mut values = Vec::with_capacity(self.count(layout, ticks));
        let ticks = 0..ticks;
        let at = |channel: u16, tick: u32| {
            layout.slot(channel, tick).and_then(|slot| slots.get(slot)).copied().unwrap_or_default()
        };
        let channels = 0..layout.channels().len() as u16;
        for channel in channels.clone() {
            values.extend(ticks.clone().map(|tick| at(channel, tick)));
        }
        if self.squares {
            for channel in channels {
                values.extend(ticks.clone().map(|tick| at(channel, tick).pow(2)));
            }
        }
        for (x, y) in &self.products {
            values.extend(ticks.clone().map(|tick| at(*x, tick) * at(*y, tick)));
        }
        for bins in &self.bins {
            let first = values.len();
            values.resize(first + bins.count(), 0);
            let present = presence.get(usize::from(bins.channel));
            for tick in present.into_iter().flat_map(Presence::iter).filter(|tick| ticks.contains(tick)) {
                values[first + bins.of(at(bins.channel, tick))] += 1;
            }
        }
        values
    }

    /// Returns the largest |value| of any place.
    #[must_use]
    pub fn magnitude(&self, layout: &Layout) -> f64 {
        let top = layout.magnitude();
        let of_readings = if self.squares || !self.products.is_empty() { top * top } else { top };
        if self.bins.is_empty() { of_readings } else { of_readings.max(layout.ticks().into()) }
    }

    /// Returns true if pairs and bins name existing channels, are in order and without duplicates, and there are
    /// not too many columns.
    #[must_use]
    pub fn is_for(&self, channels: usize) -> bool {
        let ordered = self.products.windows(2).all(|two| two[0] < two[1]);
        let known = self.products.iter().all(|(x, y)| x < y && usize::from(*y) < channels);
        let counted = self.bins.windows(2).all(|two| two[0].channel < two[1].channel)
            && self.bins.iter().all(|bins| usize::from(bins.channel) < channels && bins.is_valid());
        ordered && known && counted && self.columns(channels) <= MOST_COLUMNS
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Reading, Window};

    #[test]
    fn every_column_stands_at_its_place() {
        let channel = |name: &str| Channel {
            name: name.into(),
            minimum: -10.0,
            maximum: 10.0,
            resolution: Some(1.0),
            ..Channel::default()
        };
        let layout = Places::layout(vec![channel("a"), channel("b"), channel("c")], 3).unwrap();
        let bins = vec![
            ChannelBins { channel: 0, edges: vec![2] },
            ChannelBins { channel: 1, edges: vec![-1, 1, 5] },
        ];
        let places = Places { width: 40, squares: true, products: vec![(0, 2), (1, 2)], bins };
        let mut presence = vec![Presence::first(3); 3];
        presence[1] = Presence::first(1);
        presence[1].insert(2);
        let mut slots = vec![0; layout.slots()];
        for (channel, values) in [[1, 2, 3], [4, 0, 6], [-7, 8, 9]].into_iter().enumerate() {
            for (tick, value) in values.into_iter().enumerate() {
                slots[layout.slot(channel as u16, tick as u32).unwrap()] = value;
            }
        }
        let values = places.values(&layout, 3, &slots, &presence);
        assert_eq!(values.len(), places.count(&layout, 3));
        let of = |column| {
            let first = places.first(&layout, 3, column).unwrap();
            values[first..first + places.length(3, column)].to_vec()
        };
        assert_eq!(of(Column::Reading(1)), [4, 0, 6]);
        assert_eq!(of(Column::Square(2)), [49, 64, 81]);
        assert_eq!(of(Column::Product(2, 0)), [-7, 16, 27]);
        assert_eq!(of(Column::Product(1, 2)), [-28, 0, 54]);
        assert_eq!(of(Column::Bins(0)), [1, 2]);
        assert_eq!(of(Column::Bins(1)), [0, 0, 1, 1], "the missing reading is in no bin");
        assert_eq!(places.first(&layout, 3, Column::Bins(2)), None);
        assert_eq!(places.first(&layout, 3, Column::Product(0, 1)), None);
        assert_eq!(places.first(&layout, 3, Column::Reading(3)), None);
        assert_eq!(Places { squares: false, ..places.clone() }.first(&layout, 3, Column::Square(0)), None);
        assert!(places.is_for(3) && !places.is_for(2));
        // With only two ticks.
        let values = places.values(&layout, 2, &slots, &presence);
        let first = places.first(&layout, 2, Column::Square(2)).unwrap();
        assert_eq!((values.len(), &values[first..first + 2]), (16 + 6, &[49, 64][..]));
        assert_eq!(values[16..], [1, 1, 0, 0, 1, 0]);
        let twice = Places { bins: vec![places.bins[0].clone(); 2], ..places.clone() };
        assert!(!twice.is_for(3));
    }

    #[test]
    fn windows_end_with_their_last_reading() {
        let layout = |ticks: u32| {
            let channel = Channel { maximum: 1.0, resolution: Some(0.5), ..Channel::default() };
            Places::layout(
                vec![
                    Channel { name: "a".into(), ..channel.clone() },
                    Channel { name: "b".into(), ..channel },
                ],
                ticks,
            )
            .unwrap()
        };
        let until = |ticks: u32, tick: u32| {
            let mut window = Window::new(layout(ticks), 0, 1000).unwrap();
            window.push(&Reading { at: 1000 * i64::from(tick), channel: 1, value: 0.5 }).unwrap();
            Places::ticks(&WindowDescription::from(&window.close()))
        };
        assert_eq!((until(12, 0), until(12, 7), until(12, 11)), (1, 8, 12));
        // A day of 25 hours, then 25 hours of minutes.
        assert_eq!((until(25, 0), until(25, 23), until(25, 24)), (2, 24, 25));
        assert_eq!(
            (until(1500, 0), until(1500, 93), until(1500, 94), until(1500, 1499)),
            (94, 94, 188, 1500)
        );
        let empty = Window::new(layout(12), 0, 1000).unwrap().close();
        assert_eq!(Places::ticks(&WindowDescription::from(&empty)), 1);
    }
}
