//! The numbers at the ticks of a window: merged readings, and what fills the ticks between them.

use sotto_pack::{Layout, Period, Window};
use zeroize::Zeroizing;

use super::rules::ChannelRules;
use crate::spool::Runs;
use crate::spool::kept::{KeptHeld, KeptReading, KeptReadings};
use crate::windows::closed::FillError;
use crate::windows::several::FixedPoint;

/// Part of a window of the clock: the time that it covers, on the clock's ticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Part {
    pub(super) start: i64,
    pub(super) until: i64,
    /// The time between ticks.
    pub(super) period: Period,
}

impl Part {
    /// Returns the number of ticks; the last one may be cut short.
    pub(super) fn ticks(&self) -> u32 {
        u32::try_from(self.period.ticks_in(self.until - self.start)).unwrap_or(u32::MAX)
    }

    /// Returns the beginning of a tick.
    pub(super) fn at(&self, tick: u32) -> i64 {
        self.period.at(self.start, tick)
    }

    /// Returns beginning and end of the tick of a time.
    pub(super) fn tick_of(&self, at: i64) -> (i64, i64) {
        let tick = self.period.tick_at(at - self.start);
        let [from, to] = [tick, tick + 1].map(|tick| self.period.at(self.start, tick));
        (from, to.min(self.until.max(at + 1)))
    }
}

/// The numbers of slots, before rounding, by channel and tick. Wiped when dropped.
pub(super) struct Values(Vec<Zeroizing<Vec<Option<f64>>>>);

/// The rules by which a part of a window is filled.
pub(super) struct Filling<'f> {
    pub(super) rules: &'f [ChannelRules],
    pub(super) fixed: FixedPoint,
    pub(super) held: &'f KeptHeld,
    /// For each channel, the time before which ticks are filled.
    pub(super) limits: &'f [i64],
    /// For each channel, ticks with readings that are not known any more: nothing holds behind one.
    pub(super) unknown: &'f [Runs],
    /// For each channel, ticks that another window has.
    pub(super) taken: &'f [Runs],
}

impl Filling<'_> {
    /// Returns the numbers of a part with these readings, which are in order by channel.
    pub(super) fn values(&self, part: Part, readings: &[KeptReadings]) -> Values {
        let of = |(channel, rules): (usize, &ChannelRules)| {
            let readings = readings.get(channel).map_or(&[][..], |readings| &readings[..]);
            self.channel(channel, rules, part, readings)
        };
        Values(self.rules.iter().enumerate().map(of).collect())
    }

    fn channel(
        &self,
        channel: usize,
        rules: &ChannelRules,
        part: Part,
        readings: &[KeptReading],
    ) -> Zeroizing<Vec<Option<f64>>> {
        let ticks = part.ticks();
        let mut values = Zeroizing::new(vec![None; ticks as usize]);
        let [unknown, taken] =
            [self.unknown, self.taken].map(|all| all.get(channel).filter(|runs| !runs.is_empty()));
        let limit = self.limits.get(channel).copied().unwrap_or(i64::MIN);
        let mut last = self.held.get(channel).copied().flatten();
        let mut rest = readings;
        if rest.is_empty() && (!rules.fills() || (last.is_none() && unknown.is_none())) {
            return values;
        }
        for tick in 0..ticks {
            let (from, to) = (part.at(tick), part.at(tick + 1));
            let (here, behind) = rest.split_at(rest.partition_point(|reading| reading.at < to));
            rest = behind;
            let is_free = taken.is_none_or(|taken| !taken.contains(from));
            if unknown.is_some_and(|unknown| unknown.contains(from)) {
                last = None;
            }
            let value = if here.is_empty() {
                let next = rest.first().map_or(limit, |next| next.at.max(limit));
                let holds =
                    |last: &KeptReading| (last.at..rules.holds_until(last.at).min(next)).contains(&from);
                last.as_ref().filter(|last| holds(last)).map(|last| rules.filled(last.number))
            } else {
                last = here.last().copied();
                // No truncation: a tick is shorter than 2^32 ms.
                rules.merged(here.iter().map(|reading| ((reading.at - from) as u32, reading.number)))
            };
            if let (Some(value), true) = (value, is_free) {
                values[tick as usize] = Some(self.fixed.unrounded(value));
            }
        }
        values
    }
}

impl Values {
    /// Returns the first and the last tick with a number of any channel.
    pub(super) fn ends(&self) -> Option<(u32, u32)> {
        let first = self.0.iter().filter_map(|values| values.iter().position(Option::is_some)).min()?;
        let last = self.0.iter().filter_map(|values| values.iter().rposition(Option::is_some)).max()?;
        Some((first as u32, last as u32))
    }

    /// Returns for each channel the ticks with a number, of this part.
    pub(super) fn presence(&self, part: Part) -> Vec<Runs> {
        let of = |values: &Zeroizing<Vec<Option<f64>>>| {
            let (mut runs, mut first) = (Runs::default(), None);
            for tick in 0..=values.len() as u32 {
                let is_there = values.get(tick as usize).is_some_and(Option::is_some);
                match (first, is_there) {
                    (None, true) => first = Some(tick),
                    (Some(from), false) => {
                        runs.push(part.at(from), part.at(tick).min(part.until));
                        first = None;
                    }
                    _ => {}
                }
            }
            runs
        };
        self.0.iter().map(of).collect()
    }

    /// Returns the window of a part from its tick `first` on, `until` an end that may cut its last tick short. Its start is
    /// later by the phase.
    pub(super) fn window(
        &self,
        layout: &Layout,
        part: Part,
        (first, until): (u32, i64),
        phase: i64,
    ) -> Result<Window, FillError> {
        let within = Part { start: part.at(first), until, ..part };
        let start = within.start.saturating_add(phase);
        let mut window = Window::spanning(layout.clone(), start, part.period, within.ticks())?;
        for (channel, values) in self.0.iter().enumerate() {
            for tick in 0..within.ticks() {
                if let Some(number) = values.get((first + tick) as usize).copied().flatten() {
                    window.set(channel as u16, tick, number);
                }
            }
        }
        Ok(window)
    }
}
