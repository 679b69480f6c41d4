//! Formats of times, and the detection of a file's format.

use jiff::Zoned;
use jiff::civil::Time;
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::{Offset, TimeZone};

use super::civil::{self, Order, Parts};
use super::epoch::{self, Unit};
use super::local::When;

/// The format of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TimeFormat {
    /// A number since 1970.
    Epoch(Unit),
    /// Days since the end of 1899, as spreadsheets count them; local.
    Days,
    /// A date with an optional time, with an offset from UTC or local. A local date without a time is midnight. The
    /// name of a zone may follow in brackets: a local time is one of that zone.
    Date { order: Order, mark: u8, offset: bool },
    /// A format of `strftime`.
    Custom(String),
}

impl TimeFormat {
    /// Returns the formats that a text may have: none, one, or two that differ in the order of day and month.
    pub(super) fn of(text: &str) -> Vec<Self> {
        if let Some(parts) = Parts::read(without_zone(text).0) {
            let form = |order| Self::Date { order, mark: parts.mark, offset: parts.offset.is_some() };
            let forms: Vec<Self> = parts.orders().map(form).collect();
            if !forms.is_empty() {
                return forms;
            }
        }
        if epoch::may_be_day(text) {
            return vec![Self::Days];
        }
        Unit::of(text).map(Self::Epoch).into_iter().collect()
    }

    /// Creates a format by its name or in the way of `strftime`.
    ///
    /// # Errors
    /// The reason why the format cannot be used.
    pub(super) fn custom(format: &str) -> Result<Self, String> {
        if format == "excel" {
            return Ok(Self::Days);
        }
        if let Some(unit) = Unit::ALL.into_iter().find(|unit| unit.name() == format) {
            return Ok(Self::Epoch(unit));
        }
        let written = strtime::format(format, &Zoned::default()).map_err(|error| error.to_string())?;
        let form = Self::Custom(format.to_owned());
        // Parsing a formatted time back fails unless the format states the day.
        if form.read(&written).is_none() {
            return Err("times of this format say no day and year: it needs %Y, %m and %d, or others such as %s or %F".to_owned());
        }
        Ok(form)
    }

    /// Parses 2014-02-14 21:30:05, or 2014-02-14T21:30:05Z, if that is the format; `None` for all other texts.
    pub(super) fn read_usual(&self, bytes: &[u8]) -> Option<When> {
        let Self::Date { order: Order::YearMonthDay, mark: b'-', offset } = self else { return None };
        if !*offset {
            return civil::iso(bytes).map(When::Local);
        }
        let instant = Offset::UTC.to_timestamp(civil::iso(bytes.strip_suffix(b"Z")?)?).ok()?;
        Some(When::Instant(instant.as_millisecond()))
    }

    /// Parses a text in this format; `None` if it does not have it.
    pub(super) fn read(&self, text: &str) -> Option<When> {
        match self {
            Self::Epoch(unit) => unit.read(text).map(When::Instant),
            Self::Days => epoch::read_day(text).map(When::Local),
            Self::Date { order, mark, offset } => {
                if let Some(local) = self.read_usual(text.as_bytes()) {
                    return Some(local);
                }
                let (text, zone) = without_zone(text);
                let parts = Parts::read(text).filter(|parts| parts.mark == *mark)?;
                let local = parts.date_time(*order)?;
                match (parts.offset, zone) {
                    (Some(seconds), _) if *offset => {
                        let instant = Offset::from_seconds(seconds).ok()?.to_timestamp(local).ok()?;
                        Some(When::Instant(instant.as_millisecond()))
                    }
                    (None, Some(zone)) if !*offset => Some(When::Zoned(local, TimeZone::get(zone).ok()?)),
                    (None, None) if !*offset => Some(When::Local(local)),
                    _ => None,
                }
            }
            Self::Custom(format) => {
                let parsed = BrokenDownTime::parse(format, text).ok()?;
                if parsed.timestamp().is_some() || parsed.offset().is_some() {
                    return Some(When::Instant(parsed.to_timestamp().ok()?.as_millisecond()));
                }
                // A date without a time is midnight.
                let midnight = || parsed.to_date().map(|date| date.to_datetime(Time::midnight()));
                parsed.to_datetime().or_else(|_| midnight()).ok().map(When::Local)
            }
        }
    }

    /// Describes the format, for people.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Epoch(unit) => format!("{} since 1970", unit.name()),
            Self::Days => "days of a spreadsheet".to_owned(),
            Self::Date { order, mark, offset } => {
                let mark = if *mark == 0 { String::new() } else { char::from(*mark).to_string() };
                let parts = match order {
                    Order::YearMonthDay => ["YYYY", "MM", "DD"],
                    Order::DayMonthYear => ["DD", "MM", "YYYY"],
                    Order::MonthDayYear => ["MM", "DD", "YYYY"],
                };
                format!(
                    "{}, {}",
                    parts.join(&mark),
                    if *offset { "with an offset from UTC" } else { "local" }
                )
            }
            Self::Custom(format) => format.clone(),
        }
    }
}

/// Splits off the annotations in brackets behind a time (RFC 9557), and returns the name of the zone among them.
fn without_zone(text: &str) -> (&str, Option<&str>) {
    let Some((time, rest)) = text.split_once('[').filter(|_| text.ends_with(']')) else {
        return (text, None);
    };
    let names = rest[..rest.len() - 1].split("][").map(|name| name.trim_start_matches('!'));
    (time.trim_end(), names.clone().find(|name| !name.contains('=')))
}

/// The formats that fit all rows examined so far.
#[derive(Debug, Default)]
pub(super) struct Guess {
    forms: Vec<TimeFormat>,
    /// The parts of the first time, for error messages.
    first: Option<Parts>,
    /// True once a number had a fraction.
    fraction: bool,
}

impl Guess {
    /// Narrows the formats by one more time. A time that has no format in common with those before it is ignored.
    pub(super) fn look(&mut self, text: &str) {
        let mut forms = TimeFormat::of(text);
        if self.forms.is_empty() {
            self.first = Parts::read(without_zone(text).0);
        } else {
            forms.retain(|form| self.forms.contains(form));
        }
        if !forms.is_empty() {
            self.fraction |= forms[0] == TimeFormat::Days && epoch::has_fraction(text);
            self.forms = forms;
        }
    }

    /// Returns the remaining formats: none yet, one, or two that differ in the order of day and month.
    pub(super) fn forms(&self) -> &[TimeFormat] {
        // Whole numbers of this size may count anything.
        if self.forms == [TimeFormat::Days] && !self.fraction { &[] } else { &self.forms }
    }

    /// Returns the `strftime` formats with the day first and with the month first.
    pub(super) fn formats(&self) -> (String, String) {
        let (mark, precision) =
            self.first.map_or(('/', 2), |parts| (char::from(parts.mark), parts.precision));
        let time = match precision {
            0 => "",
            2 => " %H:%M",
            _ => " %H:%M:%S",
        };
        (format!("%d{mark}%m{mark}%Y{time}"), format!("%m{mark}%d{mark}%Y{time}"))
    }
}
