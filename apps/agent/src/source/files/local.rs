//! Local times: which instant a clock on the wall shows.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use sotto_pack::Reason;

/// Milliseconds of a day.
const DAY: i64 = 86_400_000;

/// A parsed time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::source) enum When {
    /// Milliseconds since 1970.
    Instant(i64),
    /// Local time, as a clock in the plant's zone shows it.
    Local(DateTime),
    /// Local time in a zone that is named beside it.
    Zoned(DateTime, TimeZone),
}

/// Converts local times to instants.
///
/// A time that the clocks skip in spring has no instant. A time that they show twice in autumn means the occurrence
/// that the order of the rows tells: the first one, unless that is not after the row before it. In a file with the
/// newest row first, it means the second one, unless that is not before the row above it.
#[derive(Debug)]
pub(super) struct Local {
    zone: TimeZone,
    newest_first: bool,
    /// The offset between two changes of the clocks: milliseconds, and the instants a day behind the one and before the
    /// other.
    steady: Option<(i64, i64, i64)>,
    /// The instant of the row before, for each series of the file.
    last: Vec<Option<i64>>,
}

impl Local {
    /// Creates a converter for a time zone.
    pub(super) fn new(zone: TimeZone) -> Self {
        Self { zone, newest_first: false, steady: None, last: vec![None] }
    }

    /// Forgets the rows before, at the beginning of another file.
    pub(super) fn begin(&mut self) {
        (self.newest_first, self.last) = (false, vec![None]);
    }

    /// Finds the order of the rows.
    pub(super) fn order<'w>(&mut self, times: impl Iterator<Item = &'w When>) {
        let (mut up, mut down, mut last) = (0, 0, None::<&When>);
        for time in times {
            match (last, time) {
                (Some(When::Instant(one)), When::Instant(two)) => {
                    (up, down) = (up + usize::from(two > one), down + usize::from(two < one));
                }
                (Some(When::Local(one) | When::Zoned(one, _)), When::Local(two) | When::Zoned(two, _)) => {
                    (up, down) = (up + usize::from(two > one), down + usize::from(two < one));
                }
                _ => {}
            }
            last = Some(time);
        }
        self.newest_first = down > up;
    }

    /// Returns true if the newest row is the first one.
    pub(super) fn is_newest_first(&self) -> bool {
        self.newest_first
    }

    /// Returns the instant of a row, in milliseconds since 1970. `series` numbers the series that the row belongs to:
    /// rows of several series may have one time.
    pub(super) fn instant(&mut self, when: &When, series: usize) -> Result<i64, Reason> {
        if self.last.len() <= series {
            self.last.resize(series + 1, None);
        }
        let last = self.last[series];
        let at = match when {
            When::Instant(at) => *at,
            When::Local(local) => match self.steady(*local) {
                Some(at) => at,
                None => {
                    let at = self.of_zone(*local, &self.zone, last)?;
                    self.find_steady(at, *local);
                    at
                }
            },
            When::Zoned(local, zone) => self.of_zone(*local, zone, last)?,
        };
        self.last[series] = Some(at);
        Ok(at)
    }

    /// Returns the instant of a local time far from changes of the clocks.
    fn steady(&self, local: DateTime) -> Option<i64> {
        let (offset, from, until) = self.steady?;
        let at = since_1970(local) - offset;
        (from..until).contains(&at).then_some(at)
    }

    /// Remembers the offset between the changes of the clocks around an instant.
    fn find_steady(&mut self, at: i64, local: DateTime) {
        // A change at this very instant is the one before it.
        let (Ok(instant), Ok(behind)) =
            (Timestamp::from_millisecond(at), Timestamp::from_millisecond(at + 1))
        else {
            return;
        };
        let change = |transition: Option<jiff::tz::TimeZoneTransition<'_>>, without| {
            transition.map_or(without, |transition| transition.timestamp().as_millisecond())
        };
        let from = change(self.zone.preceding(behind).next(), Timestamp::MIN.as_millisecond() + DAY) + DAY;
        let until = change(self.zone.following(instant).next(), Timestamp::MAX.as_millisecond()) - DAY;
        if from < at && at < until {
            self.steady = Some((since_1970(local) - at, from, until));
        }
    }

    fn of_zone(&self, local: DateTime, zone: &TimeZone, last: Option<i64>) -> Result<i64, Reason> {
        let instant = |offset: Offset| {
            offset.to_timestamp(local).map(Timestamp::as_millisecond).map_err(|_| Reason::NoTime)
        };
        match zone.to_ambiguous_timestamp(local).offset() {
            AmbiguousOffset::Unambiguous { offset } => instant(offset),
            AmbiguousOffset::Gap { .. } => Err(Reason::NoSuchTime),
            AmbiguousOffset::Fold { before, after } => {
                let (first, second) = (instant(before)?, instant(after)?);
                Ok(match (self.newest_first, last) {
                    (false, Some(last)) if first <= last => second,
                    (false, _) => first,
                    (true, Some(last)) if second >= last => first,
                    (true, _) => second,
                })
            }
        }
    }
}

/// Returns milliseconds from 1970 to a local time, as if its clock showed UTC.
fn since_1970(local: DateTime) -> i64 {
    // Days of the Gregorian calendar: years begin in March, and 400 of them have 146,097 days.
    let (month, day) = (i64::from(local.month()), i64::from(local.day()));
    let year = i64::from(local.year()) - i64::from(month <= 2);
    let (era, year) = (year.div_euclid(400), year.rem_euclid(400));
    let of_year = (153 * (month + if month > 2 { -3 } else { 9 }) + 2) / 5 + day - 1;
    let days = era * 146_097 + year * 365 + year / 4 - year / 100 + of_year - 719_468;
    let seconds = i64::from(local.hour()) * 3600 + i64::from(local.minute()) * 60 + i64::from(local.second());
    days * DAY + seconds * 1000 + i64::from(local.millisecond())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fast_way_agrees_with_the_zone() {
        for name in ["Europe/Vienna", "UTC", "Australia/Lord_Howe", "America/Havana", "Africa/Casablanca"] {
            let zone = TimeZone::get(name).unwrap();
            let mut fast = Local::new(zone.clone());
            let mut local: DateTime = "1999-12-31T00:00:09.5".parse().unwrap();
            for step in 0..40_000_i64 {
                // Half hours, which meet every change of the clocks, then longer steps.
                let minutes = if step < 36_000 { 30 } else { 331 + step % 7 };
                local =
                    local.with().millisecond(if step % 3 == 0 { 0 } else { 500 }).second(0).build().unwrap();
                local = local.checked_add(jiff::Span::new().minutes(minutes)).unwrap();
                let mut slow = Local::new(zone.clone());
                slow.last = fast.last.clone();
                assert_eq!(
                    fast.instant(&When::Local(local), 0),
                    slow.instant(&When::Local(local), 0),
                    "{local} in {name}"
                );
            }
        }
    }
}
