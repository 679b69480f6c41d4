//! Local times: which instant a clock on the wall shows.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use sotto_pack::Reason;

/// A parsed time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum When {
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
    /// The instant of the row before, for each series of the file.
    last: Vec<Option<i64>>,
}

impl Local {
    /// Creates a converter for a time zone.
    pub(super) fn new(zone: TimeZone) -> Self {
        Self { zone, newest_first: false, last: vec![None] }
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
            When::Local(local) => self.of_zone(*local, &self.zone, last)?,
            When::Zoned(local, zone) => self.of_zone(*local, zone, last)?,
        };
        self.last[series] = Some(at);
        Ok(at)
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
