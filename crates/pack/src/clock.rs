//! The plant's clock: the starts of hours, days, weeks and months in its time zone.
//!
//! Windows on the device and groups of the owner's answers follow the same rules, which are here. A day has
//! 23 or 25 hours if the zone changes its offset; an hour that clocks show twice counts as two hours.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::string::ToString;

use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};

use crate::Span;

/// Milliseconds of an hour.
const HOUR: i64 = 3_600_000;

/// The clock of one time zone.
///
/// ```
/// use sotto_pack::{Clock, Span};
///
/// let plant = Clock::new("Europe/Vienna")?;
/// let reading = 1_396_170_000_000; // milliseconds since 1970
/// assert_eq!(plant.rfc3339(reading), "2014-03-30T11:00:00+02:00");
/// let (start, end) = (plant.start_of(Span::Day, reading), plant.end_of(Span::Day, reading));
/// assert_eq!(plant.rfc3339(start), "2014-03-30T00:00:00+01:00");
/// assert_eq!((end - start) / 3_600_000, 23, "clocks were set forward on this day");
/// # Ok::<(), sotto_pack::UnknownZone>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    zone: TimeZone,
    name: String,
}

/// The time zone is not known.
///
/// ```
/// use sotto_pack::{Clock, UnknownZone};
///
/// let refused = Clock::new("Viena");
/// assert_eq!(refused, Err(UnknownZone { name: "Viena".into() }));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is not a known time zone: give a name of the IANA database, such as Europe/Vienna or UTC")]
pub struct UnknownZone {
    /// The name given, at most 64 characters.
    pub name: String,
}

impl Clock {
    /// Makes the clock of a zone of the IANA database.
    ///
    /// # Errors
    /// [`UnknownZone`] if there is no such zone.
    pub fn new(name: &str) -> Result<Self, UnknownZone> {
        let zone = TimeZone::get(name).map_err(|_| UnknownZone { name: name.chars().take(64).collect() })?;
        Ok(Self { zone, name: name.to_owned() })
    }

    /// Makes a clock whose days all have 24 hours.
    #[must_use]
    pub fn utc() -> Self {
        Self { zone: TimeZone::UTC, name: "UTC".to_owned() }
    }

    /// Returns the zone's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the zone, to parse local times with.
    #[must_use]
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// Returns the start of the span that contains `at`. Both are in milliseconds since 1970; times beyond
    /// the year 9999 are clamped.
    #[must_use]
    pub fn start_of(&self, span: Span, at: i64) -> i64 {
        let of =
            |zoned: Result<Zoned, jiff::Error>| zoned.map_or(at, |zoned| zoned.timestamp().as_millisecond());
        let local = self.local(at);
        match span {
            Span::Hour => self.hour(at).0,
            Span::Day => of(local.start_of_day()),
            Span::Week => of(monday(&local).and_then(|monday| monday.start_of_day())),
            Span::Month => of(local.first_of_month().and_then(|first| first.start_of_day())),
        }
    }

    /// Returns the end of the span that contains `at`: the start of the next one.
    #[must_use]
    pub fn end_of(&self, span: Span, at: i64) -> i64 {
        let local = self.local(at);
        let after = |zoned: Result<Zoned, jiff::Error>| {
            zoned
                .and_then(|zoned| zoned.start_of_day())
                .map_or(i64::MAX, |end| end.timestamp().as_millisecond())
        };
        match span {
            Span::Hour => self.hour(at).1,
            Span::Day => after(local.tomorrow()),
            Span::Week => after(monday(&local).and_then(|monday| monday.checked_add(1.week()))),
            Span::Month => after(local.first_of_month().and_then(|first| first.checked_add(1.month()))),
        }
    }

    /// Returns the local date and time of an instant.
    #[must_use]
    pub fn local(&self, at: i64) -> Zoned {
        let (least, most) = (Timestamp::MIN.as_millisecond(), Timestamp::MAX.as_millisecond());
        let timestamp = Timestamp::from_millisecond(at.clamp(least + 1, most - 1)).unwrap_or_default();
        timestamp.to_zoned(self.zone.clone())
    }

    /// Formats an instant as RFC 3339 with the zone's offset, in seconds, or in milliseconds if there is a
    /// fraction.
    #[must_use]
    pub fn rfc3339(&self, at: i64) -> String {
        let local = self.local(at);
        let form = if at.rem_euclid(1000) == 0 { "%Y-%m-%dT%H:%M:%S%:z" } else { "%Y-%m-%dT%H:%M:%S%.3f%:z" };
        local.strftime(form).to_string()
    }

    /// Returns start and end of the hour that contains `at`, by the offset at that time. A change of the
    /// offset ends the hour.
    fn hour(&self, at: i64) -> (i64, i64) {
        let timestamp = self.local(at).timestamp();
        let offset = i64::from(self.zone.to_offset(timestamp).seconds()) * 1000;
        let start = (at.saturating_add(offset)).div_euclid(HOUR) * HOUR - offset;
        let before =
            self.zone.preceding(timestamp.saturating_add(1.nanosecond()).unwrap_or(timestamp)).next();
        let after = self.zone.following(timestamp).next();
        let start = before.map_or(start, |change| start.max(change.timestamp().as_millisecond()));
        let next = (at.saturating_add(offset)).div_euclid(HOUR).saturating_add(1) * HOUR - offset;
        (start, after.map_or(next, |change| next.min(change.timestamp().as_millisecond())))
    }
}

/// Returns the Monday of a day's week.
fn monday(local: &Zoned) -> Result<Zoned, jiff::Error> {
    let since = local.weekday().since(Weekday::Monday);
    local.checked_sub(i64::from(since).days())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    fn vienna() -> Clock {
        Clock::new("Europe/Vienna").unwrap()
    }

    #[test]
    fn spans_begin_where_the_clock_shows_it() {
        let clock = vienna();
        let noon = at("2014-02-14T12:30:15Z");
        for (span, start, end) in [
            (Span::Hour, "2014-02-14T12:00:00Z", "2014-02-14T13:00:00Z"),
            (Span::Day, "2014-02-13T23:00:00Z", "2014-02-14T23:00:00Z"),
            (Span::Week, "2014-02-09T23:00:00Z", "2014-02-16T23:00:00Z"),
            (Span::Month, "2014-01-31T23:00:00Z", "2014-02-28T23:00:00Z"),
        ] {
            assert_eq!(
                (clock.start_of(span, noon), clock.end_of(span, noon)),
                (at(start), at(end)),
                "{span:?}"
            );
            assert_eq!(clock.start_of(span, at(start)), at(start), "a start is its own");
            assert_eq!(clock.start_of(span, at(end)), at(end), "an end is the next start");
            assert_eq!(clock.end_of(span, at(end) - 1), at(end));
        }
    }

    #[test]
    fn days_have_23_and_25_hours_where_the_clocks_change() {
        let clock = vienna();
        let hours = |day: &str| {
            let noon = at(day);
            (clock.end_of(Span::Day, noon) - clock.start_of(Span::Day, noon)) / HOUR
        };
        assert_eq!(hours("2014-03-30T10:00:00Z"), 23);
        assert_eq!(hours("2014-10-26T10:00:00Z"), 25);
        assert_eq!(hours("2014-10-27T10:00:00Z"), 24);
        // Clocks show the hour from two to three twice: two hours.
        let first = at("2014-10-26T00:30:00Z");
        assert_eq!(clock.end_of(Span::Hour, first), at("2014-10-26T01:00:00Z"));
        assert_eq!(clock.start_of(Span::Hour, first + HOUR), at("2014-10-26T01:00:00Z"));
    }

    #[test]
    fn every_hour_of_every_zone_is_one_of_its_spans() {
        for name in ["UTC", "Asia/Kathmandu", "Australia/Lord_Howe", "America/New_York", "Pacific/Apia"] {
            let clock = Clock::new(name).unwrap();
            for span in [Span::Hour, Span::Day, Span::Week, Span::Month] {
                let mut start = clock.start_of(span, at("2011-10-01T00:00:00Z"));
                for _ in 0..200 {
                    let end = clock.end_of(span, start);
                    assert!(end > start, "{name} {span:?} {start}");
                    assert_eq!(clock.start_of(span, end - 1), start, "{name} {span:?}");
                    assert_eq!(clock.start_of(span, end), end, "{name} {span:?}");
                    start = end;
                }
            }
        }
    }

    #[test]
    fn times_are_written_with_their_offset() {
        assert_eq!(vienna().rfc3339(at("2014-07-01T10:00:00Z")), "2014-07-01T12:00:00+02:00");
        assert_eq!(Clock::utc().rfc3339(1), "1970-01-01T00:00:00.001+00:00");
        assert!(Clock::new("Europe/Nowhere").is_err());
        let _ = Clock::utc().start_of(Span::Month, i64::MIN);
        let _ = Clock::utc().end_of(Span::Month, i64::MAX);
    }
}
