//! The values of windows in words.

use super::event::minute;
use super::seen::Seen;
use super::told::Change;
use crate::declared::{OnLimit, Plant};
use crate::functions::Call;
use crate::gathered::Channels as _;
use crate::language::{Comparison, Measurand};
use crate::question::{Measured, Silence};
use sotto_pack::Clock;

/// Describes the value of a window: `12 of 60 readings > 80 °C`, `mean(boiler) = 81.2 ± 0.05 °C`.
pub(super) fn what(of: &OnLimit, plant: &Plant, seen: &Seen, limit: f64) -> String {
    let alarm = &of.alarm;
    if seen.readings == 0 && !alarm.is_of_coverage() {
        return "no reading".to_owned();
    }
    let probe = alarm.probe(limit);
    // A count that the condition itself does not compare stands for readings.
    let itself = matches!(&alarm.measured, Measured::Value(measured) if *measured == probe.expression);
    let mut counts = probe.expression.calls().filter(|_| !itself).filter_map(Call::condition);
    if let Some(condition) = counts.next() {
        let (unit, one) = match &condition.reading {
            Measurand::Channel(channel) => (plant.settings().unit(channel), "reading"),
            // A polynomial or a model may have any unit.
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => (String::new(), "value"),
        };
        let space = if unit.is_empty() { "" } else { " " };
        let plural = if seen.readings == 1 { "" } else { "s" };
        let (symbol, limit) = (condition.comparison.symbol(), condition.limit);
        let quiet = alarm.limit.to_bits() != limit.to_bits();
        let count = match seen.value {
            // The value is about the alarm's own limit; a quiet window has no reading beyond the other one.
            _ if quiet && probe.comparison == Comparison::AtLeast => "none".to_owned(),
            Some(value) => number(value, seen.bound.unwrap_or_default()),
            None => "an unknown number".to_owned(),
        };
        return format!("{count} of {} {one}{plural} {symbol} {limit}{space}{unit}", seen.readings);
    }
    let unit = if of.unit.is_empty() { String::new() } else { format!(" {}", of.unit) };
    match seen.value {
        Some(value) => {
            format!("{} = {}{unit}", alarm.measured, number(value, seen.bound.unwrap_or_default()))
        }
        None => format!("{} has no certain value", alarm.measured),
    }
}

/// Describes a silence, or its end. Blames nobody: device, network and cloud look the same from here.
pub(super) fn of_silence(silence: &Silence, seen: &Seen, change: Change, clock: &Clock) -> String {
    let channel = silence.channel.as_ref();
    match (change, seen.value) {
        (Change::Raised, hours) => {
            let nothing =
                channel.map_or_else(|| "nothing heard".to_owned(), |of| format!("no reading of {of}"));
            let length = hours.map_or_else(String::new, |hours| format!(", {}", length(hours)));
            format!("{nothing} since {}{length}", minute(&clock.rfc3339(seen.from)))
        }
        (Change::Cleared, Some(hours)) => match channel {
            None => format!("heard again after {}", length(hours)),
            Some(of) => format!("a reading of {of} again after {}", length(hours)),
        },
        (Change::Cleared, None) => "the readings of this time came late".to_owned(),
    }
}

/// Formats hours: `2.0 min`, `3.2 h`, `14.0 days`.
fn length(hours: f64) -> String {
    match hours {
        ..1.0 => format!("{:.1} min", hours * 60.0),
        1.0..48.0 => format!("{hours:.1} h"),
        _ => format!("{:.1} days", hours / 24.0),
    }
}

/// Formats a value and its bound to two digits of the bound.
fn number(value: f64, bound: f64) -> String {
    if bound <= 1e-9 * value.abs() || !bound.is_finite() {
        let text = format!("{value:.6}");
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    let places = (1.0 - bound.log10().floor()).clamp(0.0, 12.0) as usize;
    let scale = 10f64.powi(places as i32);
    let up = (bound * scale * (1.0 - 1e-9)).ceil() / scale;
    format!("{value:.places$} ± {up:.places$}")
}
