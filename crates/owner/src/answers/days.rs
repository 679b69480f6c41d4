//! Daily means of the rows of an answer, for degree days.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::{Clock, Span};

use super::column::{Column, Of};
use crate::gathered::{Channels, DayMean, Tally};
use crate::question::{Asked, Question};
use crate::value::Value;
use crate::windows::{Segments, ticks_between};

/// Most days that a note names.
const MOST_NAMED: usize = 8;

/// Returns the channels of which a question needs daily means.
pub(super) fn channels(question: &Question) -> BTreeSet<&str> {
    let calls = question.calls().filter(|call| call.of().needs_days());
    calls.flat_map(|call| call.channels()).collect()
}

/// Returns the daily means of each row, by channel. `tallies` are those of the times, each within one day, of which the time of
/// the question may be a part.
pub(super) fn by_row(
    clock: &Clock,
    segments: &Segments,
    tallies: &[Tally],
    of: &BTreeSet<&str>,
    channels: &dyn Channels,
) -> Vec<BTreeMap<String, Vec<DayMean>>> {
    let mut rows: Vec<BTreeMap<String, Vec<DayMean>>> = vec![BTreeMap::new(); segments.rows.len()];
    for ((time, row), tally) in segments.times.iter().zip(&segments.row_of).zip(tallies) {
        let Some(row) = row else { continue };
        let day = (clock.start_of(Span::Day, time.from), clock.end_of(Span::Day, time.from));
        for name in of {
            let moments = tally.channels.get(*name).map(|tally| tally.moments).unwrap_or_default();
            let (covered, period) = (tally.expected.get(*name), channels.period(name));
            let covered = covered.copied().unwrap_or_default();
            // A day before the first window or after the last one.
            if covered == 0 && moments.count == 0 {
                continue;
            }
            let all = period.map_or(0, |period| ticks_between(day.0, day.1, period));
            let mean = moments.mean("").unwrap_or(Value::exact(0.0));
            let day = DayMean { from: time.from, mean, present: moments.count, expected: covered.max(all) };
            rows[*row].entry((*name).to_owned()).or_default().push(day);
        }
    }
    rows
}

/// Returns a note for each channel and devices with days that are left out. The rows begin after `hidden` others.
pub(super) fn notes(asked: &Asked<'_>, columns: &[Column], hidden: usize, clock: &Clock) -> Vec<String> {
    let mut notes = Vec::new();
    for column in columns {
        for call in asked.calls().filter(|call| call.is_of_rows() && call.call.of().needs_days()) {
            let tallies = &column.of_call[call.number].tallies;
            for name in call.call.channels() {
                let days = tallies.iter().skip(hidden).filter_map(|tally| tally.days.get(name)).flatten();
                let mut days: Vec<i64> = days.filter(|day| !day.is_covered()).map(|day| day.from).collect();
                if days.is_empty() {
                    continue;
                }
                days.sort_unstable();
                let of = match (call.of, &column.of) {
                    (Some(scope), _) => format!(" {scope}"),
                    (None, Of::All) => String::new(),
                    (None, Of::Device(name)) => format!(" of {name}"),
                    (None, Of::Tag(tag)) => format!(" of tag {tag}"),
                };
                let note = left_out(name, &of, &days, clock);
                if !notes.contains(&note) {
                    notes.push(note);
                }
            }
        }
    }
    notes
}

fn left_out(channel: &str, of: &str, days: &[i64], clock: &Clock) -> String {
    let date = |day: &i64| clock.rfc3339(*day)[..10].to_owned();
    let named: Vec<String> = days.iter().take(MOST_NAMED).map(date).collect();
    let more = match days.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let (day, has, is) = if days.len() == 1 { ("day", "has", "is") } else { ("days", "have", "are") };
    format!(
        "degree_days: {} {day} of {channel}{of} {has} less than three quarters of the readings, and {is} left out: {}{more}",
        days.len(),
        named.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gathered::ChannelTally;
    use crate::gathered::moments::Moments;
    use crate::windows::Group;

    #[test]
    fn days_that_are_left_out_are_named() {
        let clock = Clock::utc();
        let days: Vec<i64> = (0..11).map(|day| day * 86_400_000).collect();
        let note = left_out("outside", " of roof", &days[..1], &clock);
        assert!(note.ends_with("1 day of outside of roof has less than three quarters of the readings, and is left out: 1970-01-01"), "{note}");
        let note = left_out("outside", "", &days, &clock);
        assert!(
            note.contains("11 days of outside have") && note.ends_with("1970-01-08 and 3 more"),
            "{note}"
        );
    }

    #[test]
    fn a_day_that_the_question_cuts_is_not_whole() {
        let covered = |hours: i64| {
            let question = Question::parse("degree_days(x, below 18)").expect("a question");
            let time = Group { from: 0, to: hours * 3_600_000 };
            let segments = Segments::new(&Clock::utc(), &question, vec![time], false).expect("few");
            let mut tally = Tally::default();
            let moments = Moments { count: hours.unsigned_abs(), ..Moments::default() };
            tally.add_channel("x", &ChannelTally::new(moments, 1.0));
            tally.expected.insert("x".to_owned(), hours.unsigned_abs());
            let rows = by_row(&Clock::utc(), &segments, &[tally], &BTreeSet::from(["x"]), &Hourly);
            rows[0]["x"][0].is_covered()
        };
        assert!(covered(18) && !covered(17), "three quarters of 24 hours are 18");
    }

    struct Hourly;

    impl Channels for Hourly {
        fn unit(&self, _: &str) -> String {
            "°C".to_owned()
        }

        fn period(&self, _: &str) -> Option<sotto_pack::Period> {
            Some(sotto_pack::Period::from_milliseconds(3_600_000))
        }
    }
}
