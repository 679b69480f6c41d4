//! The values of windows in words.

use super::seen::Seen;
use crate::declared::{Declared, Plant};
use crate::functions::Call;
use crate::gathered::Channels as _;
use crate::language::{Comparison, Measurand};
use crate::question::Measured;

/// Describes the value of a window: `12 of 60 readings > 80 °C`, `mean(boiler) = 81.2 ± 0.05 °C`.
pub(super) fn what(declared: &Declared, plant: &Plant, seen: &Seen, limit: f64) -> String {
    if seen.readings == 0 {
        return "no reading".to_owned();
    }
    let alarm = &declared.alarm;
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
    let unit = if declared.unit.is_empty() { String::new() } else { format!(" {}", declared.unit) };
    match seen.value {
        Some(value) => {
            format!("{} = {}{unit}", alarm.measured, number(value, seen.bound.unwrap_or_default()))
        }
        None => format!("{} has no certain value", alarm.measured),
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
