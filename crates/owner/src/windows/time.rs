//! The time that a question covers.

use sotto_pack::Clock;

use super::calendar::Calendar;
use super::row_time::Group;
use super::window::{DeviceWindows, StoredWindow};
use crate::error::OwnerError;
use crate::language::{By, Period, When};
use crate::question::Question;

/// A time with or without a start and an end, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Between {
    /// The first moment, included.
    pub(crate) since: Option<i64>,
    /// The last moment, excluded.
    pub(crate) until: Option<i64>,
}

impl Between {
    /// Returns the start and the end that a question names.
    pub(crate) fn of(question: &Question, clock: &Clock) -> Result<Self, OwnerError> {
        let resolve = |when: &Option<When>| when.as_ref().map(|when| moment(when, clock)).transpose();
        match &question.period {
            Period::All | Period::Over(_) => Ok(Self::default()),
            Period::During(during) => {
                let now = jiff::Timestamp::now().as_millisecond();
                let (since, until) = during.between(now, clock).unzip();
                Ok(Self { since, until })
            }
            Period::Between { since, until } => Ok(Self { since: resolve(since)?, until: resolve(until)? }),
        }
    }

    /// Returns true if it has a moment between two others.
    pub(crate) fn overlaps(self, first: i64, last: i64) -> bool {
        self.since.is_none_or(|since| since <= last) && self.until.is_none_or(|until| first < until)
    }

    /// Leaves out a window's ticks at other times. Returns true if any are left.
    pub(super) fn cut(self, window: &mut StoredWindow) -> bool {
        let first = self.since.map_or(0, |since| window.ticks_before(since));
        let end = self.until.map_or(u32::MAX, |until| window.ticks_before(until));
        window.ticks = window.ticks.start.max(first)..window.ticks.end.min(end);
        !window.ticks.is_empty()
    }

    /// Returns this time with so many groups before it: one part, or two if the time begins within a group.
    pub(crate) fn with_groups_before(self, clock: &Clock, by: Option<By>, groups: u32) -> Vec<Self> {
        let Some((calendar, since)) = by.and_then(Calendar::of).zip(self.since).filter(|_| groups > 0) else {
            return vec![self];
        };
        let begins = calendar.start_of(clock, since);
        let back = |at: i64, _| calendar.start_of(clock, at.saturating_sub(1));
        let first = Some((0..groups).fold(begins, back));
        if begins == since {
            return vec![Self { since: first, ..self }];
        }
        vec![Self { since: first, until: Some(begins) }, self]
    }

    /// Returns the time from the beginning of the first of these parts to the end of the last.
    pub(crate) fn around(parts: &[Self]) -> Self {
        let since = parts.first().and_then(|part| part.since);
        Self { since, until: parts.last().and_then(|part| part.until) }
    }

    /// Returns the time between two parts.
    pub(crate) fn gap(parts: &[Self]) -> Option<Group> {
        let [first, second] = parts else { return None };
        first.until.zip(second.since).map(|(from, to)| Group { from, to })
    }

    /// Leaves out ticks of devices' windows that are in none of these parts. A window in two parts comes twice.
    pub(crate) fn keep(parts: &[Self], devices: &mut [DeviceWindows]) {
        for device in devices {
            let of_window = |window: StoredWindow| {
                let of = move |part: &Self| {
                    let mut window = window.clone();
                    part.cut(&mut window).then_some(window)
                };
                parts.iter().filter_map(of).collect::<Vec<_>>()
            };
            device.windows = std::mem::take(&mut device.windows).into_iter().flat_map(of_window).collect();
        }
    }

    /// Resolves `over 7d` back from the end of the newest window, so that the stored data decide and not this computer's
    /// clock. Days and weeks follow the plant's clock.
    pub(crate) fn back_from_newest(&mut self, question: &Question, devices: &[DeviceWindows], clock: &Clock) {
        let Period::Over(time) = &question.period else { return };
        let ends = devices.iter().flat_map(|device| &device.windows).map(|window| window.to());
        let Some(newest) = ends.max() else { return };
        self.since = self.since.or(Some(time.before(clock, newest)));
        self.until = self.until.or(Some(newest));
    }
}

/// Returns the parts of a time that are in none of these parts, and those that are in one, in order.
pub(super) fn divided(time: Group, parts: &[Between]) -> Vec<(Group, bool)> {
    let ends = parts.iter().flat_map(|part| [part.since, part.until]).flatten();
    let inside = ends.filter(|end| (time.from + 1..time.to).contains(end));
    let mut ends: Vec<i64> = [time.from, time.to].into_iter().chain(inside).collect();
    ends.sort_unstable();
    ends.dedup();
    let of = |ends: &[i64]| {
        let (from, to) = (ends[0], ends[1]);
        let is_in = |part: &Between| {
            part.since.is_none_or(|since| since <= from) && part.until.is_none_or(|until| to <= until)
        };
        (Group { from, to }, parts.iter().any(is_in))
    };
    ends.windows(2).map(of).collect()
}

/// Resolves a written moment, in the plant's zone if it names none. Returns milliseconds since 1970.
///
/// # Errors
/// [`OwnerError::Question`] if the date or time does not exist.
pub fn moment(when: &When, clock: &Clock) -> Result<i64, OwnerError> {
    when.at(clock).ok_or_else(|| {
        let text = when.as_str();
        OwnerError::Question(format!("{text} is no date or time: write 2014-01-31 or 2014-01-31T12:30"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_divided_where_the_question_begins() {
        let part = |since, until| Between { since, until };
        let time = |from, to| Group { from, to };
        let parts = [part(Some(10), Some(20)), part(Some(25), None)];
        assert_eq!(divided(time(20, 30), &parts), [(time(20, 25), false), (time(25, 30), true)]);
        assert_eq!(divided(time(10, 20), &parts), [(time(10, 20), true)]);
        assert_eq!(divided(time(5, 12), &parts), [(time(5, 10), false), (time(10, 12), true)]);
        assert_eq!(divided(time(3, 9), &[Between::default()]), [(time(3, 9), true)]);
    }

    #[test]
    fn groups_before_begin_where_the_clock_says() {
        let clock = Clock::new("Europe/Rome").expect("a zone");
        let at = |text: &str| moment(&text.parse().expect(text), &clock).expect(text);
        let between = |since: &str, until: &str| Between { since: Some(at(since)), until: Some(at(until)) };
        let before = |time: Between, by, groups| time.with_groups_before(&clock, by, groups);
        let (noon, end) = ("2014-03-31T12:00", "2014-04-05");
        // One of the days has 23 hours.
        let parts = before(between(noon, end), Some(By::Day), 2);
        assert_eq!(parts, [between("2014-03-29", "2014-03-31"), between(noon, end)]);
        assert_eq!(Between::around(&parts), between("2014-03-29", end));
        assert_eq!(Between::gap(&parts), Some(Group { from: at("2014-03-31"), to: at(noon) }));
        let parts = before(between("2014-03-31", end), Some(By::Week), 1);
        assert_eq!(parts, [between("2014-03-24", end)], "it begins with a group");
        assert_eq!(Between::gap(&parts), None);
        for (by, groups) in [(None, 3), (Some(By::Day), 0), (Some(By::Window), 2)] {
            assert_eq!(before(between(noon, end), by, groups), [between(noon, end)], "{by:?}");
        }
        let open = Between { until: Some(at(end)), since: None };
        assert_eq!(before(open, Some(By::Day), 2), [open], "no group is before all time");
    }
}
