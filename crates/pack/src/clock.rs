//! The clock of the plant: where hours, days, weeks and months begin in its time zone.
//!
//! Windows follow this clock on the device, groups of answers follow it at the owner's, so both take the same rules from here.
//! A day has 23 or 25 hours where the zone changes its offset; an hour that the clocks show twice is two hours.

use jiff::civil::Weekday;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan, Zoned};
use serde::{Deserialize, Serialize};

/// Milliseconds of an hour.
const HOUR: i64 = 3_600_000;

/// A length of time on the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Span {
    /// From one full hour to the next.
    Hour,
    /// From midnight to midnight.
    Day,
    /// From Monday's midnight to the next.
    Week,
    /// From the first of a month to the first of the next.
    Month,
}

/// The clock of one time zone.
#[derive(Clone, Debug, PartialEq)]
pub struct Clock {
    zone: TimeZone,
    name: String,
}

/// A time zone that is not known.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name:?} is no time zone: give a name of the IANA database, such as Europe/Vienna or UTC")]
pub struct UnknownZone {
    /// The name.
    pub name: String,
}

impl Clock {
    /// The clock of a zone of the IANA database.
    ///
    /// # Errors
    /// [`UnknownZone`] when there is no such zone.
    pub fn new(name: &str) -> Result<Self, UnknownZone> {
        let zone = TimeZone::get(name).map_err(|_| UnknownZone { name: name.chars().take(64).collect() })?;
        Ok(Self { zone, name: name.to_owned() })
    }

    /// The clock that shows UTC.
    #[must_use]
    pub fn utc() -> Self {
        Self { zone: TimeZone::UTC, name: "UTC".to_owned() }
    }

    /// The zone's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The zone, to read local times with.
    #[must_use]
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// When the span that holds `at` begins. Both in milliseconds since 1970; times beyond the year 9999 are brought into it.
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

    /// When the span that holds `at` ends: when the next one begins.
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

    /// The local date and time of an instant.
    #[must_use]
    pub fn local(&self, at: i64) -> Zoned {
        let (least, most) = (Timestamp::MIN.as_millisecond(), Timestamp::MAX.as_millisecond());
        let timestamp = Timestamp::from_millisecond(at.clamp(least + 1, most - 1)).unwrap_or_default();
        timestamp.to_zoned(self.zone.clone())
    }

    /// An instant in RFC 3339 with the zone's offset, to the second or to the millisecond where it has one.
    #[must_use]
    pub fn rfc3339(&self, at: i64) -> String {
        let local = self.local(at);
        let form = if at.rem_euclid(1000) == 0 { "%Y-%m-%dT%H:%M:%S%:z" } else { "%Y-%m-%dT%H:%M:%S%.3f%:z" };
        local.strftime(form).to_string()
    }

    /// The hour that holds `at`, from the offset that holds then. Where the offset changes inside it, it ends there.
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

/// The Monday of a day's week.
fn monday(local: &Zoned) -> Result<Zoned, jiff::Error> {
    let since = local.weekday().since(Weekday::Monday);
    local.checked_sub(i64::from(since).days())
}

/// How a stream's readings are cut into windows. A window begins with its span, or a whole number of `ticks` periods later, and never
/// reaches into the next span.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// No window crosses the end of such a span.
    pub span: Span,
    /// Milliseconds between ticks, at least 1.
    pub period: u32,
    /// Most ticks of a window, at least 1.
    pub ticks: u32,
}

impl Cut {
    /// Where the window that holds `at` begins and ends: milliseconds since 1970. A window that continues one which was stopped
    /// begins later than this, on the same grid.
    #[must_use]
    pub fn window(&self, clock: &Clock, at: i64) -> (i64, i64) {
        let (start, end) = (clock.start_of(self.span, at), clock.end_of(self.span, at));
        let length = i64::from(self.period.max(1)) * i64::from(self.ticks.max(1));
        let begins = start + (at - start).div_euclid(length) * length;
        (begins, begins.saturating_add(length).min(end))
    }

    /// The number of ticks from `start` to `end`; the last one may be cut short by the end of the span.
    #[must_use]
    pub fn ticks_between(&self, start: i64, end: i64) -> u32 {
        let ticks = end.saturating_sub(start).max(0).unsigned_abs().div_ceil(u64::from(self.period.max(1)));
        u32::try_from(ticks).unwrap_or(u32::MAX)
    }
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
        // The hour from two to three is shown twice: two hours.
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
    fn windows_never_cross_a_span() {
        let clock = vienna();
        let cut = Cut { span: Span::Day, period: 300_000, ticks: 100 };
        let mut start = clock.start_of(Span::Day, at("2014-10-25T00:00:00Z"));
        let mut lengths = Vec::new();
        for _ in 0..8 {
            let (begin, end) = cut.window(&clock, start);
            assert_eq!(begin, start);
            assert_eq!(cut.window(&clock, end - 1), (begin, end));
            lengths.push(cut.ticks_between(begin, end));
            start = end;
        }
        // Days of 24, 25 and 24 hours, of 288 and 300 ticks.
        assert_eq!(lengths, [100, 100, 88, 100, 100, 100, 100, 100]);
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
