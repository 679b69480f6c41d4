//! The beginnings and ends of groups by the plant's clock.

use jiff::ToSpan as _;
use jiff::civil::{Date, Time};
use sotto_pack::{Clock, Span};

use crate::language::By;

/// Milliseconds of an hour.
const HOUR: i64 = 3_600_000;

/// Groups that follow each other in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Calendar {
    Of(Span),
    /// Parts of an hour, in milliseconds. A change of the zone's offset ends one, so that an hour that clocks show twice
    /// has each of them twice.
    OfHour(i64),
    /// Parts of a day of more than an hour, in milliseconds. Each begins where clocks first show its time, so one with a
    /// change of the offset is longer or shorter.
    OfDay(i64),
    /// Months from this day on, three or twelve together. Years begin in January.
    Months {
        from: i8,
        together: i32,
    },
}

impl Calendar {
    /// Returns None for single windows.
    pub(super) fn of(by: By) -> Option<Self> {
        Some(match by {
            By::Window | By::Recurring { .. } => return None,
            By::Every(length) => {
                let length = i64::try_from(1000 * length.seconds()).unwrap_or(24 * HOUR);
                if length <= HOUR { Self::OfHour(length) } else { Self::OfDay(length) }
            }
            By::Hour => Self::Of(Span::Hour),
            By::Day => Self::Of(Span::Day),
            By::Week => Self::Of(Span::Week),
            By::Month => Self::Of(Span::Month),
            By::MonthFrom(day) => Self::Months { from: day as i8, together: 1 },
            By::Quarter => Self::Months { from: 1, together: 3 },
            By::Year => Self::Months { from: 1, together: 12 },
        })
    }

    /// Returns the beginning of the group that contains `at`. Both are in milliseconds since 1970.
    pub(super) fn start_of(self, clock: &Clock, at: i64) -> i64 {
        match self {
            Self::Of(span) => clock.start_of(span, at),
            Self::OfHour(length) => of_hour(clock, length, at).0,
            Self::OfDay(length) => of_day(clock, length, at).0,
            Self::Months { from, together } => of_months(clock, from, together, at).0,
        }
    }

    /// Returns the end of the group that contains `at`: the beginning of the next one.
    pub(super) fn end_of(self, clock: &Clock, at: i64) -> i64 {
        match self {
            Self::Of(span) => clock.end_of(span, at),
            Self::OfHour(length) => of_hour(clock, length, at).1,
            Self::OfDay(length) => of_day(clock, length, at).1,
            Self::Months { from, together } => of_months(clock, from, together, at).1,
        }
    }

    /// Returns about how many groups lie from the beginning of one to that of another.
    pub(super) fn between(self, clock: &Clock, first: i64, last: i64) -> i64 {
        // A change of the zone's offset is less than half of a day.
        let of = |length: i64| (last.saturating_sub(first) + length / 2) / length;
        let month = |at: i64| {
            let local = clock.local(at);
            12 * i64::from(local.year()) + i64::from(local.month())
        };
        match self {
            Self::Of(Span::Hour) => of(HOUR),
            Self::Of(Span::Day) => of(24 * HOUR),
            Self::Of(Span::Week) => of(7 * 24 * HOUR),
            Self::Of(Span::Month) => month(last) - month(first),
            Self::OfHour(length) | Self::OfDay(length) => of(length),
            Self::Months { together, .. } => (month(last) - month(first)) / i64::from(together),
        }
    }
}

/// Returns the part of an hour that contains `at`: within a stretch of one offset, as clocks show it.
fn of_hour(clock: &Clock, length: i64, at: i64) -> (i64, i64) {
    let (from, to, offset) = stretch(clock, at);
    let start = at.saturating_add(offset).div_euclid(length) * length - offset;
    (start.max(from), start.saturating_add(length).min(to))
}

/// Returns the time around `at` in which the zone keeps its offset, and this offset, in milliseconds.
pub(super) fn stretch(clock: &Clock, at: i64) -> (i64, i64, i64) {
    let (zone, timestamp) = (clock.zone(), clock.local(at).timestamp());
    let offset = i64::from(zone.to_offset(timestamp).seconds()) * 1000;
    let until = timestamp.saturating_add(1.nanosecond()).unwrap_or(timestamp);
    let before = zone.preceding(until).next().map_or(i64::MIN, |change| change.timestamp().as_millisecond());
    let after =
        zone.following(timestamp).next().map_or(i64::MAX, |change| change.timestamp().as_millisecond());
    (before, after, offset)
}

/// Returns the part of a day that contains `at`.
fn of_day(clock: &Clock, length: i64, at: i64) -> (i64, i64) {
    let date = clock.local(at).date();
    // Around a change at midnight, clocks show the end of a day once more after the next has begun.
    let days = [date.yesterday(), Ok(date), date.tomorrow()].into_iter().flatten();
    let begins = |date: Date| {
        let parts = 24 * HOUR / length;
        (0..parts).filter_map(move |part| begin(clock, date, part * length))
    };
    let mut all: Vec<i64> = days.flat_map(begins).collect();
    all.sort_unstable();
    around(&all, at)
}

/// Returns the months that contain `at`.
fn of_months(clock: &Clock, from: i8, together: i32, at: i64) -> (i64, i64) {
    let date = clock.local(at).date();
    let month = 12 * i32::from(date.year()) + i32::from(date.month()) - 1;
    let group = month.div_euclid(together);
    let begin_of = |group: i32| {
        let month = group * together;
        let (year, month) = (i16::try_from(month.div_euclid(12)).ok()?, month.rem_euclid(12) + 1);
        begin(clock, Date::new(year, i8::try_from(month).ok()?, from).ok()?, 0)
    };
    let all: Vec<i64> = (group - 1..=group + 2).filter_map(begin_of).collect();
    around(&all, at)
}

/// Returns the instant at which clocks first show a time of a date, given in milliseconds after midnight; a time that they
/// skip is where they go on.
fn begin(clock: &Clock, date: Date, after: i64) -> Option<i64> {
    let time = Time::midnight().checked_add(after.milliseconds()).ok()?;
    let civil = date.to_datetime(time);
    let ambiguous = clock.zone().to_ambiguous_timestamp(civil);
    let instant = match ambiguous.offset() {
        jiff::tz::AmbiguousOffset::Gap { before, .. } => {
            // The change itself: the skipped time by the offset before it lies after the change.
            let inside = before.to_timestamp(civil).ok()?;
            let change = clock.zone().preceding(inside.saturating_add(1.nanosecond()).ok()?).next()?;
            change.timestamp()
        }
        _ => ambiguous.earlier().ok()?,
    };
    Some(instant.as_millisecond())
}

/// Returns the neighbours in a sorted list with `at` between them.
fn around(begins: &[i64], at: i64) -> (i64, i64) {
    let next = begins.partition_point(|begin| *begin <= at);
    let start = next.checked_sub(1).map_or(at, |at| begins[at]);
    (start, begins.get(next).copied().unwrap_or(i64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::language::{Duration, DurationUnit};

    const ZONES: [&str; 12] = [
        "UTC",
        "Europe/Rome",
        "Europe/Lisbon",
        "America/New_York",
        "America/Sao_Paulo",
        "America/St_Johns",
        "Asia/Kathmandu",
        "Asia/Kolkata",
        "Australia/Lord_Howe",
        "Pacific/Apia",
        "Africa/Cairo",
        "America/Havana",
    ];

    /// From 1990 to 2034.
    fn moment() -> impl Strategy<Value = i64> {
        631_152_000_000..2_019_686_400_000_i64
    }

    /// Near a change of the zone's offset, if it has one.
    fn near_a_change(clock: &Clock, at: i64, beside: i64) -> i64 {
        stretch(clock, at).1.checked_add(beside).filter(|at| *at < 2_019_686_400_000).unwrap_or(at)
    }

    fn groups() -> impl Strategy<Value = By> {
        let minutes: Vec<By> = (1..=1440)
            .filter_map(|minutes| By::every(Duration::new(minutes, DurationUnit::Minute)))
            .filter(|by| matches!(by, By::Every(_)))
            .collect();
        prop_oneof![
            3 => prop::sample::select(minutes),
            1 => prop::sample::select(&[By::Month, By::Quarter, By::Year][..]),
            1 => (2..=28_u8).prop_map(By::MonthFrom),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(600))]

        /// Groups follow each other without a gap, and each begins where clocks show a multiple of its length, or where a
        /// change of the offset puts it.
        #[test]
        fn groups_are_those_that_clocks_show(
            zone in prop::sample::select(&ZONES[..]), at in moment(), by in groups(), beside in -90_000_000..90_000_000_i64, change in any::<bool>(),
        ) {
            let clock = Clock::new(zone).expect("a zone");
            let at = if change { near_a_change(&clock, at, beside) } else { at };
            let calendar = Calendar::of(by).expect("no window");
            let (start, end) = (calendar.start_of(&clock, at), calendar.end_of(&clock, at));
            prop_assert!(start <= at && at < end, "{} {} {}", zone, by, at);
            prop_assert_eq!((calendar.start_of(&clock, start), calendar.end_of(&clock, start)), (start, end));
            prop_assert_eq!((calendar.start_of(&clock, end - 1), calendar.end_of(&clock, end - 1)), (start, end));
            prop_assert_eq!(calendar.start_of(&clock, end), end);
            let (from, local) = (stretch(&clock, start).0, clock.local(start));
            let second = i64::from(local.hour()) * 3600 + i64::from(local.minute()) * 60 + i64::from(local.second());
            if start != from {
                match by {
                    By::Every(length) => prop_assert_eq!(second % length.seconds() as i64, 0),
                    By::Month => prop_assert_eq!((local.day(), second), (1, 0)),
                    By::MonthFrom(day) => prop_assert_eq!((local.day(), second), (day as i8, 0)),
                    By::Quarter => prop_assert_eq!((local.day(), local.month() % 3, second), (1, 1, 0)),
                    By::Year => prop_assert_eq!((local.day(), local.month(), second), (1, 1, 0)),
                    by => prop_assert!(false, "{} is not made here", by),
                }
            }
            // Every minute of the group is in the same part of a local day, unless clocks showed a part of the day twice.
            if let By::Every(length) = by {
                let part = |at: i64| {
                    let local = clock.local(at);
                    let second = i64::from(local.hour()) * 3600 + i64::from(local.minute()) * 60 + i64::from(local.second());
                    (local.date(), second / length.seconds() as i64)
                };
                let minutes = (start..end).step_by(60_000);
                let parts: std::collections::BTreeSet<_> = minutes.map(part).collect();
                let went_back = { let (_, change, offset) = stretch(&clock, start); change < end && stretch(&clock, change).2 < offset };
                prop_assert!(parts.len() == 1 || went_back && 1000 * length.seconds() as i64 > HOUR, "{} {} {:?}", zone, by, parts);
            }
        }

        #[test]
        fn the_parts_of_a_day_are_its_length_over_theirs(zone in prop::sample::select(&ZONES[..]), at in moment(), by in groups(), beside in -90_000_000..90_000_000_i64) {
            let clock = Clock::new(zone).expect("a zone");
            let at = near_a_change(&clock, at, beside);
            let calendar = Calendar::of(by).expect("no window");
            let (day, end) = (clock.start_of(Span::Day, at), clock.end_of(Span::Day, at));
            if let Calendar::OfDay(length) = calendar && end - day >= 20 * HOUR && end - day <= 26 * HOUR {
                let mut starts = Vec::new();
                let mut from = day;
                while from < end {
                    prop_assert_eq!(calendar.start_of(&clock, from), from, "{} {}", zone, by);
                    starts.push(from);
                    from = calendar.end_of(&clock, from);
                }
                prop_assert_eq!(from, end);
                // A change skips one at most where it is as long as a group.
                let most = (24 * HOUR / length) as usize;
                prop_assert!((most - 1..=most).contains(&starts.len()), "{} {}: {}", zone, by, starts.len());
            }
        }
    }

    fn hours(zone: &str, by: By, day: &str) -> Vec<f64> {
        let clock = Clock::new(zone).expect("a zone");
        let noon = day.parse::<jiff::Timestamp>().expect("a time").as_millisecond();
        let (mut at, end) = (clock.start_of(Span::Day, noon), clock.end_of(Span::Day, noon));
        let calendar = Calendar::of(by).expect("no window");
        let mut all = Vec::new();
        while at < end {
            let to = calendar.end_of(&clock, at);
            all.push((to - at) as f64 / HOUR as f64);
            at = to;
        }
        all
    }

    #[test]
    fn days_of_23_and_24_and_a_half_and_25_hours_are_divided() {
        let every = |text: &str| By::every(text.parse().expect("a duration")).expect("a part of a day");
        for (zone, day, quarters, count) in [
            ("Europe/Rome", "2014-03-30T10:00:00Z", [5.0, 6.0, 6.0, 6.0], 92),
            ("Europe/Rome", "2014-10-26T10:00:00Z", [7.0, 6.0, 6.0, 6.0], 100),
            ("Australia/Lord_Howe", "2014-04-06T02:00:00Z", [6.5, 6.0, 6.0, 6.0], 98),
            ("Asia/Kolkata", "2014-04-06T10:00:00Z", [6.0; 4], 96),
        ] {
            assert_eq!(hours(zone, every("6h"), day), quarters, "{zone}");
            let parts = hours(zone, every("15m"), day);
            assert!(parts.len() == count && parts.iter().all(|hours| *hours == 0.25), "{zone}: {parts:?}");
        }
    }
}
