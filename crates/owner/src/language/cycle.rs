//! Groups that recur: hours of the day, weekdays, months of the year.

use std::fmt::{self, Display, Formatter};

use jiff::Zoned;
use serde::{Deserialize, Serialize};

use super::near;

/// Groups that recur every day, week or year: all Mondays are one.
///
/// ```
/// use sotto_owner::question::{By, Cycle, Question};
///
/// let question = Question::parse("mean(boiler) by hour of day and weekday")?;
/// assert_eq!(question.by, Some(By::Recurring { first: Cycle::HourOfDay, second: Some(Cycle::Weekday) }));
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cycle {
    /// 0 to 23, as clocks show them. An hour that they show twice is in one of them.
    HourOfDay,
    /// Monday to Sunday.
    Weekday,
    /// January to December.
    MonthOfYear,
}

impl Cycle {
    /// All of them, the shortest first.
    pub const ALL: [Self; 3] = [Self::HourOfDay, Self::Weekday, Self::MonthOfYear];

    /// Returns the words of the language.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::HourOfDay => "hour of day",
            Self::Weekday => "weekday",
            Self::MonthOfYear => "month of year",
        }
    }
}

impl Display for Cycle {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(self.words())
    }
}

/// A day of the week.
///
/// ```
/// use sotto_owner::question::Weekday;
///
/// assert_eq!(Weekday::named("Saturday"), Some(Weekday::Sat));
/// assert_eq!(Weekday::Sat.to_string(), "sat");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weekday {
    /// Monday.
    Mon,
    /// Tuesday.
    Tue,
    /// Wednesday.
    Wed,
    /// Thursday.
    Thu,
    /// Friday.
    Fri,
    /// Saturday.
    Sat,
    /// Sunday.
    Sun,
}

/// The days of a week in words, from Monday.
const DAYS: [&str; 7] = ["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];

/// The months of a year in words.
const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

impl Weekday {
    /// All days, from Monday.
    pub const ALL: [Self; 7] = [Self::Mon, Self::Tue, Self::Wed, Self::Thu, Self::Fri, Self::Sat, Self::Sun];

    /// Returns the day with a name: its first three letters or all of them.
    #[must_use]
    pub fn named(word: &str) -> Option<Self> {
        Self::ALL.get(position(&DAYS, word)?).copied()
    }

    /// Returns the name that was probably meant.
    pub(crate) fn near(word: &str) -> Option<&'static str> {
        near(word, &DAYS).or_else(|| near(word, &DAYS.map(|day| &day[..3])))
    }

    fn of(local: &Zoned) -> Self {
        Self::ALL[usize::from(local.weekday().to_monday_zero_offset().unsigned_abs() % 7)]
    }
}

/// Returns the number of the month with a name: its first three letters or all of them.
pub(crate) fn month_named(word: &str) -> Option<u8> {
    u8::try_from(position(&MONTHS, word)? + 1).ok()
}

fn position(names: &[&str], word: &str) -> Option<usize> {
    let lower = word.to_ascii_lowercase();
    names.iter().position(|name| lower == *name || lower == name[..3])
}

impl Display for Weekday {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(&DAYS[*self as usize][..3])
    }
}

/// The recurring group of a row: one or two of its parts are there.
///
/// ```
/// use sotto_owner::question::{Recurs, Weekday};
///
/// let recurs = Recurs { weekday: Some(Weekday::Mon), hour_of_day: Some(13), ..Recurs::default() };
/// assert_eq!(recurs.to_string(), "mon 13:00");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recurs {
    /// 0 to 23.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hour_of_day: Option<u8>,
    /// The day of the week.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weekday: Option<Weekday>,
    /// 1 to 12.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub month_of_year: Option<u8>,
}

impl Recurs {
    /// Returns the group of a local time.
    pub(crate) fn of(cycles: impl IntoIterator<Item = Cycle>, local: &Zoned) -> Self {
        let mut recurs = Self::default();
        for cycle in cycles {
            match cycle {
                Cycle::HourOfDay => recurs.hour_of_day = Some(local.hour().unsigned_abs()),
                Cycle::Weekday => recurs.weekday = Some(Weekday::of(local)),
                Cycle::MonthOfYear => recurs.month_of_year = Some(local.month().unsigned_abs()),
            }
        }
        recurs
    }

    /// Returns one part in words; None if it is not there.
    #[must_use]
    pub fn part(&self, cycle: Cycle) -> Option<String> {
        match cycle {
            Cycle::HourOfDay => self.hour_of_day.map(|hour| format!("{hour:02}:00")),
            Cycle::Weekday => self.weekday.map(|day| day.to_string()),
            Cycle::MonthOfYear => {
                let month = MONTHS.get(usize::from(self.month_of_year?).wrapping_sub(1))?;
                Some(month[..3].to_owned())
            }
        }
    }

    /// Returns one part for tables: `13`, `mon`, `1`; None if it is not there.
    #[must_use]
    pub fn key(&self, cycle: Cycle) -> Option<String> {
        match cycle {
            Cycle::HourOfDay => self.hour_of_day.map(|hour| hour.to_string()),
            Cycle::Weekday => self.weekday.map(|day| day.to_string()),
            Cycle::MonthOfYear => self.month_of_year.map(|month| month.to_string()),
        }
    }

    /// Returns the position of a part, by which rows are ordered; 0 if it is not there.
    #[must_use]
    pub fn position(&self, cycle: Cycle) -> u8 {
        let position = match cycle {
            Cycle::HourOfDay => self.hour_of_day,
            Cycle::Weekday => self.weekday.map(|day| day as u8),
            Cycle::MonthOfYear => self.month_of_year,
        };
        position.unwrap_or_default()
    }
}

impl Display for Recurs {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let parts = Cycle::ALL.into_iter().rev().filter_map(|cycle| self.part(cycle));
        out.write_str(&parts.collect::<Vec<_>>().join(" "))
    }
}
