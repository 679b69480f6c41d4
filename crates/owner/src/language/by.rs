//! Groups: `by day`, `by 15m`, `by month from 21`.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::{Cycle, Duration, DurationUnit};

/// Groups of readings with one answer each.
///
/// ```
/// use sotto_owner::question::{By, Question};
///
/// assert_eq!(Question::parse("mean(boiler) by day")?.by, Some(By::Day));
/// assert_eq!(Question::parse("mean(boiler) by 15m")?.by, Some(By::Every("15m".parse()?)));
/// assert_eq!(By::MonthFrom(21).to_string(), "month from 21");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// Each window alone.
    Window,
    /// Equal parts of a day, such as 15 minutes or 6 hours. An hour and a day are [`By::Hour`] and [`By::Day`].
    Every(Duration),
    /// Clock hours in the plant's time zone.
    Hour,
    /// Calendar days in the plant's time zone.
    Day,
    /// Weeks from Monday.
    Week,
    /// Each month of the calendar.
    Month,
    /// From this day of a month, 2 to 28, to the same day of the next.
    MonthFrom(u8),
    /// Quarters of the calendar year.
    Quarter,
    /// Each year of the calendar.
    Year,
    /// Groups that recur: `by weekday`, `by hour of day and weekday`.
    Recurring {
        /// The first key of a row.
        first: Cycle,
        /// The second key, another one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        second: Option<Cycle>,
    },
}

impl By {
    /// The groups that are one word, smallest first.
    pub const WORDS: [Self; 7] =
        [Self::Window, Self::Hour, Self::Day, Self::Week, Self::Month, Self::Quarter, Self::Year];

    /// Returns the word of a group that is one, e.g. `day`.
    #[must_use]
    pub const fn word(self) -> Option<&'static str> {
        Some(match self {
            Self::Window => "window",
            Self::Hour => "hour",
            Self::Day => "day",
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
            Self::Every(_) | Self::MonthFrom(_) | Self::Recurring { .. } => return None,
        })
    }

    /// Returns true for groups that recur.
    #[must_use]
    pub const fn is_recurring(&self) -> bool {
        matches!(self, Self::Recurring { .. })
    }

    /// Returns the clause of a group that is one word.
    pub(crate) const fn clause(self) -> &'static str {
        match self {
            Self::Window => "by window",
            Self::Hour => "by hour",
            Self::Week => "by week",
            Self::Month => "by month",
            Self::Quarter => "by quarter",
            Self::Year => "by year",
            Self::Day | Self::Every(_) | Self::MonthFrom(_) | Self::Recurring { .. } => "by day",
        }
    }

    /// Returns the groups of this length: equal parts of a day, a day or a week. Returns None for another length.
    pub(crate) fn every(length: Duration) -> Option<Self> {
        const DAY: u64 = DurationUnit::Day.seconds();
        match length.seconds() {
            3600 => Some(Self::Hour),
            DAY => Some(Self::Day),
            seconds if seconds == 7 * DAY => Some(Self::Week),
            seconds if seconds > 0 && DAY.is_multiple_of(seconds) => Some(Self::Every(length)),
            _ => None,
        }
    }

    /// Returns the group that begins on this day of each month. Returns None if not every month has the day.
    pub(crate) fn month_from(day: u8) -> Option<Self> {
        match day {
            1 => Some(Self::Month),
            2..=28 => Some(Self::MonthFrom(day)),
            _ => None,
        }
    }
}

impl Display for By {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Every(length) => length.fmt(out),
            Self::MonthFrom(day) => write!(out, "month from {day}"),
            Self::Recurring { first, second } => {
                first.fmt(out)?;
                second.iter().try_for_each(|second| write!(out, " and {second}"))
            }
            by => out.write_str(by.word().unwrap_or_default()),
        }
    }
}
