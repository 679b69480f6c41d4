//! A device of the house with a reading every quarter of an hour: the alarm on one of its channels makes the windows of that channel
//! those of an hour, and a result of both by day needs it in windows of a day, too.

use std::fmt::Write as _;

use anyhow::Result;

use super::super::ask::{Cases, Numbers, Site};
use super::year::{BEGIN, HOUR, time};

/// The device's name.
pub(super) const NAME: &str = "meter";
/// Its first and last day, counted from the beginning of the year.
const DAYS: std::ops::Range<i64> = 345..365;
const QUARTER: i64 = HOUR / 4;
const QUESTION: &str = "covariance(c01, c02) by day";

/// Declares the channels and the question of both.
pub(super) fn declare(site: &Site) -> Result<()> {
    for name in ["c01", "c02"] {
        let range = ["--range", "-40..80", "--resolution", "0.1", "--every", "15m"];
        site.sotto(&[&["channel", "add", name, "--unit", "°C"], &range[..]].concat())?;
    }
    site.sotto(&["question", "add", "both", QUESTION]).map(drop)
}

/// Returns the readings of some days as a CSV file; None if there are none.
pub(super) fn readings(from: i64, to: i64) -> Option<String> {
    let days = from.max(DAYS.start)..to.min(DAYS.end);
    if days.is_empty() {
        return None;
    }
    let mut text = "time,c01,c02\n".to_owned();
    for at in (BEGIN + 24 * HOUR * days.start..BEGIN + 24 * HOUR * days.end).step_by(QUARTER as usize) {
        let (first, second) = both(at);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{},{first:.1},{second:.1}", time(at));
    }
    Some(text)
}

/// Returns the readings of a moment, to the resolution. Two hours of some days are hot.
fn both(at: i64) -> (f64, f64) {
    let mut numbers = Numbers((at as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    numbers.next();
    let hour = (at - BEGIN) / HOUR;
    let is_hot = (hour / 24) % 9 == 4 && (13..15).contains(&(hour % 24));
    let first = if is_hot { 45.0 } else { 20.0 } + 4.0 * numbers.next();
    let tenths = |value: f64| (10.0 * value).round() / 10.0;
    (tenths(first), tenths(0.5 * first + 3.0 * numbers.next()))
}

/// Asks for the result of both channels: each day is there, computed from all readings.
pub(super) fn check(cases: &mut Cases, site: &Site) -> Result<()> {
    let begin = |day: i64| time(BEGIN + 24 * HOUR * day);
    let answer = site.ask(QUESTION, &["--since", &begin(DAYS.start), "--until", &begin(DAYS.end)])?;
    let rows = answer["rows"].as_array().cloned().unwrap_or_default();
    let mut faults = Vec::new();
    for day in DAYS {
        let from = BEGIN + 24 * HOUR * day;
        let all: Vec<(f64, f64)> = (from..from + 24 * HOUR).step_by(QUARTER as usize).map(both).collect();
        let count = all.len() as f64;
        let means = all.iter().fold((0.0, 0.0), |sum, of| (sum.0 + of.0 / count, sum.1 + of.1 / count));
        let wanted: f64 = all.iter().map(|of| (of.0 - means.0) * (of.1 - means.1) / count).sum();
        let is_of = |row: &&serde_json::Value| {
            let at = row["from"].as_str().and_then(|text| text.parse::<jiff::Timestamp>().ok());
            at.is_some_and(|at| at.as_millisecond() == from)
        };
        let of_day: Vec<_> = rows.iter().filter(is_of).collect();
        let value = of_day.first().and_then(|row| row["value"].as_f64());
        let bound = of_day.first().and_then(|row| row["bound"].as_f64()).unwrap_or_default();
        if of_day.len() != 1 || value.is_none_or(|value| (value - wanted).abs() > bound + 1e-6) {
            faults.push(format!("day {day}: {of_day:?}, not {wanted}"));
        }
    }
    cases.case("a result of two channels whose windows differ is that of all readings", faults);
    Ok(())
}
