//! Windows that are missing between others: their coverage is 0.

use sotto_pack::{Clock, Span};

use super::machine::KEPT;
use super::seen::{Seen, Verdict};
use crate::declared::OnLimit;
use crate::devices::DeviceRecord;
use crate::functions::Call;
use crate::language::limits;
use crate::question::{Along, CallArithmetic, Expression, Offset, Priced};
use crate::windows::{Group, StoredWindow};

/// Missing windows that are looked at in one gap: more change nothing, as no alarm counts more.
const MOST: usize = *limits::ALARM_WINDOWS.end() as usize + KEPT;

/// Returns the missing windows between those of an alarm on coverage, and from the last one to the newest reading of the device in
/// any stream, in order of time. The ends of a stop of the device, which cut a window, are none.
pub(super) fn missing_windows(
    on: &OnLimit,
    record: &DeviceRecord,
    windows: &[&StoredWindow],
    all: &[StoredWindow],
    clock: &Clock,
) -> Vec<Seen> {
    if !on.alarm.is_of_coverage() {
        return Vec::new();
    }
    let mut times: Vec<(Group, Length)> =
        windows.iter().filter_map(|window| Some((window.group(), length_of(record, window)?))).collect();
    times.sort_unstable_by_key(|(group, _)| (group.from, group.to));
    let (mut missing, mut until) = (Vec::new(), None);
    let last = times.last().map(|(_, length)| *length);
    for (group, length) in times {
        let gap = until.map_or(group.from..group.from, |until: i64| until..group.from);
        missing.extend(length.windows_in(clock, gap).map(|time| seen(on, time)));
        until = until.max(Some(group.to));
    }
    // A stream whose channels have no reading sends no window. The device was there if another stream has readings: up to the last
    // of them, not to its window's end, as windows that end together arrive one by one.
    if let (Some(length), Some(until), Some(heard)) = (last, until, newest_reading(all)) {
        missing.extend(length.windows_in(clock, until..heard).map(|time| seen(on, time)));
    }
    missing
}

/// Returns the time of the newest reading of these windows.
fn newest_reading(windows: &[StoredWindow]) -> Option<i64> {
    let of = |window: &StoredWindow| {
        let columns = 0..u16::try_from(window.layout().channels().len()).unwrap_or(u16::MAX);
        let ends = columns.map(|column| match window.description.presence(column) {
            Some(presence) => presence.end(),
            None => window.description.ticks(),
        });
        ends.max().filter(|end| *end > 0).map(|end| window.instant(end - 1))
    };
    windows.iter().filter_map(of).max()
}

/// The length of a stream's windows.
#[derive(Clone, Copy)]
struct Length {
    /// No window crosses its end.
    span: Span,
    /// The most time that a window covers, in milliseconds.
    most: i64,
}

fn length_of(record: &DeviceRecord, window: &StoredWindow) -> Option<Length> {
    let profile = record
        .bundles
        .get(window.bundle)?
        .streams
        .iter()
        .find(|profile| *profile.stream == *window.stream)?;
    let most = profile.period_ms?.after(profile.ticks.into());
    Some(Length { span: profile.span?, most: most.max(1) })
}

impl Length {
    /// Returns the window that begins at `from`: it ends with its span, if that is earlier.
    fn window(self, clock: &Clock, from: i64) -> Group {
        Group { from, to: from.saturating_add(self.most).min(clock.end_of(self.span, from)) }
    }

    /// Returns the whole windows that lie in a gap.
    fn windows_in(self, clock: &Clock, gap: std::ops::Range<i64>) -> impl Iterator<Item = Group> {
        let begins = clock.start_of(self.span, gap.start);
        let before = gap.start.saturating_sub(begins).max(0);
        let at = begins.saturating_add((before + (self.most - before % self.most) % self.most).max(0));
        let first = at.min(clock.end_of(self.span, gap.start));
        let next = move |time: &Group| Some(self.window(clock, time.to));
        let all = std::iter::successors(Some(self.window(clock, first)), next);
        all.take_while(move |time| time.to <= gap.end && time.from < time.to).take(MOST)
    }
}

fn seen(on: &OnLimit, Group { from, to }: Group) -> Seen {
    let value = on.question.select.first().and_then(|selected| value_of_nothing(&selected.expression));
    let verdict = |limit: f64| match value {
        Some(value) => Verdict::of(&on.alarm.probe(limit), value, 0.0),
        None => Verdict::Undecided,
    };
    let (over, near) = (verdict(on.alarm.limit), verdict(on.clear));
    Seen { from, to, readings: 0, over, near, value, bound: value.map(|_| 0.0), partial: false }
}

/// The value of an expression whose calls are all 0; None if it has none.
fn value_of_nothing(expression: &Expression) -> Option<f64> {
    struct Nothing;
    impl CallArithmetic for Nothing {
        type Value = f64;
        type Error = ();
        fn number(&mut self, number: f64) -> Result<f64, ()> {
            Ok(number)
        }
        fn call(&mut self, _: &Call) -> Result<f64, ()> {
            Ok(0.0)
        }
        // No alarm takes these.
        fn along(&mut self, _: &Along) -> Result<f64, ()> {
            Err(())
        }
        fn offset(&mut self, _: &Offset) -> Result<f64, ()> {
            Err(())
        }
        fn priced(&mut self, _: &Priced) -> Result<f64, ()> {
            Err(())
        }
        fn negate(&mut self, of: f64) -> Result<f64, ()> {
            Ok(-of)
        }
        fn add(&mut self, left: f64, right: f64) -> Result<f64, ()> {
            Ok(left + right)
        }
        fn subtract(&mut self, left: f64, right: f64) -> Result<f64, ()> {
            Ok(left - right)
        }
        fn multiply(&mut self, left: f64, right: f64) -> Result<f64, ()> {
            Ok(left * right)
        }
        fn divide(&mut self, left: f64, right: f64) -> Result<f64, ()> {
            if right == 0.0 { Err(()) } else { Ok(left / right) }
        }
    }
    expression.fold(&mut Nothing).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn only_whole_spans_of_a_gap_are_missing() {
        let clock = Clock::new("Europe/Rome").expect("a zone");
        let spans = |span: Span, from: i64, to: i64| -> Vec<(i64, i64)> {
            let all = Length { span, most: 32 * 86_400_000 }.windows_in(&clock, from..to);
            all.map(|time| (time.from / HOUR, time.to / HOUR)).collect()
        };
        assert_eq!(spans(Span::Hour, 0, 2 * HOUR), [(0, 1), (1, 2)]);
        assert_eq!(spans(Span::Hour, 1, 3 * HOUR - 1), [(1, 2)], "both hours at the ends were cut");
        assert_eq!(spans(Span::Hour, HOUR, HOUR), []);
        // Midnight is an hour earlier than in UTC.
        assert_eq!(spans(Span::Day, 0, 72 * HOUR), [(23, 47), (47, 71)]);
        assert_eq!(spans(Span::Hour, 0, i64::MAX / 2).len(), MOST);
    }

    #[test]
    fn windows_shorter_than_their_span_are_missing_one_by_one() {
        let clock = Clock::new("Europe/Rome").expect("a zone");
        let minute = HOUR / 60;
        let windows = |span: Span, minutes: i64, from: i64, to: i64| -> Vec<(i64, i64)> {
            let length = Length { span, most: minutes * minute };
            length
                .windows_in(&clock, from * minute..to * minute)
                .map(|time| (time.from / minute, time.to / minute))
                .collect()
        };
        assert_eq!(windows(Span::Hour, 20, 20, 60), [(20, 40), (40, 60)]);
        assert_eq!(windows(Span::Hour, 20, 21, 65), [(40, 60)], "the first was cut, the last came");
        // 25 minutes do not divide an hour: its last window is shorter.
        assert_eq!(windows(Span::Hour, 25, 25, 85), [(25, 50), (50, 60), (60, 85)]);
        assert_eq!(windows(Span::Hour, 25, 51, 85), [(60, 85)]);
        // Days begin at 23:00 UTC.
        assert_eq!(windows(Span::Day, 480, 23 * 60, 39 * 60), [(23 * 60, 31 * 60), (31 * 60, 39 * 60)]);
        assert_eq!(windows(Span::Hour, 20, 20, 40), [(20, 40)]);
        assert_eq!(windows(Span::Hour, 20, 20, 39), []);
    }

    #[test]
    fn the_value_of_nothing_is_that_of_no_coverage() {
        let value = |text: &str| {
            let alarm = crate::question::Alarm::parse(text).expect("a condition");
            value_of_nothing(&alarm.probe(0.0).expression)
        };
        assert_eq!(value("coverage(x) < 0.5"), Some(0.0));
        assert_eq!(value("1 - coverage(x) > 0.5"), Some(1.0));
        assert_eq!(value("coverage(x) / coverage(y) < 0.5"), None);
    }
}
