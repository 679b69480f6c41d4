//! The group that an offset leads to, by the plant's calendar.

use jiff::Zoned;
use sotto_pack::Clock;

use super::calendar::Calendar;
use super::row_time::Group;
use crate::language::By;
use crate::question::{Earlier, EarlierUnit, groups_back};

const HOUR: i64 = 3_600_000;

/// An earlier time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EarlierTime {
    pub(crate) time: Group,
    /// True if the month has no day of this number, so that it is the last one.
    pub(crate) clipped: bool,
}

/// A moment that was moved.
struct Moved {
    at: i64,
    clipped: bool,
    /// True if clocks did not show its time on that day.
    skipped: bool,
}

/// Returns the group to which an offset leads. Without `by`, `group` is the time of the question. Returns None if there is no
/// such group: clocks skipped it, or it is beyond the calendar.
pub(crate) fn earlier(clock: &Clock, by: Option<By>, group: Group, offset: Earlier) -> Option<EarlierTime> {
    let Some(calendar) = by.map(|by| Calendar::of(by).ok_or(())).transpose().ok()? else {
        return whole(clock, group, offset);
    };
    let around = |at: i64| Group { from: calendar.start_of(clock, at), to: calendar.end_of(clock, at) };
    let back = |groups: u64| {
        let mut from = group.from;
        for _ in 0..groups {
            from = calendar.start_of(clock, from.checked_sub(1)?);
        }
        Some(EarlierTime { time: around(from), clipped: false })
    };
    let (Earlier::Time { count, unit }, Some(by)) = (offset, by) else { return back(1) };
    // By the parts of a day, which a change of the clock makes longer or shorter.
    if let By::Every(length) = by
        && length.seconds() > 3600
        && let Some(groups) = groups_back(offset, length)
    {
        return back(groups);
    }
    let moved = moved(clock, group.from, count, unit)?;
    let is_short = matches!(by, By::Hour) || matches!(by, By::Every(length) if length.seconds() <= 3600);
    if moved.skipped && is_short {
        return None;
    }
    Some(EarlierTime { time: around(moved.at), clipped: moved.clipped })
}

fn whole(clock: &Clock, Group { from, to }: Group, offset: Earlier) -> Option<EarlierTime> {
    match offset {
        Earlier::Time { count, unit } => {
            let (first, last) = (moved(clock, from, count, unit)?, moved(clock, to, count, unit)?);
            let time = Group { from: first.at, to: last.at };
            (time.from < time.to).then_some(EarlierTime { time, clipped: first.clipped || last.clipped })
        }
        Earlier::Previous => {
            // As many days and hours as clocks show, so that the month before 31 days is one of 31 days.
            let length = clock.local(to).datetime().since(clock.local(from).datetime()).ok()?;
            let before = clock.local(from).datetime().checked_sub(length).ok()?;
            let before = clock.zone().to_zoned(before).ok()?.timestamp().as_millisecond();
            Some(EarlierTime { time: Group { from: before, to: from }, clipped: false })
        }
    }
}

impl EarlierTime {
    /// Cuts the time at the places where the time of an answer, from `since` to `until`, cuts its own group. Returns None if
    /// nothing is left: the group before may be too short.
    pub(crate) fn cut(
        self,
        clock: &Clock,
        offset: Earlier,
        group: Group,
        (since, until): (i64, i64),
    ) -> Option<Self> {
        let Group { from, to } = self.time;
        let is_cut = |at: &i64| group.from < *at && *at < group.to;
        let there = |at: i64| place(clock, at, offset, (group, self.time));
        let since = Some(since).filter(is_cut).and_then(there).unwrap_or(from);
        let until = Some(until).filter(is_cut).and_then(there).unwrap_or(to);
        let time = Group { from: since.max(from), to: until.min(to) };
        (time.from < time.to).then_some(Self { time, ..self })
    }
}

/// Returns the moment of an earlier group that is at the same place as one of a group. Days and longer groups keep the
/// time that clocks show.
fn place(clock: &Clock, at: i64, offset: Earlier, (group, earlier): (Group, Group)) -> Option<i64> {
    match offset {
        Earlier::Time { count, unit } => moved(clock, at, count, unit).map(|moved| moved.at),
        Earlier::Previous if group.to - group.from <= HOUR => Some(earlier.from + (at - group.from)),
        Earlier::Previous => {
            let local = |at: i64| clock.local(at).datetime();
            let there = local(earlier.from).checked_add(local(at).since(local(group.from)).ok()?).ok()?;
            Some(clock.zone().to_zoned(there).ok()?.timestamp().as_millisecond())
        }
    }
}

fn moved(clock: &Clock, at: i64, count: u32, unit: EarlierUnit) -> Option<Moved> {
    let count = i64::from(count);
    let span = jiff::Span::new();
    let span = match unit {
        EarlierUnit::Hour => {
            return Some(Moved { at: at.checked_sub(count * HOUR)?, clipped: false, skipped: false });
        }
        EarlierUnit::Day => span.try_days(count),
        EarlierUnit::Week => span.try_weeks(count),
        EarlierUnit::Month => span.try_months(count),
        EarlierUnit::Year => span.try_years(count),
    };
    let (span, local): (_, Zoned) = (span.ok()?, clock.local(at));
    let earlier = local.datetime().checked_sub(span).ok()?;
    let there = clock.zone().to_zoned(earlier).ok()?;
    let is_month = matches!(unit, EarlierUnit::Month | EarlierUnit::Year);
    Some(Moved {
        at: there.timestamp().as_millisecond(),
        clipped: is_month && earlier.day() != local.day(),
        skipped: there.datetime() != earlier,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(clock: &Clock, text: &str) -> i64 {
        let civil: jiff::civil::DateTime = text.parse().expect("a time");
        clock.zone().to_zoned(civil).expect("a time").timestamp().as_millisecond()
    }

    fn read(text: &str) -> Earlier {
        let question = format!("mean(x) offset {text}").parse::<crate::question::Question>().expect(text);
        question.select[0].expression.offsets().next().expect("an offset").earlier
    }

    /// Returns the earlier group of the one that contains a time, in words, and whether its day was clipped.
    fn found(zone: &str, by: &str, when: &str, offset: &str) -> Option<(String, String, bool)> {
        let clock = Clock::new(zone).expect("a zone");
        let by = format!("mean(x) by {by}").parse::<crate::question::Question>().expect(by).by;
        let calendar = Calendar::of(by.expect("groups")).expect("no window");
        let moment = at(&clock, when);
        let group = Group { from: calendar.start_of(&clock, moment), to: calendar.end_of(&clock, moment) };
        let EarlierTime { time, clipped } = earlier(&clock, by, group, read(offset))?;
        let text = |at: i64| clock.rfc3339(at)[..16].to_owned();
        Some((text(time.from), text(time.to), clipped))
    }

    #[test]
    fn groups_keep_their_place_in_the_calendar() {
        for (by, when, offset, from, to) in [
            ("day", "2014-03-31T12:00", "1w", "2014-03-24T00:00", "2014-03-25T00:00"),
            // 23 hours.
            ("day", "2014-03-31T12:00", "1d", "2014-03-30T00:00", "2014-03-31T00:00"),
            ("day", "2014-03-31T12:00", "1y", "2013-03-31T00:00", "2013-04-01T00:00"),
            ("day", "2014-03-31T12:00", "previous", "2014-03-30T00:00", "2014-03-31T00:00"),
            ("hour", "2014-03-31T00:30", "1d", "2014-03-30T00:00", "2014-03-30T01:00"),
            ("hour", "2014-03-30T04:30", "2h", "2014-03-30T01:00", "2014-03-30T03:00"),
            ("6h", "2014-03-30T13:00", "12h", "2014-03-30T00:00", "2014-03-30T06:00"),
            ("week", "2014-04-02T12:00", "1w", "2014-03-24T00:00", "2014-03-31T00:00"),
            ("month", "2014-03-15T12:00", "1mo", "2014-02-01T00:00", "2014-03-01T00:00"),
            ("month", "2014-03-15T12:00", "1y", "2013-03-01T00:00", "2013-04-01T00:00"),
            ("month from 21", "2014-03-15T12:00", "1mo", "2014-01-21T00:00", "2014-02-21T00:00"),
            ("quarter", "2014-03-15T12:00", "previous", "2013-10-01T00:00", "2014-01-01T00:00"),
            ("year", "2014-03-15T12:00", "12mo", "2013-01-01T00:00", "2014-01-01T00:00"),
        ] {
            let right = Some((from.to_owned(), to.to_owned(), false));
            assert_eq!(found("Europe/Rome", by, when, offset), right, "by {by} at {when} offset {offset}");
        }
    }

    #[test]
    fn the_end_of_a_month_is_clipped() {
        for (when, offset, from, clipped) in [
            ("2014-03-31T12:00", "1mo", "2014-02-28T00:00", true),
            ("2014-03-28T12:00", "1mo", "2014-02-28T00:00", false),
            ("2012-02-29T12:00", "1y", "2011-02-28T00:00", true),
        ] {
            let (found, _, is_clipped) = found("Europe/Rome", "day", when, offset).expect("a group");
            assert_eq!((found.as_str(), is_clipped), (from, clipped), "{when} offset {offset}");
        }
    }

    #[test]
    fn an_hour_that_clocks_skipped_does_not_exist() {
        assert_eq!(found("Europe/Rome", "hour", "2014-03-31T02:30", "1d"), None);
        // Midnight did not exist there, and the day did.
        let day = found("America/Sao_Paulo", "day", "2018-11-11T12:00", "1w").expect("a day");
        assert_eq!(day.0, "2018-11-04T01:00");
    }

    #[test]
    fn the_time_before_is_of_equal_length_by_the_clock() {
        let clock = Clock::new("Europe/Rome").expect("a zone");
        let whole = |from: &str, to: &str, offset: &str| {
            let group = Group { from: at(&clock, from), to: at(&clock, to) };
            let found = earlier(&clock, None, group, read(offset)).expect("a time").time;
            (clock.rfc3339(found.from)[..16].to_owned(), clock.rfc3339(found.to)[..16].to_owned())
        };
        let pair = |from: &str, to: &str| (from.to_owned(), to.to_owned());
        assert_eq!(
            whole("2014-03-29T00:00", "2014-04-05T00:00", "previous"),
            pair("2014-03-22T00:00", "2014-03-29T00:00")
        );
        assert_eq!(
            whole("2014-03-01T00:00", "2014-04-01T00:00", "1mo"),
            pair("2014-02-01T00:00", "2014-03-01T00:00")
        );
        assert_eq!(
            whole("2014-03-31T12:00", "2014-03-31T18:00", "24h"),
            pair("2014-03-30T12:00", "2014-03-30T18:00")
        );
    }

    #[test]
    fn a_cut_is_at_the_same_place_of_the_earlier_group() {
        let clock = Clock::new("Europe/Rome").expect("a zone");
        let cut = |by: &str, offset: &str, (since, until): (&str, &str)| {
            let by = format!("mean(x) by {by}").parse::<crate::question::Question>().expect(by).by;
            let calendar = Calendar::of(by.expect("groups")).expect("no window");
            let (since, until) = (at(&clock, since), at(&clock, until));
            let group = Group { from: calendar.start_of(&clock, since), to: calendar.end_of(&clock, since) };
            let whole = earlier(&clock, by, group, read(offset)).expect("a group");
            let time = whole.cut(&clock, read(offset), group, (since, until))?.time;
            let text = |at: i64| clock.rfc3339(at)[..16].to_owned();
            Some(text(time.from) + " " + &text(time.to))
        };
        let day = ("2014-03-31T00:00", "2014-03-31T12:00");
        for (by, offset, between, right) in [
            ("day", "1mo", day, "2014-02-28T00:00 2014-02-28T12:00"),
            // Clocks were put forward.
            ("day", "previous", day, "2014-03-30T00:00 2014-03-30T12:00"),
            (
                "day",
                "previous",
                ("2014-03-31T06:00", "2014-04-02T00:00"),
                "2014-03-30T06:00 2014-03-31T00:00",
            ),
            (
                "month",
                "previous",
                ("2014-03-01T00:00", "2014-03-15T12:00"),
                "2014-02-01T00:00 2014-02-15T12:00",
            ),
            (
                "month",
                "previous",
                ("2014-03-01T00:00", "2014-03-31T12:00"),
                "2014-02-01T00:00 2014-03-01T00:00",
            ),
            (
                "15m",
                "previous",
                ("2014-03-30T03:00", "2014-03-30T03:05"),
                "2014-03-30T01:45 2014-03-30T01:50",
            ),
            ("day", "1w", ("2014-03-31T00:00", "2014-04-02T00:00"), "2014-03-24T00:00 2014-03-25T00:00"),
        ] {
            assert_eq!(
                cut(by, offset, between).as_deref(),
                Some(right),
                "by {by} {between:?} offset {offset}"
            );
        }
        assert_eq!(cut("month", "previous", ("2014-03-31T00:00", "2014-04-02T00:00")), None);
    }
}
