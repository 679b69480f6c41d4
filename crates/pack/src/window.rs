//! Collects readings into windows.

use alloc::vec::Vec;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;

use crate::{Encoding, Layout, LeftOut, PackError, Packed, Period, Presence, Reading, Reason, Slots};

/// A window of readings that is being filled. A refused reading leaves it unchanged.
///
/// ```
/// use sotto_pack::{Channel, Encoding, Layout, Packed, Period, Reading, Reason, Window};
///
/// let load = Channel { name: "load".into(), unit: "%".into(), maximum: 100.0, ..Channel::default() };
/// let layout = Layout::smallest(vec![load], 24, 32, 1, Encoding::Real)?;
/// let start = 1_700_000_000_000;
/// let mut window = Window::new(layout, start, Period::from_milliseconds(60_000))?;
/// window.push(&Reading { at: start + 120_000, channel: 0, value: 75.0 })?;
/// window.leave_out(0, Reason::NotANumber, 1);
/// let packed: Packed = window.close();
/// assert_eq!(packed.reals().map(|slots| slots[2]), Some(0.5));
/// assert_eq!((packed.readings(), packed.left_out[0].total()), (1, 1));
/// # Ok::<(), sotto_pack::PackError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Window {
    packed: Packed,
    /// The tick after the last one that has a reading.
    next: u32,
    /// The ticks whose reading was rounded, for each channel.
    rounded: Vec<Presence>,
}

impl Window {
    /// Makes an empty window. Tick `i` lasts from `period.at(start, i)` to before `period.at(start, i + 1)`.
    ///
    /// # Errors
    /// [`PackError::Dimension`] if the layout has no tick.
    pub fn new(layout: Layout, start: i64, period: Period) -> Result<Self, PackError> {
        let length = layout.ticks();
        Self::spanning(layout, start, period, length)
    }

    /// Makes an empty window of `length` ticks, which may be fewer than the layout's.
    ///
    /// # Errors
    /// [`PackError::Dimension`] if the length is 0 or above the layout's ticks.
    pub fn spanning(layout: Layout, start: i64, period: Period, length: u32) -> Result<Self, PackError> {
        if !(1..=layout.ticks()).contains(&length) {
            let possible = "from 1 tick to as many as the layout has";
            return Err(PackError::Dimension { what: "length", value: length, possible });
        }
        let slots = match layout.encoding() {
            Encoding::Integer { .. } | Encoding::Resolution => Slots::Integers(vec![0; layout.slots()]),
            Encoding::Real => Slots::Reals(vec![0.0; layout.slots()]),
        };
        let channels = layout.channels().len();
        let (present, presence) = (vec![0; channels], vec![Presence::default(); channels]);
        let (left_out, rounded) = (vec![LeftOut::default(); channels], present.clone());
        let packed = Packed { slots, layout, present, start, period, length, presence, rounded, left_out };
        let rounded = packed.presence.clone();
        Ok(Self { packed, next: 0, rounded })
    }

    /// Returns where each reading has its slot.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.packed.layout
    }

    /// Returns the end of the window: milliseconds since 1970.
    #[must_use]
    pub fn end(&self) -> i64 {
        self.packed.period.at(self.packed.start, self.packed.length)
    }

    /// Returns the number of ticks up to the last one that has a reading.
    #[must_use]
    pub fn filled(&self) -> u32 {
        self.next
    }

    /// Returns true if the channel has a reading at the tick.
    #[must_use]
    pub fn contains(&self, channel: u16, tick: u32) -> bool {
        self.packed.presence.get(usize::from(channel)).is_some_and(|presence| presence.contains(tick))
    }

    /// Counts readings of a channel that are left out. Ignores channels that the layout does not have.
    pub fn leave_out(&mut self, channel: u16, reason: Reason, count: u64) {
        if let Some(left_out) = self.packed.left_out.get_mut(usize::from(channel)) {
            left_out.add(reason, count);
        }
    }

    /// Adds one reading. Readings may come in any order.
    ///
    /// # Errors
    /// [`PackError::UnknownChannel`], [`PackError::OutsideWindow`], [`PackError::Duplicate`], or [`PackError::Value`]
    /// for a value outside its declared range or not finite.
    pub fn push(&mut self, reading: &Reading) -> Result<(), PackError> {
        let Reading { at, channel, value } = *reading;
        let tick = self.tick(at)?;
        let channels = self.packed.layout.channels().len();
        let slot =
            self.packed.layout.slot(channel, tick).ok_or(PackError::UnknownChannel { channel, channels })?;
        let channel = usize::from(channel);
        if self.packed.presence[channel].contains(tick) {
            let channel = self.packed.layout.channels()[channel].name.clone();
            return Err(PackError::Duplicate { channel, tick });
        }
        let number = self.quantised(channel, value)?;
        let is_rounded = self.packed.layout.scales()[channel].rounds(value);
        self.put(channel, tick, slot, number, is_rounded);
        self.next = self.next.max(tick + 1);
        Ok(())
    }

    /// Returns the number in the slot of a tick; None without a reading.
    #[must_use]
    pub fn number(&self, channel: u16, tick: u32) -> Option<f64> {
        let slot = self.packed.layout.slot(channel, tick).filter(|_| self.contains(channel, tick))?;
        match &self.packed.slots {
            Slots::Integers(slots) => slots.get(slot).map(|number| *number as f64),
            Slots::Reals(slots) => slots.get(slot).copied(),
        }
    }

    /// Puts a number into the slot of a tick in place of its reading, if there is one: a number of steps, which is rounded to a
    /// whole one and counts as rounded if it is none, or a real number from −1 to 1. Returns false, and changes nothing, if the
    /// channel or the tick does not exist, or the number is
    /// outside the slot's range.
    pub fn set(&mut self, channel: u16, tick: u32, number: f64) -> bool {
        let Packed { layout, length, .. } = &self.packed;
        let quantiser = layout.quantiser(channel);
        let most = quantiser.map_or(1.0, |quantiser| quantiser.top() as f64);
        let (given, number) = (number, quantiser.map_or(number, |_| number.round()));
        let slot = layout.slot(channel, tick).filter(|_| tick < *length && number.abs() <= most);
        let Some(slot) = slot else { return false };
        if self.contains(channel, tick) {
            self.packed.present[usize::from(channel)] -= 1;
        }
        self.put(channel.into(), tick, slot, number, number != given);
        self.next = self.next.max(tick + 1);
        true
    }

    /// Takes the reading of a tick out.
    pub fn remove(&mut self, channel: u16, tick: u32) {
        let Some(slot) = self.packed.layout.slot(channel, tick).filter(|_| self.contains(channel, tick))
        else {
            return;
        };
        let channel = usize::from(channel);
        match &mut self.packed.slots {
            Slots::Integers(slots) => slots[slot] = 0,
            Slots::Reals(slots) => slots[slot] = 0.0,
        }
        self.packed.presence[channel].remove(tick);
        self.rounded[channel].remove(tick);
        self.packed.present[channel] -= 1;
        self.next = self.packed.presence.iter().map(Presence::end).max().unwrap_or_default();
    }

    /// Returns the packed window. Ticks that were not reached are missing readings.
    #[must_use]
    pub fn close(self) -> Packed {
        let rounded = self.rounded.iter().map(Presence::count).collect();
        Packed { rounded, ..self.packed }
    }

    fn tick(&self, at: i64) -> Result<u32, PackError> {
        let start = self.packed.start;
        let outside = PackError::OutsideWindow { at, start, end: self.end() };
        let since = at.checked_sub(start).filter(|since| *since >= 0);
        let tick = since.map(|since| self.packed.period.tick_at(since));
        let tick = tick.and_then(|tick| u32::try_from(tick).ok());
        tick.filter(|tick| *tick < self.packed.length).ok_or(outside)
    }

    fn quantised(&self, channel: usize, value: f64) -> Result<f64, PackError> {
        self.packed.layout.scales()[channel].number(value).map_err(|reason| {
            let channel = self.packed.layout.channels()[channel].name.clone();
            PackError::Value { channel, reason }
        })
    }

    fn put(&mut self, channel: usize, tick: u32, slot: usize, number: f64, is_rounded: bool) {
        match &mut self.packed.slots {
            Slots::Integers(slots) => slots[slot] = number as i64,
            Slots::Reals(slots) => slots[slot] = number,
        }
        self.packed.presence[channel].insert(tick);
        self.packed.present[channel] += 1;
        if is_rounded {
            self.rounded[channel].insert(tick);
        } else {
            self.rounded[channel].remove(tick);
        }
    }
}
