//! Clauses: period, devices.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};
use sotto_pack::Clock;

use super::During;
use super::written::quoted;

/// The time that a question covers.
///
/// ```
/// use sotto_owner::question::{Period, Question};
///
/// let question = Question::parse("mean(boiler) over 7d")?;
/// assert_eq!(question.period, Period::Over("7d".parse()?));
/// let question = Question::parse("mean(boiler) until 2014-06-01")?;
/// assert_eq!(question.period, Period::Between { since: None, until: Some("2014-06-01".parse()?) });
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Period {
    /// All windows.
    #[default]
    All,
    /// `over 7d`: the last seven days.
    Over(Duration),
    /// `during last month`: a span of the calendar.
    During(During),
    /// `since … until …`: at least one of the two.
    Between {
        /// First moment, included.
        #[serde(default)]
        since: Option<When>,
        /// Last moment, excluded.
        #[serde(default)]
        until: Option<When>,
    },
}

impl Period {
    /// Returns the time that `over` covers before a moment, in milliseconds since 1970, or that `during` means then, with both
    /// of its ends. Returns None for another period.
    pub(crate) fn back_from(&self, at: i64, clock: &Clock) -> Option<Self> {
        // Whole seconds, as a question writes them.
        let now = at.div_euclid(1000).saturating_mul(1000);
        let (since, until) = match self {
            Self::Over(time) => (time.before(clock, now), now),
            Self::During(during) => during.between(now, clock)?,
            Self::All | Self::Between { .. } => return None,
        };
        Some(Self::Between { since: Some(When::of(since, clock)?), until: Some(When::of(until, clock)?) })
    }
}

/// A length of time: a positive whole number and a unit, e.g. `7d`.
///
/// ```
/// use sotto_owner::question::{Duration, DurationUnit};
///
/// let week: Duration = "7d".parse()?;
/// assert_eq!(week, Duration::new(7, DurationUnit::Day));
/// assert_eq!(week.seconds(), 604_800);
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Duration {
    /// Number of units, at least 1.
    pub count: u32,
    /// The length of one of them.
    pub unit: DurationUnit,
}

impl Duration {
    /// Returns a duration of `count` units. [`Question::check`](crate::question::Question::check) refuses a count of 0.
    #[must_use]
    pub const fn new(count: u32, unit: DurationUnit) -> Self {
        Self { count, unit }
    }

    /// Returns the length in seconds.
    #[must_use]
    pub fn seconds(&self) -> u64 {
        u64::from(self.count) * self.unit.seconds()
    }

    /// Returns the moment that lies this time before another, given in milliseconds since 1970. Days and weeks follow the
    /// clock. Returns None beyond the calendar.
    #[must_use]
    pub fn back_from(&self, at: i64, clock: &Clock) -> Option<When> {
        When::of(self.before(clock, at.div_euclid(1000).saturating_mul(1000)), clock)
    }

    /// Returns the moment that lies this time before another, in milliseconds since 1970. Days and weeks follow the clock.
    pub(crate) fn before(&self, clock: &Clock, at: i64) -> i64 {
        let seconds = at.saturating_sub_unsigned(1000 * self.seconds());
        let days = match self.unit {
            DurationUnit::Day => i64::from(self.count),
            DurationUnit::Week => 7 * i64::from(self.count),
            _ => return seconds,
        };
        let span = jiff::Span::new().try_days(days);
        let earlier = span.and_then(|span| clock.local(at).checked_sub(span));
        earlier.map_or(seconds, |at| at.timestamp().as_millisecond())
    }
}

/// The unit of a [`Duration`].
///
/// Example: [`Duration`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DurationUnit {
    /// `s`.
    Second,
    /// `m`, 60 s.
    Minute,
    /// `h`, 3600 s.
    Hour,
    /// `d`, 86,400 s.
    Day,
    /// `w`, 604,800 s.
    Week,
}

impl DurationUnit {
    /// All units, shortest first.
    pub const ALL: [Self; 5] = [Self::Second, Self::Minute, Self::Hour, Self::Day, Self::Week];

    /// Returns the unit's letter.
    #[must_use]
    pub const fn letter(self) -> char {
        match self {
            Self::Second => 's',
            Self::Minute => 'm',
            Self::Hour => 'h',
            Self::Day => 'd',
            Self::Week => 'w',
        }
    }

    pub(crate) const fn seconds(self) -> u64 {
        match self {
            Self::Second => 1,
            Self::Minute => 60,
            Self::Hour => 3600,
            Self::Day => 86_400,
            Self::Week => 604_800,
        }
    }
}

/// A date or a moment in its written form: `2014-01-01` or `2014-01-01T12:30`, with optional seconds and zone.
///
/// Only the form is checked. The reader chooses the time zone of a moment without one.
///
/// ```
/// use sotto_owner::question::When;
///
/// let start: When = "2014-01-01T12:30Z".parse()?;
/// assert_eq!(start.as_str(), "2014-01-01T12:30Z");
/// assert!("1 January".parse::<When>().is_err());
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct When(pub(crate) String);

impl When {
    /// Writes a moment, given in milliseconds since 1970. Returns None if the language has no text for it.
    fn of(at: i64, clock: &Clock) -> Option<Self> {
        Some(Self(clock.rfc3339(at))).filter(|when| is_when(when.as_str()))
    }

    /// Returns the text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<When> for String {
    fn from(when: When) -> Self {
        when.0
    }
}

/// The choice between one answer over all devices, one for each, and one for each tag.
///
/// ```
/// use sotto_owner::question::{Devices, Question};
///
/// assert_eq!(Question::parse("mean(boiler) per device")?.grouping, Devices::Each);
/// assert_eq!(Question::parse("mean(boiler)")?.grouping, Devices::Across);
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Devices {
    /// `across devices`, or no clause: one answer over all devices.
    #[default]
    Across,
    /// `per device`: one answer for each device.
    Each,
    /// `per tag`: one answer for each tag. A device with several tags counts in each.
    Tag,
}

impl When {
    /// Resolves the moment, in the clock's zone if it names none. Returns milliseconds since 1970; None if the date or the
    /// time does not exist.
    pub(crate) fn at(&self, clock: &Clock) -> Option<i64> {
        let text = self.as_str();
        if let Ok(timestamp) = text.parse::<jiff::Timestamp>() {
            return Some(timestamp.as_millisecond());
        }
        let midnight = |date: jiff::civil::Date| date.to_datetime(jiff::civil::Time::midnight());
        let civil = text.parse::<jiff::civil::DateTime>();
        let civil = civil.ok().or_else(|| text.parse().ok().map(midnight))?;
        Some(clock.zone().to_zoned(civil).ok()?.timestamp().as_millisecond())
    }
}

impl Display for Duration {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.count, self.unit.letter())
    }
}

impl Display for When {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if is_when(&self.0) { out.write_str(&self.0) } else { quoted(&self.0, out) }
    }
}

impl Display for Period {
    /// Writes the clauses, each after a space.
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => Ok(()),
            Self::Over(time) => write!(out, " over {time}"),
            Self::During(during) => write!(out, " during {during}"),
            Self::Between { since, until } => {
                since.iter().try_for_each(|when| write!(out, " since {when}"))?;
                until.iter().try_for_each(|when| write!(out, " until {when}"))
            }
        }
    }
}

/// Returns true for `2014-01-01`, `2014-01-01T12:30` and `2014-01-01T12:30:15`, the last two with or without `Z` or
/// `+02:00`.
pub(crate) fn is_when(text: &str) -> bool {
    let (date, time) = text.split_once('T').map_or((text, None), |(date, time)| (date, Some(time)));
    is_date(date) && time.is_none_or(is_time)
}

fn is_date(text: &str) -> bool {
    let Some([year, month, day]) = fields(text, "dddd-dd-dd") else {
        return false;
    };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 => 28 + u32::from(leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=days).contains(&day)
}

fn is_time(text: &str) -> bool {
    let zone = text.find(['Z', '+', '-']).unwrap_or(text.len());
    let (clock, zone) = text.split_at(zone);
    let clock = fields(clock, "dd:dd:dd").or_else(|| fields(clock, "dd:dd"));
    let zone = match zone {
        "" | "Z" => Some([0; 3]),
        zone => fields(&zone[1..], "dd:dd"),
    };
    let in_range = |[hour, minute, second]: [u32; 3]| hour < 24 && minute < 60 && second < 60;
    clock.is_some_and(in_range) && zone.is_some_and(in_range)
}

/// Returns the numbers of a text of the form `form`, where `d` stands for a digit; missing numbers are 0. Returns None
/// if the form differs.
fn fields(text: &str, form: &str) -> Option<[u32; 3]> {
    let fits = |(byte, form): (u8, u8)| if form == b'd' { byte.is_ascii_digit() } else { byte == form };
    if text.len() != form.len() || !text.bytes().zip(form.bytes()).all(fits) {
        return None;
    }
    let mut fields = [0; 3];
    for (field, digits) in fields.iter_mut().zip(text.split(['-', ':'])) {
        *field = digits.parse().ok()?;
    }
    Some(fields)
}
