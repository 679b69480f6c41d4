//! Round times for an axis, in the UTC offsets found in the times' text.

use std::ops::RangeInclusive;

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::fmt::temporal::Pieces;
use jiff::tz::Offset;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/// Distances of ticks below a month: a unit in milliseconds, and its multiples.
const FIXED: [(i64, &[i64]); 5] = [
    (1, &[1, 2, 5, 10, 20, 50, 100, 200, 500]),
    (SECOND, &[1, 2, 5, 15, 30]),
    (MINUTE, &[1, 2, 5, 15, 30]),
    (HOUR, &[1, 2, 3, 6, 12]),
    (DAY, &[1, 2, 7, 14]),
];
/// Distances of ticks, in months.
const MONTHS: [i64; 10] = [1, 2, 3, 6, 12, 24, 60, 120, 240, 1200];

/// The offsets from UTC over time.
///
/// ```
/// use sotto_chart::LocalTime;
///
/// let midnight = 1_391_122_800_000;
/// let time = LocalTime::new([(midnight, "2014-01-31T00:00:00+01:00")]);
/// let ticks = time.ticks(midnight, midnight + 12 * 3_600_000, 4);
/// assert_eq!(ticks[0].date.as_deref(), Some("2014-01-31"));
/// assert_eq!(ticks.iter().map(|tick| &*tick.label).collect::<Vec<_>>(), ["00:00", "06:00", "12:00"]);
/// ```
#[derive(Clone, Debug)]
pub struct LocalTime {
    /// Pairs of a time and the offset from then on, in milliseconds, in order of time.
    offsets: Vec<(i64, i64)>,
}

/// A round time.
///
/// Example: [`LocalTime`].
#[derive(Clone, Debug, PartialEq)]
pub struct TimeTick {
    /// Milliseconds since 1970.
    pub at: i64,
    /// A time of day, a date, a month or a year.
    pub label: String,
    /// The date of a time of day, if it differs from the date of the tick before.
    pub date: Option<String>,
}

impl LocalTime {
    /// Reads the offsets of times: milliseconds since 1970, and RFC 3339. Texts that are no time are passed over.
    pub fn new<'a>(times: impl IntoIterator<Item = (i64, &'a str)>) -> Self {
        let read = |(at, text): (i64, &str)| Some((at, offset(text)?));
        let mut offsets: Vec<(i64, i64)> = times.into_iter().filter_map(read).collect();
        offsets.sort_unstable();
        offsets.dedup_by_key(|(_, offset)| *offset);
        Self { offsets }
    }

    /// Returns the offset at a time, in milliseconds.
    fn offset(&self, at: i64) -> i64 {
        let after = self.offsets.partition_point(|(from, _)| *from <= at);
        self.offsets.get(after.saturating_sub(1)).map_or(0, |(_, offset)| *offset)
    }

    /// Returns the offsets as text such as `+01:00`, without duplicates.
    pub fn names(&self) -> Vec<String> {
        let mut offsets: Vec<i64> = self.offsets.iter().map(|(_, offset)| *offset).collect();
        offsets.sort_unstable();
        offsets.dedup();
        let name = |offset: i64| {
            let (sign, minutes) = (if offset < 0 { '-' } else { '+' }, offset.abs() / MINUTE);
            format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
        };
        offsets.into_iter().map(name).collect()
    }

    fn instant(&self, local: i64) -> i64 {
        let guess = local - self.offset(local);
        local - self.offset(guess)
    }

    /// Returns at most `most` ≥ 2 round local times in `from` … `to`, milliseconds since 1970. Empty outside the years
    /// −9999 … 9999.
    pub fn ticks(&self, from: i64, to: i64, most: usize) -> Vec<TimeTick> {
        let least = (to - from) / most as i64;
        let begin = from + self.offset(from);
        let candidates = 0..=most as i64 + 2;
        let fixed = FIXED.into_iter().flat_map(|(unit, counts)| counts.iter().map(move |count| count * unit));
        for step in fixed.filter(|step| *step >= least) {
            // Weeks begin on Monday; 1970-01-01 was a Thursday.
            let phase = if step % (7 * DAY) == 0 { 4 * DAY } else { 0 };
            let first = (begin - phase).div_euclid(step) * step + phase;
            let instants = self.within(from..=to, candidates.clone().map(|at| first + at * step));
            if instants.len() <= most {
                let form = match step {
                    DAY.. => return self.labelled(&instants, "%Y-%m-%d", false),
                    MINUTE.. => "%H:%M",
                    SECOND.. => "%H:%M:%S",
                    _ => "%H:%M:%S%.3f",
                };
                return self.labelled(&instants, form, true);
            }
        }
        let Some(begin) = civil(begin) else { return Vec::new() };
        let month = i64::from(begin.year()) * 12 + i64::from(begin.month()) - 1;
        for step in MONTHS.into_iter().filter(|step| step * 31 * DAY >= least) {
            let first = month.div_euclid(step) * step;
            let months = candidates.clone().filter_map(|at| month_start(first + at * step));
            let instants = self.within(from..=to, months);
            if instants.len() <= most {
                return self.labelled(&instants, if step % 12 == 0 { "%Y" } else { "%Y-%m" }, false);
            }
        }
        Vec::new()
    }

    /// Returns the instants of local times within a period.
    fn within(&self, period: RangeInclusive<i64>, locals: impl Iterator<Item = i64>) -> Vec<i64> {
        let instants = locals.map(|local| self.instant(local));
        let mut instants: Vec<i64> = instants.filter(|at| period.contains(at)).collect();
        instants.dedup();
        instants
    }

    /// Labels ticks in a form of `strftime`; if `dated`, a date is kept that differs from the one of the tick before.
    fn labelled(&self, instants: &[i64], form: &str, dated: bool) -> Vec<TimeTick> {
        let mut last = None;
        let tick = |at: &i64| {
            let local = civil(at + self.offset(*at))?;
            let date = dated.then(|| local.date());
            let shown = date.filter(|_| last != date).map(|date| date.to_string());
            last = date;
            Some(TimeTick { at: *at, label: local.strftime(form).to_string(), date: shown })
        };
        instants.iter().filter_map(tick).collect()
    }
}

/// Parses the offset of an RFC 3339 time, in milliseconds.
fn offset(text: &str) -> Option<i64> {
    let offset = Pieces::parse(text).ok()?.to_numeric_offset()?;
    Some(i64::from(offset.seconds()) * SECOND)
}

/// Returns date and time of day of a local time in milliseconds.
fn civil(local: i64) -> Option<DateTime> {
    Some(Offset::UTC.to_datetime(Timestamp::from_millisecond(local).ok()?))
}

/// Returns the local time at which a month begins, counted from January of the year 0.
fn month_start(month: i64) -> Option<i64> {
    let year = i16::try_from(month.div_euclid(12)).ok()?;
    let first = Date::new(year, month.rem_euclid(12) as i8 + 1, 1).ok()?;
    Some(Offset::UTC.to_timestamp(first.to_datetime(jiff::civil::Time::midnight())).ok()?.as_millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2014-01-31T00:00:00+01:00.
    const BEGIN: i64 = 1_391_122_800_000;

    #[test]
    fn months_begin_on_their_first_day() {
        for month in 1800 * 12..2200 * 12 {
            let begin = month_start(month).and_then(civil).expect("a date");
            let (year, of_year) = (month / 12, month % 12 + 1);
            assert_eq!((i64::from(begin.year()), i64::from(begin.month()), begin.day()), (year, of_year, 1));
        }
    }

    #[test]
    fn ticks_lie_on_round_local_times() {
        let time = LocalTime::new([(BEGIN, "2014-01-31T00:00:00+01:00")]);
        assert_eq!(time.names(), ["+01:00"]);
        let ticks = time.ticks(BEGIN, BEGIN + DAY, 6);
        let labels: Vec<&str> = ticks.iter().map(|tick| tick.label.as_str()).collect();
        assert_eq!(labels, ["00:00", "06:00", "12:00", "18:00", "00:00"]);
        let dates: Vec<Option<&str>> = ticks.iter().map(|tick| tick.date.as_deref()).collect();
        assert_eq!(dates, [Some("2014-01-31"), None, None, None, Some("2014-02-01")]);
        let labels = |span: i64| -> Vec<String> {
            time.ticks(BEGIN, BEGIN + span, 5).into_iter().map(|tick| tick.label).collect()
        };
        assert_eq!(
            labels(200),
            ["00:00:00.000", "00:00:00.050", "00:00:00.100", "00:00:00.150", "00:00:00.200"]
        );
        assert_eq!(labels(3 * DAY), ["2014-01-31", "2014-02-01", "2014-02-02", "2014-02-03"]);
        assert_eq!(labels(100 * DAY), ["2014-02", "2014-03", "2014-04", "2014-05"]);
        assert_eq!(labels(1500 * DAY), ["2015", "2016", "2017", "2018"]);
    }

    #[test]
    fn midnight_stays_midnight_when_the_clocks_change() {
        // Zurich: summer time begins on 2014-03-30 at 02:00.
        let (before, after) = (1_396_047_600_000, 1_396_216_800_000);
        let time =
            LocalTime::new([(before, "2014-03-29T00:00:00+01:00"), (after, "2014-03-31T00:00:00+02:00")]);
        let ticks = time.ticks(before, after + 2 * DAY, 8);
        let last = ticks.iter().find(|tick| tick.at == after).map(|tick| tick.label.clone());
        assert_eq!(last.as_deref(), Some("2014-03-31"));
    }
}
