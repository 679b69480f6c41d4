//! Formats of times, and the detection of a file's format.

use jiff::civil::{DateTime, Time};
use jiff::fmt::strtime::{self, BrokenDownTime};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use jiff::{Timestamp, Zoned};
use sotto_pack::Reason;

use super::civil::{Order, Parts};

/// The unit of numeric times since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

/// The format of times.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum TimeFormat {
    /// A number since 1970.
    Epoch(Unit),
    /// A date with an optional time, with an offset from UTC or local. A local date without a time is midnight.
    Date { order: Order, mark: u8, offset: bool },
    /// A format of `strftime`.
    Custom(String),
}

/// A parsed time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Milliseconds since 1970.
    Instant(i64),
    /// Local time, as a clock in the zone shows it.
    Local(DateTime),
}

impl TimeFormat {
    /// Returns the formats that a text may have: none, one, or two that differ in the order of day and month.
    pub(super) fn of(text: &str) -> Vec<Self> {
        if let Some(parts) = Parts::read(text) {
            let form = |order| Self::Date { order, mark: parts.mark, offset: parts.offset.is_some() };
            let forms: Vec<Self> = parts.orders().map(form).collect();
            if !forms.is_empty() {
                return forms;
            }
        }
        Unit::of(text).map(Self::Epoch).into_iter().collect()
    }

    /// Creates a `strftime` format.
    ///
    /// # Errors
    /// The reason why the format cannot be used.
    pub(super) fn custom(format: &str) -> Result<Self, String> {
        let written = strtime::format(format, &Zoned::default()).map_err(|error| error.to_string())?;
        let form = Self::Custom(format.to_owned());
        // Parsing a formatted time back fails unless the format states the day.
        if form.read(&written).is_none() {
            return Err("times of this format say no day and year: it needs %Y, %m and %d, or others such as %s or %F".to_owned());
        }
        Ok(form)
    }

    /// Parses a text in this format; `None` if it does not have it.
    pub(super) fn read(&self, text: &str) -> Option<When> {
        match self {
            Self::Epoch(unit) => unit.read(text).map(When::Instant),
            Self::Date { order, mark, offset } => {
                let parts = Parts::read(text).filter(|parts| parts.mark == *mark)?;
                let local = parts.date_time(*order)?;
                match parts.offset {
                    Some(seconds) if *offset => {
                        let instant = Offset::from_seconds(seconds).ok()?.to_timestamp(local).ok()?;
                        Some(When::Instant(instant.as_millisecond()))
                    }
                    None if !*offset => Some(When::Local(local)),
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
}

impl Unit {
    /// Returns the unit of a number by its magnitude: seconds from 10^8 (1973), milliseconds from 10^11, microseconds
    /// from 10^14, nanoseconds from 10^17. Smaller numbers are not times but row counts or readings.
    fn of(text: &str) -> Option<Self> {
        let number = text.parse::<f64>().ok()?.abs();
        match number {
            1e8..1e11 => Some(Self::Seconds),
            1e11..1e14 => Some(Self::Milliseconds),
            1e14..1e17 => Some(Self::Microseconds),
            1e17..1e19 => Some(Self::Nanoseconds),
            _ => None,
        }
    }

    /// Returns milliseconds since 1970, rounded down.
    fn read(self, text: &str) -> Option<i64> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let exact = whole.parse::<i64>().ok().filter(|_| fraction.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(whole_number) = exact else {
            // A number with an exponent.
            let number = text.parse::<f64>().ok()?;
            let milliseconds = match self {
                Self::Seconds => number * 1e3,
                Self::Milliseconds => number,
                Self::Microseconds => number / 1e3,
                Self::Nanoseconds => number / 1e6,
            };
            return in_range(milliseconds.floor() as i64).filter(|_| milliseconds.is_finite());
        };
        let milliseconds = match self {
            Self::Seconds => {
                let digits = fraction.bytes().chain(*b"000").take(3);
                let part = digits.fold(0, |part, digit| part * 10 + i64::from(digit - b'0'));
                let finer = i64::from(fraction.bytes().skip(3).any(|digit| digit != b'0'));
                let part = if whole.starts_with('-') { -part - finer } else { part };
                whole_number.checked_mul(1000)?.checked_add(part)?
            }
            Self::Milliseconds => whole_number,
            Self::Microseconds => whole_number.div_euclid(1000),
            Self::Nanoseconds => whole_number.div_euclid(1_000_000),
        };
        in_range(milliseconds)
    }
}

fn in_range(milliseconds: i64) -> Option<i64> {
    Timestamp::from_millisecond(milliseconds).ok().map(Timestamp::as_millisecond)
}

/// The formats that fit all rows examined so far.
#[derive(Debug, Default)]
pub(super) struct Guess {
    forms: Vec<TimeFormat>,
    /// The parts of the first time, for error messages.
    first: Option<Parts>,
}

impl Guess {
    /// Narrows the formats by one more time. A time that has no format in common with those before it is ignored.
    pub(super) fn look(&mut self, text: &str) {
        let mut forms = TimeFormat::of(text);
        if self.forms.is_empty() {
            self.first = Parts::read(text);
        } else {
            forms.retain(|form| self.forms.contains(form));
        }
        if !forms.is_empty() {
            self.forms = forms;
        }
    }

    /// Returns the remaining formats: none yet, one, or two that differ in the order of day and month.
    pub(super) fn forms(&self) -> &[TimeFormat] {
        &self.forms
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

/// Converts local times to instants.
///
/// A time that the clocks skip in spring has no instant. A time that they show twice in autumn means the first
/// occurrence, unless that is not after the row before it: then it means the second. Where rows run back, the two
/// change places.
#[derive(Debug)]
pub(super) struct Local {
    zone: TimeZone,
    last: Option<i64>,
    /// True if the row before was earlier than the one before it.
    falls: bool,
}

impl Local {
    /// Creates a converter for a time zone.
    pub(super) fn new(zone: TimeZone) -> Self {
        Self { zone, last: None, falls: false }
    }

    /// Forgets the row before, at the beginning of another file.
    pub(super) fn begin(&mut self) {
        (self.last, self.falls) = (None, false);
    }

    /// Returns the instant of a row, in milliseconds since 1970.
    pub(super) fn instant(&mut self, when: When) -> Result<i64, Reason> {
        let at = match when {
            When::Instant(at) => at,
            When::Local(local) => {
                let instant = |offset: Offset| {
                    offset.to_timestamp(local).map(Timestamp::as_millisecond).map_err(|_| Reason::NoTime)
                };
                match self.zone.to_ambiguous_timestamp(local).offset() {
                    AmbiguousOffset::Unambiguous { offset } => instant(offset)?,
                    AmbiguousOffset::Gap { .. } => return Err(Reason::NoSuchTime),
                    AmbiguousOffset::Fold { before, after } => {
                        let (first, second) = (instant(before)?, instant(after)?);
                        match self.last {
                            Some(last) if self.falls => {
                                if second >= last {
                                    first
                                } else {
                                    second
                                }
                            }
                            Some(last) if first <= last => second,
                            _ => first,
                        }
                    }
                }
            }
        };
        if let Some(last) = self.last.replace(at).filter(|last| *last != at) {
            self.falls = at < last;
        }
        Ok(at)
    }
}
