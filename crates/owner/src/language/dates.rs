//! Days of the calendar in conditions: `where date in holidays.txt`, `where date in (2024-12-25, 2024-12-26)`.

use std::fmt::{self, Display, Formatter};

use jiff::civil::Date;
use serde::{Deserialize, Serialize};

use super::days::Days;
use super::written::File;

/// A condition on the local date of readings.
///
/// ```
/// use sotto_owner::question::Question;
///
/// let text = "mean(boiler) where date not in (2024-12-24..2024-12-26, 2025-01-01)";
/// let question = Question::parse(text)?;
/// assert!(question.times.dates.as_ref().is_some_and(|dates| dates.not));
/// assert_eq!(question.to_string(), text);
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dates {
    /// True for `date not in`: the other days.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub not: bool,
    /// The days.
    pub days: DaysOf,
}

/// The place where days are named.
///
/// Example: [`Dates`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum DaysOf {
    /// The text of the question.
    List(Days),
    /// A file, read where the question is asked.
    File {
        /// The file's name, as written. This crate does not open it.
        name: String,
        /// The days, set by [`Question::attach_days`](crate::question::Question::attach_days). Parsed text never has them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        days: Option<Days>,
    },
}

impl Dates {
    /// Returns true if readings of a local date count. Without its days, none does.
    pub(super) fn holds(&self, day: Date) -> bool {
        let days = match &self.days {
            DaysOf::List(days) | DaysOf::File { days: Some(days), .. } => days,
            DaysOf::File { days: None, .. } => return false,
        };
        days.contains(day) != self.not
    }

    /// Returns the file and its days.
    pub(crate) fn file(&self) -> Option<(&str, Option<&Days>)> {
        match &self.days {
            DaysOf::List(_) => None,
            DaysOf::File { name, days } => Some((name, days.as_ref())),
        }
    }

    /// Returns the place of a file's days.
    pub(crate) fn slot(&mut self) -> Option<(&str, &mut Option<Days>)> {
        match &mut self.days {
            DaysOf::List(_) => None,
            DaysOf::File { name, days } => Some((name, days)),
        }
    }
}

impl Display for Dates {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(if self.not { "date not in " } else { "date in " })?;
        match &self.days {
            DaysOf::List(days) => write!(out, "({days})"),
            DaysOf::File { name, .. } => File(name).fmt(out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_days_are_those_that_are_not_named() {
        let days = Days::read("2024-12-24..2025-01-01").expect("days");
        for (day, within) in [("2024-12-24", true), ("2025-01-02", false)] {
            let day = day.parse().expect(day);
            for not in [false, true] {
                let dates = Dates { not, days: DaysOf::List(days.clone()) };
                assert_eq!(dates.holds(day), within != not);
            }
        }
        let unread = Dates { not: true, days: DaysOf::File { name: "holidays.txt".into(), days: None } };
        assert!(!unread.holds("2024-12-24".parse().expect("a day")), "without its days none counts");
    }
}
