//! The columns of the time: one, a date and a time of day, or year, month, day, hour, minute and second.

use std::path::Path;

use super::cells::time_text;
use super::names::position;
use crate::source::SourceError;

/// Names of columns that hold a whole time, or its date, in lower case.
const WHOLE: [&str; 17] = [
    "time",
    "timestamp",
    "date",
    "datetime",
    "ts",
    "at",
    "_time",
    "date_time",
    "date time",
    "date/time",
    "tmstamp",
    "zeit",
    "zeitstempel",
    "zeitpunkt",
    "datum",
    "last_changed",
    "last_updated",
];
/// Names of columns with a date alone.
const DATES: [&str; 2] = ["date", "datum"];
/// Names of columns with a time of day.
const CLOCKS: [&str; 3] = ["time", "zeit", "uhrzeit"];
/// Names of the parts of a time, in their order.
const PARTS: [&[&str]; 6] = [
    &["year", "yr", "yyyy", "jahr"],
    &["month", "mon", "mo", "mm", "monat"],
    &["day", "dd", "tag"],
    &["hour", "hr", "hh", "stunde"],
    &["minute", "min"],
    &["second", "sec"],
];
/// Maximum number of time columns.
pub(super) const MOST_TIME_COLUMNS: usize = 6;

/// How the time columns are found.
#[derive(Clone)]
pub(in crate::source) enum TimeColumns {
    /// By these names, in this order.
    Named(Vec<String>),
    /// By their usual names.
    Guessed,
}

/// Positions of the time columns, in the order of their parts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::source) struct TimePlaces(pub(in crate::source) Vec<usize>);

impl TimeColumns {
    /// Returns the positions of the time columns among a file's columns.
    pub(in crate::source) fn find(&self, names: &[String], path: &Path) -> Result<TimePlaces, SourceError> {
        match self {
            Self::Named(wanted) => {
                let places = wanted.iter().map(|name| position(names, name, &[], path));
                let mut places = places.collect::<Result<Vec<_>, _>>()?;
                // Year, month and day may be given in any order if their names tell them apart.
                let part = |place: &usize| PARTS.iter().position(|part| is_one_of(&names[*place], part));
                if places.len() > 2 && places.iter().all(|place| part(place).is_some()) {
                    places.sort_by_key(part);
                }
                Ok(TimePlaces(places))
            }
            Self::Guessed => guess(names)
                .map(TimePlaces)
                .ok_or_else(|| SourceError::NoTimeColumn { path: path.to_owned(), columns: names.to_vec() }),
        }
    }
}

fn is_one_of(name: &str, names: &[&str]) -> bool {
    names.iter().any(|one| name.trim().eq_ignore_ascii_case(one))
}

/// Returns the time columns by their usual names; `None` if there are none, or several.
fn guess(names: &[String]) -> Option<Vec<usize>> {
    let called = |wanted: &[&str]| -> Vec<usize> {
        (0..names.len()).filter(|position| is_one_of(&names[*position], wanted)).collect()
    };
    let one = |wanted: &[&str]| match called(wanted)[..] {
        [position] => Some(position),
        _ => None,
    };
    let whole = called(&WHOLE);
    let calendar = || match (one(PARTS[0]), one(PARTS[1]), one(PARTS[2])) {
        (Some(year), Some(month), Some(day)) => Some(vec![year, month, day]),
        _ => None,
    };
    let hours = || PARTS[3..].iter().map_while(|part| one(part)).collect::<Vec<usize>>();
    match whole[..] {
        // A time of day beside year, month and day.
        [position] if is_one_of(&names[position], &CLOCKS) => match calendar() {
            Some(parts) => Some([parts, vec![position]].concat()),
            None => Some(vec![position]),
        },
        [position] if is_one_of(&names[position], &DATES) => {
            let clock = one(&CLOCKS).map(|clock| vec![clock]);
            Some([vec![position], clock.unwrap_or_else(hours)].concat())
        }
        [position] => Some(vec![position]),
        [_, _] => Some(vec![one(&DATES)?, one(&CLOCKS)?]),
        [] => calendar().map(|parts| [parts, hours()].concat()).or_else(|| index(names)),
        _ => None,
    }
}

/// Returns the first column if it has no name, as pandas writes the index of a table.
fn index(names: &[String]) -> Option<Vec<usize>> {
    let first = names.first()?;
    is_one_of(first, &["", "index", "Unnamed: 0"]).then(|| vec![0])
}

/// Returns true if a text is a time of a known format.
pub(in crate::source) fn is_time(text: &str) -> bool {
    !super::times::TimeFormat::of(text).is_empty()
}

/// Joins the parts of a time; `None` if a part is missing.
pub(in crate::source) fn joined<T: AsRef<str>>(parts: impl IntoIterator<Item = T>) -> Option<String> {
    let mut parts = parts.into_iter();
    let owned = |part: T| time_text(part.as_ref()).map(str::to_owned);
    let first = owned(parts.next()?)?;
    let rest = parts.map(owned).collect::<Option<Vec<String>>>()?;
    if rest.is_empty() {
        return Some(first);
    }
    // The columns behind a whole time repeat parts of it.
    if first.contains(':') {
        return Some(first);
    }
    // Tables write whole numbers as 2013.0 too.
    let number = |text: &str| {
        let digits = text.strip_suffix(".0").unwrap_or(text);
        let short = (1..=2).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit());
        short.then(|| format!("{digits:0>2}"))
    };
    let year = first.strip_suffix(".0").unwrap_or(&first);
    let (date, clock) = match &rest[..] {
        [month, day, clock @ ..] if year.len() == 4 && year.bytes().all(|byte| byte.is_ascii_digit()) => {
            (format!("{year}-{}-{}", number(month)?, number(day)?), clock)
        }
        clock => (first, clock),
    };
    let numbers: Option<Vec<String>> = clock.iter().map(|part| number(part)).collect();
    let text = match (clock, numbers) {
        ([], _) => date,
        (_, Some(numbers)) if numbers.len() == 1 => format!("{date} {}:00", numbers[0]),
        (_, Some(numbers)) => format!("{date} {}", numbers.join(":")),
        (_, None) => format!("{date} {}", fraction_of_second(clock, number)?),
    };
    time_text(&text).map(str::to_owned)
}

/// Joins hour, minute and a second with a fraction, or takes a single text as the time of day.
fn fraction_of_second(clock: &[String], number: impl Fn(&str) -> Option<String>) -> Option<String> {
    let [hour, minute, second] = clock else { return Some(clock.join(" ")) };
    let (whole, fraction) = second.split_once('.')?;
    Some(format!("{}:{}:{}.{fraction}", number(hour)?, number(minute)?, number(whole)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(names: &[&str]) -> Option<Vec<usize>> {
        guess(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn time_columns_are_guessed_by_their_names() {
        for (names, places) in [
            (&["x", "Timestamp"][..], Some(vec![1])),
            (&["Date", "x", "Time"], Some(vec![0, 2])),
            (&["Zeit", "Datum", "x"], Some(vec![1, 0])),
            (&["Datum", "Uhrzeit", "x"], Some(vec![0, 1])),
            (&["date", "hour", "x"], Some(vec![0, 1])),
            (&["No", "year", "month", "day", "hour", "x"], Some(vec![1, 2, 3, 4])),
            (&["day", "month", "year", "x"], Some(vec![2, 1, 0])),
            (&["year", "month", "day", "time", "x"], Some(vec![0, 1, 2, 3])),
            (&["YEAR", "Month", "day", "hour", "minute", "second"], Some(vec![0, 1, 2, 3, 4, 5])),
            (&["date", "time", "Time", "x"], None),
            (&["date", "ts", "x"], None),
            (&["month", "day", "x"], None),
            (&["x"], None),
            // The index of a table of pandas.
            (&["", "x"], Some(vec![0])),
            (&["index", "x"], Some(vec![0])),
            (&["Unnamed: 0", "x"], Some(vec![0])),
            (&["", "time", "x"], Some(vec![1])),
            (&["", "year", "month", "day"], Some(vec![1, 2, 3])),
            (&["x", ""], None),
        ] {
            assert_eq!(guessed(names), places, "{names:?}");
        }
    }

    #[test]
    fn parts_are_joined() {
        for (parts, text) in [
            (&["2013", "3", "1", "0"][..], Some("2013-03-01 00:00")),
            (&["2013.0", "3.0", "1", "24"], Some("2013-03-01 24:00")),
            (&["2013", "12", "31", "5", "7", "9.25"], Some("2013-12-31 05:07:09.25")),
            (&["2013", "12", "31"], Some("2013-12-31")),
            (&["2013", "12", "31", "10:30"], Some("2013-12-31 10:30")),
            (&["2013-12-31", "5"], Some("2013-12-31 05:00")),
            (&["31.12.2013", "5", "30"], Some("31.12.2013 05:30")),
            (&["13/03/2004", "18.30.05"], Some("13/03/2004 18.30.05")),
            (&["2013-12-31 05:00", "5"], Some("2013-12-31 05:00")),
            (&["13/03/2004", ""], None),
            (&["2013", "March", "1"], None),
            (&[" x "], Some("x")),
            (&[""], None),
        ] {
            assert_eq!(joined(parts.iter().copied()).as_deref(), text, "{parts:?}");
        }
    }
}
