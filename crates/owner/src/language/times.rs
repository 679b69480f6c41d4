//! Conditions on the time of readings: `where time 22:00-06:00 and weekday in (sat, sun)`.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use jiff::Zoned;
use serde::{Deserialize, Serialize};

use super::cycle::{Cycle, Recurs, Weekday};
use super::dates::Dates;
use super::written::list;

/// Minutes of a day.
const DAY: u16 = 24 * 60;

/// Conditions on the local time of readings. A reading counts by the beginning of its tick, to its own calendar day.
///
/// ```
/// use sotto_owner::question::{Question, Weekday};
///
/// let question = Question::parse("mean(boiler) where weekday in (sat, sun) and time 22:00-06:00")?;
/// assert!(question.times.weekdays.contains(&Weekday::Sat));
/// assert_eq!(question.to_string(), "mean(boiler) where time 22:00-06:00 and weekday in (sat, sun)");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Times {
    /// The time of day. None: all of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time: Option<TimeOfDay>,
    /// The days of the week. Empty: all of them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub weekdays: BTreeSet<Weekday>,
    /// The months of the year, 1 to 12. Empty: all of them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub months: BTreeSet<u8>,
    /// The days of the calendar. None: all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dates: Option<Dates>,
}

/// A part of the day, half open. If it ends before it begins, it is the evening and the early morning of a day.
///
/// Example: [`Times`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeOfDay {
    /// Minutes after midnight, below 1440.
    from: u16,
    /// Minutes after midnight, 1 to 1440. Not `from`.
    to: u16,
}

impl TimeOfDay {
    /// Reads `22:00-06:00`; the end of a day is `24:00`. Returns None for another text, and for one without a time in it.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let (from, to) = text.split_once('-')?;
        let (from, to) = (minute(from)?, minute(to)?);
        let to = if to == 0 { DAY } else { to };
        (from < DAY && from != to).then_some(Self { from, to })
    }

    fn contains(self, minute: u16) -> bool {
        if self.from < self.to {
            (self.from..self.to).contains(&minute)
        } else {
            minute >= self.from || minute < self.to
        }
    }

    /// Returns its ends, in minutes after midnight.
    pub(crate) fn ends(self) -> [u16; 2] {
        [self.from, self.to]
    }
}

/// Returns the minutes after midnight of `22:00`.
fn minute(text: &str) -> Option<u16> {
    let (hour, minute) = text.split_once(':')?;
    let number = |digits: &str| {
        let is_number = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
        digits.parse::<u16>().ok().filter(|_| is_number)
    };
    let (hour, minute) = (number(hour)?, number(minute)?);
    (minute < 60 && 60 * hour + minute <= DAY).then_some(60 * hour + minute)
}

impl Times {
    /// Returns true if all times count.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.time.is_none() && self.weekdays.is_empty() && self.months.is_empty() && self.dates.is_none()
    }

    /// Returns true if a reading at a local time counts.
    pub(crate) fn holds(&self, local: &Zoned) -> bool {
        let minute = 60 * u16::from(local.hour().unsigned_abs()) + u16::from(local.minute().unsigned_abs());
        let recurs = Recurs::of([Cycle::Weekday, Cycle::MonthOfYear], local);
        let Some((weekday, month)) = recurs.weekday.zip(recurs.month_of_year) else { return false };
        self.holds_at(minute, weekday, month)
            && self.dates.as_ref().is_none_or(|dates| dates.holds(local.date()))
    }

    /// Returns true if a reading at a minute of a day counts, but for its date.
    pub(super) fn holds_at(&self, minute: u16, weekday: Weekday, month: u8) -> bool {
        self.time.is_none_or(|time| time.contains(minute))
            && (self.weekdays.is_empty() || self.weekdays.contains(&weekday))
            && (self.months.is_empty() || self.months.contains(&month))
    }

    /// Returns the conditions in their canonical text.
    pub(crate) fn conditions(&self) -> Vec<String> {
        let time = self.time.map(|time| format!("time {time}"));
        let weekdays = In("weekday", &self.weekdays);
        let months = In("month", &self.months);
        let weekdays = (!self.weekdays.is_empty()).then(|| weekdays.to_string());
        let months = (!self.months.is_empty()).then(|| months.to_string());
        let dates = self.dates.as_ref().map(ToString::to_string);
        [time, weekdays, months, dates].into_iter().flatten().collect()
    }
}

struct In<'t, T>(&'static str, &'t BTreeSet<T>);

impl<T: Display> Display for In<'_, T> {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{} in (", self.0)?;
        list(self.1, out)?;
        out.write_str(")")
    }
}

impl Display for TimeOfDay {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { from, to } = self;
        write!(out, "{:02}:{:02}-{:02}:{:02}", from / 60, from % 60, to / 60, to % 60)
    }
}

impl From<TimeOfDay> for String {
    fn from(time: TimeOfDay) -> Self {
        time.to_string()
    }
}

impl TryFrom<String> for TimeOfDay {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        Self::read(&text).ok_or("a time of day is 22:00-06:00")
    }
}

impl std::str::FromStr for TimeOfDay {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.to_owned().try_into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_day_is_half_open_and_wraps() {
        let time = |text: &str| TimeOfDay::read(text).expect(text);
        for (text, inside, outside) in [
            ("22:00-06:00", &[22 * 60, DAY - 1, 0, 359][..], &[360, 22 * 60 - 1][..]),
            ("06:00-22:00", &[360, 22 * 60 - 1], &[359, 22 * 60]),
            ("18:00-24:00", &[18 * 60, DAY - 1], &[0, 18 * 60 - 1]),
            ("18:00-00:00", &[18 * 60, DAY - 1], &[0]),
            ("00:00-24:00", &[0, DAY - 1], &[]),
        ] {
            assert!(inside.iter().all(|minute| time(text).contains(*minute)), "{text}");
            assert!(!outside.iter().any(|minute| time(text).contains(*minute)), "{text}");
            assert_eq!(TimeOfDay::read(&time(text).to_string()), Some(time(text)));
        }
        for text in [
            "",
            "22-06",
            "22:00",
            "22:00-25:00",
            "24:00-06:00",
            "6:00-7:00",
            "06:60-07:00",
            "06:00-06:00",
            "é6:00-07:00",
        ] {
            assert_eq!(TimeOfDay::read(text), None, "{text}");
        }
    }
}
