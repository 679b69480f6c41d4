//! Days of the calendar: dates, ranges of dates, and files of them.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};
use std::str::FromStr;

use jiff::civil::Date;
use serde::{Deserialize, Serialize};
use sotto_program::text;

use super::limits;

/// Days and ranges of days, at most [`limits::DATES`].
///
/// ```
/// use sotto_owner::question::Days;
///
/// let days = Days::read("2024-12-24..2025-01-01 # the plant is shut\n\n2025-05-01\n")?;
/// assert_eq!(days.to_string(), "2024-12-24..2025-01-01, 2025-05-01");
/// assert!(Days::read("2024-02-30").unwrap_err().to_string().starts_with("line 1: 2024-02-30 is no date"));
/// # Ok::<(), sotto_owner::question::NotDays>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BTreeSet<DayRange>", into = "BTreeSet<DayRange>")]
pub struct Days(BTreeSet<DayRange>);

/// The days from one to another, both included.
///
/// ```
/// use sotto_owner::question::DayRange;
///
/// let days: DayRange = "2024-12-24..2025-01-01".parse()?;
/// assert_eq!(days.to_string(), "2024-12-24..2025-01-01");
/// assert!("2025-01-01..2024-12-24".parse::<DayRange>().is_err());
/// # Ok::<(), sotto_owner::question::NotDays>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DayRange {
    first: Date,
    last: Date,
}

/// The reason why a text names no days.
///
/// Example: [`Days`]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotDays {
    /// A text is no day and no range.
    #[error("{0} is no date: write 2024-12-25, or 2024-12-24..2025-01-01 for several days")]
    Day(String),
    /// A range ends before it begins.
    #[error("{0} ends before it begins: exchange the two dates")]
    Order(String),
    /// A line of a file has a fault.
    #[error("line {line}: {reason}")]
    Line {
        /// The line's number, from 1.
        line: usize,
        /// The fault.
        reason: Box<NotDays>,
    },
    /// No day is named.
    #[error("there is no date in it: write one a line, as 2024-12-25 or 2024-12-24..2025-01-01")]
    Empty,
    /// More than the limit.
    #[error(
        "more than {} dates and ranges: join days that follow each other, as in 2024-12-24..2025-01-01",
        limits::DATES
    )]
    TooMany,
}

impl Days {
    /// Reads the text of a file: a day or a range a line, and comments after `#`.
    ///
    /// # Errors
    /// [`NotDays`] names the first line with a fault.
    pub fn read(text: &str) -> Result<Self, NotDays> {
        let mut days = BTreeSet::new();
        for (line, written) in text.lines().enumerate() {
            let written = written.split('#').next().unwrap_or_default().trim();
            if written.is_empty() {
                continue;
            }
            let range: DayRange = written
                .parse()
                .map_err(|reason| NotDays::Line { line: line + 1, reason: Box::new(reason) })?;
            days.insert(range);
            if days.len() > limits::DATES {
                return Err(NotDays::TooMany);
            }
        }
        days.try_into()
    }

    /// Iterates over the days and ranges in order of their beginnings.
    pub fn ranges(&self) -> impl DoubleEndedIterator<Item = &DayRange> {
        self.0.iter()
    }

    pub(super) fn contains(&self, day: Date) -> bool {
        let begun = self.0.range(..=DayRange { first: day, last: Date::MAX });
        begun.rev().any(|range| range.last >= day)
    }
}

impl TryFrom<BTreeSet<DayRange>> for Days {
    type Error = NotDays;

    fn try_from(days: BTreeSet<DayRange>) -> Result<Self, NotDays> {
        match days.len() {
            0 => Err(NotDays::Empty),
            many if many > limits::DATES => Err(NotDays::TooMany),
            _ => Ok(Self(days)),
        }
    }
}

impl From<Days> for BTreeSet<DayRange> {
    fn from(days: Days) -> Self {
        days.0
    }
}

impl FromStr for DayRange {
    type Err = NotDays;

    fn from_str(written: &str) -> Result<Self, NotDays> {
        let excerpt = || text::excerpt_of(written, 40);
        let date = |text: &str| {
            let digits = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
            text.parse::<Date>().ok().filter(|_| digits).ok_or_else(|| NotDays::Day(excerpt()))
        };
        let (first, last) = written.split_once("..").unwrap_or((written, written));
        let (first, last) = (date(first.trim())?, date(last.trim())?);
        if first > last { Err(NotDays::Order(excerpt())) } else { Ok(Self { first, last }) }
    }
}

impl TryFrom<String> for DayRange {
    type Error = NotDays;

    fn try_from(written: String) -> Result<Self, NotDays> {
        written.parse()
    }
}

impl From<DayRange> for String {
    fn from(days: DayRange) -> Self {
        days.to_string()
    }
}

impl Display for DayRange {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let Self { first, last } = self;
        if first == last { write!(out, "{first}") } else { write!(out, "{first}..{last}") }
    }
}

impl Display for Days {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        for (at, range) in self.0.iter().enumerate() {
            write!(out, "{}{range}", if at == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Date {
        text.parse().expect(text)
    }

    #[test]
    fn ranges_have_both_of_their_ends_and_may_overlap() {
        let days = Days::read("# holidays\n2024-12-24..2025-01-01\r\n2024-12-25 # within\n 2025-05-01\n");
        let days = days.expect("days");
        for (text, expected) in [
            ("2024-12-23", false),
            ("2024-12-24", true),
            ("2024-12-26", true),
            ("2025-01-01", true),
            ("2025-01-02", false),
            ("2025-05-01", true),
            ("2025-05-02", false),
        ] {
            assert_eq!(days.contains(day(text)), expected, "{text}");
        }
    }

    #[test]
    fn faults_of_a_file_name_their_line() {
        for (text, says) in [
            ("2024-01-01\n2024-13-01\n", "line 2: 2024-13-01 is no date"),
            ("25.12.2024", "line 1: 25.12.2024 is no date"),
            ("2024-01-01T12:00", "line 1: 2024-01-01T12:00 is no date"),
            ("20240101", "is no date"),
            ("\n\n2025-01-01..2024-01-01", "line 3: 2025-01-01..2024-01-01 ends before it begins"),
            ("2024-01-01..", "line 1: 2024-01-01.. is no date"),
            ("# nothing\n", "there is no date in it"),
        ] {
            let error = Days::read(text).expect_err(text).to_string();
            assert!(error.contains(says), "{text}: {error}");
        }
        let first = day("1900-01-01");
        let many: Vec<String> = (0..=limits::DATES)
            .map(|days| first.saturating_add(jiff::Span::new().days(2 * days as i64)).to_string())
            .collect();
        assert_eq!(Days::read(&many.join("\n")), Err(NotDays::TooMany));
        assert!(Days::read(&many[1..].join("\n")).is_ok());
    }
}
