//! Spans of the calendar: `during yesterday`, `during 2024-Q3`.

use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use jiff::ToSpan as _;
use jiff::civil::{Date, Weekday};
use serde::{Deserialize, Serialize};
use sotto_pack::Clock;

/// A span of the calendar in the plant's zone. Those that are named by words count from a present time.
///
/// ```
/// use sotto_owner::question::{Calendar, During, Period, Question};
///
/// let question = Question::parse("mean(boiler) during last month")?;
/// assert_eq!(question.period, Period::During(During::Last(Calendar::Month)));
/// assert_eq!("2024-Q3".parse::<During>(), Ok(During::Quarter { year: 2024, quarter: 3 }));
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum During {
    /// From midnight on.
    Today,
    /// The day before today.
    Yesterday,
    /// From the beginning of a unit of the calendar to its end, which may be still to come.
    This(Calendar),
    /// The whole unit before this one.
    Last(Calendar),
    /// `2024`.
    Year(i16),
    /// `2024-Q3`.
    Quarter {
        /// 1 to 9998.
        year: i16,
        /// 1 to 4.
        quarter: i8,
    },
    /// `2024-03`.
    Month {
        /// 1 to 9998.
        year: i16,
        /// 1 to 12.
        month: i8,
    },
    /// `2024-03-05`.
    Day(Date),
}

/// A unit of the calendar.
///
/// Example: [`During`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Calendar {
    /// From Monday on.
    Week,
    /// From the first of a month on.
    Month,
    /// Three months from January, April, July or October on.
    Quarter,
    /// From the first of January on.
    Year,
}

impl Calendar {
    /// All units, the shortest first.
    pub const ALL: [Self; 4] = [Self::Week, Self::Month, Self::Quarter, Self::Year];

    /// Returns the word of the language.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Week => "week",
            Self::Month => "month",
            Self::Quarter => "quarter",
            Self::Year => "year",
        }
    }

    /// Returns the first day of the unit that a day is in.
    fn first(self, day: Date) -> Result<Date, jiff::Error> {
        match self {
            Self::Week => day.checked_sub(i64::from(day.weekday().since(Weekday::Monday)).days()),
            Self::Month => Ok(day.first_of_month()),
            Self::Quarter => day.first_of_month().checked_sub(i64::from((day.month() - 1) % 3).months()),
            Self::Year => Ok(day.first_of_year()),
        }
    }

    fn length(self) -> jiff::Span {
        match self {
            Self::Week => 7.days(),
            Self::Month => 1.month(),
            Self::Quarter => 3.months(),
            Self::Year => 1.year(),
        }
    }
}

impl During {
    /// Returns the first day and the one after the last. `today` counts for words.
    fn days(self, today: Date) -> Result<(Date, Date), jiff::Error> {
        let (first, length) = match self {
            Self::Today => (today, 1.day()),
            Self::Yesterday => (today.yesterday()?, 1.day()),
            Self::This(unit) => (unit.first(today)?, unit.length()),
            Self::Last(unit) => (unit.first(today)?.checked_sub(unit.length())?, unit.length()),
            Self::Year(year) => (Date::new(year, 1, 1)?, 1.year()),
            Self::Quarter { year, quarter } => (Date::new(year, 3 * quarter - 2, 1)?, 3.months()),
            Self::Month { year, month } => (Date::new(year, month, 1)?, 1.month()),
            Self::Day(day) => (day, 1.day()),
        };
        Ok((first, first.checked_add(length)?))
    }

    /// Returns its beginning and its end, in milliseconds since 1970: the end is not in it. `now` counts for words. Returns
    /// None beyond the calendar.
    pub(crate) fn between(self, now: i64, clock: &Clock) -> Option<(i64, i64)> {
        let (first, next) = self.days(clock.local(now).date()).ok()?;
        let begin = |date: Date| {
            let zoned = clock.zone().to_zoned(date.to_datetime(jiff::civil::Time::midnight())).ok()?;
            Some(zoned.start_of_day().ok()?.timestamp().as_millisecond())
        };
        Some((begin(first)?, begin(next)?))
    }

    /// Returns true if it is named by words, and so depends on the present time.
    #[must_use]
    pub const fn is_relative(self) -> bool {
        matches!(self, Self::Today | Self::Yesterday | Self::This(_) | Self::Last(_))
    }

    fn read(text: &str) -> Option<Self> {
        let unit = |word: &str| Calendar::ALL.into_iter().find(|unit| unit.word() == word);
        match text.split_once(' ') {
            Some(("this", word)) => return unit(word).map(Self::This),
            Some(("last", word)) => return unit(word).map(Self::Last),
            Some(_) => return None,
            None if text == "today" => return Some(Self::Today),
            None if text == "yesterday" => return Some(Self::Yesterday),
            None => {}
        }
        let number = |digits: &str, length: usize| {
            let is_number = digits.len() == length && digits.bytes().all(|byte| byte.is_ascii_digit());
            digits.parse::<i16>().ok().filter(|number| is_number && (1..9999).contains(number))
        };
        let parts: Vec<&str> = text.split('-').collect();
        let year = number(parts[0], 4)?;
        let small = |digits: &str| i8::try_from(number(digits, 2)?).ok();
        Some(match parts[1..] {
            [] => Self::Year(year),
            [part] => match part.strip_prefix(['Q', 'q']) {
                Some(quarter) => {
                    let quarter = i8::try_from(number(quarter, 1)?).ok().filter(|quarter| *quarter <= 4)?;
                    Self::Quarter { year, quarter }
                }
                None => Self::Month { year, month: small(part).filter(|month| *month <= 12)? },
            },
            [month, day] => Self::Day(Date::new(year, small(month)?, small(day)?).ok()?),
            _ => return None,
        })
    }
}

impl Display for During {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Today => out.write_str("today"),
            Self::Yesterday => out.write_str("yesterday"),
            Self::This(unit) => write!(out, "this {}", unit.word()),
            Self::Last(unit) => write!(out, "last {}", unit.word()),
            Self::Year(year) => write!(out, "{year:04}"),
            Self::Quarter { year, quarter } => write!(out, "{year:04}-Q{quarter}"),
            Self::Month { year, month } => write!(out, "{year:04}-{month:02}"),
            Self::Day(day) => write!(out, "{:04}-{:02}-{:02}", day.year(), day.month(), day.day()),
        }
    }
}

impl FromStr for During {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::read(text)
            .ok_or("a span is today, yesterday, this week, last month, 2024, 2024-Q3, 2024-03 or 2024-03-05")
    }
}

impl From<During> for String {
    fn from(during: During) -> Self {
        during.to_string()
    }
}

impl TryFrom<String> for During {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(text: &str, zone: &str, now: &str) -> (String, String) {
        let clock = Clock::new(zone).expect("a zone");
        let now = now.parse::<jiff::Timestamp>().expect("a time").as_millisecond();
        let during: During = text.parse().expect(text);
        let (since, until) = during.between(now, &clock).expect("a time");
        (clock.rfc3339(since), clock.rfc3339(until))
    }

    #[test]
    fn words_count_from_the_present_time_in_the_zone() {
        // Sunday in Rome, where the clocks went forward in the night.
        let now = "2014-03-30T22:30:00Z";
        for (text, since, until) in [
            ("today", "2014-03-31T00:00:00+02:00", "2014-04-01T00:00:00+02:00"),
            ("yesterday", "2014-03-30T00:00:00+01:00", "2014-03-31T00:00:00+02:00"),
            ("this week", "2014-03-31T00:00:00+02:00", "2014-04-07T00:00:00+02:00"),
            ("last week", "2014-03-24T00:00:00+01:00", "2014-03-31T00:00:00+02:00"),
            ("this month", "2014-03-01T00:00:00+01:00", "2014-04-01T00:00:00+02:00"),
            ("last month", "2014-02-01T00:00:00+01:00", "2014-03-01T00:00:00+01:00"),
            ("this quarter", "2014-01-01T00:00:00+01:00", "2014-04-01T00:00:00+02:00"),
            ("last quarter", "2013-10-01T00:00:00+02:00", "2014-01-01T00:00:00+01:00"),
            ("this year", "2014-01-01T00:00:00+01:00", "2015-01-01T00:00:00+01:00"),
            ("last year", "2013-01-01T00:00:00+01:00", "2014-01-01T00:00:00+01:00"),
            ("2012", "2012-01-01T00:00:00+01:00", "2013-01-01T00:00:00+01:00"),
            ("2014-Q4", "2014-10-01T00:00:00+02:00", "2015-01-01T00:00:00+01:00"),
            ("2012-02", "2012-02-01T00:00:00+01:00", "2012-03-01T00:00:00+01:00"),
            ("2014-10-26", "2014-10-26T00:00:00+02:00", "2014-10-27T00:00:00+01:00"),
        ] {
            assert_eq!(days(text, "Europe/Rome", now), (since.to_owned(), until.to_owned()), "{text}");
        }
        assert_eq!(days("today", "UTC", now).0, "2014-03-30T00:00:00+00:00");
        // A day that begins at one.
        assert_eq!(days("2018-11-04", "America/Sao_Paulo", now).0, "2018-11-04T01:00:00-02:00");
    }

    #[test]
    fn texts_that_are_no_span_are_refused() {
        for text in [
            "",
            "tomorrow",
            "this",
            "this day",
            "last",
            "next week",
            "24",
            "2024-Q5",
            "2024-q0",
            "2024-13",
            "2024-00",
            "2023-02-29",
            "2024-1",
            "9999",
            "0000",
            "2024-03-05-1",
            "-2024",
            "2024-é1",
        ] {
            assert!(text.parse::<During>().is_err(), "{text}");
        }
    }
}
