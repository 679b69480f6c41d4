//! One alarm about one device: its new windows, and their verdicts.

use std::collections::BTreeSet;

use super::files::DeviceState;
use super::machine::{Seen, Verdict};
use crate::answers::{Row, by_window};
use crate::declared::{Declared, Plant};
use crate::devices;
use crate::error::OwnerError;
use crate::functions::Call;
use crate::gathered::Channels as _;
use crate::language::{Comparison, QuestionError, Reading};
use crate::question::Measured;
use crate::streams::Kind;
use crate::windows::{DeviceWindows, Window, moment};
use crate::work::Computer;

/// Returns the enrolled devices that an alarm is about: those that measure all its channels.
pub(crate) fn alarm_devices(plant: &Plant, declared: &Declared) -> Result<Vec<String>, OwnerError> {
    let mut devices = devices::enrolled(plant)?;
    let channels = declared.question.channels();
    devices.retain(|name, _| {
        let named = declared.alarm.only.as_ref().is_none_or(|only| only.contains(name));
        let measured = plant.settings().devices.get(name);
        named && measured.is_some_and(|device| channels.iter().all(|name| device.channels.contains(name)))
    });
    Ok(devices.into_keys().collect())
}

/// Returns the start of the first window that an alarm looks at.
pub(crate) fn alarm_since(plant: &Plant, declared: &Declared) -> Result<i64, OwnerError> {
    let Some(since) = &declared.settings.since else { return Ok(i64::MIN) };
    let clock = plant.settings().clock()?;
    let when = since.parse().map_err(|error: QuestionError| OwnerError::Question(error.to_string()))?;
    moment(&when, &clock)
}

/// Largest number of windows of a device that a round takes for an alarm; the others follow in the next rounds.
const MOST: usize = 20_000;

/// Returns the windows that an alarm has not asked for yet. Depends on which windows arrived, never on an answer.
pub(super) fn new_windows(
    declared: &Declared,
    since: i64,
    listed: &DeviceWindows,
    state: &mut DeviceState,
) -> DeviceWindows {
    let channels = declared.question.channels();
    let kind = declared.question.calls().next().map(|call| Kind::of(&call.needs()));
    let from = state.machine.looks_from().unwrap_or(i64::MIN).max(since);
    let of_alarm = |window: &&Window| {
        let has_all = channels.iter().all(|name| window.channel(name).is_some());
        window.start() >= from && window.kind() == kind && has_all
    };
    let wanted: Vec<&Window> = listed.windows.iter().filter(of_alarm).collect();
    let there: BTreeSet<&str> = wanted.iter().map(|window| window.id.as_str()).collect();
    state.asked.retain(|id| there.contains(id.as_str()));
    let new = wanted.into_iter().filter(|window| !state.asked.contains(&window.id));
    DeviceWindows {
        device: listed.device.clone(),
        windows: new.take(MOST).cloned().collect(),
        specs: listed.specs.clone(),
        aside: listed.aside,
    }
}

/// The verdicts on new windows.
pub(super) struct Judged {
    pub(super) seen: Vec<Seen>,
    /// Number of windows that were encrypted for other questions and cannot be evaluated.
    pub(super) not_carried: usize,
    /// Number of windows whose readings were fetched, as they carry no suitable counts.
    pub(super) fetched: u64,
}

/// Evaluates an alarm on windows of one device.
pub(super) fn judge(
    plant: &Plant,
    declared: &Declared,
    device: &DeviceWindows,
    computer: &mut Computer<'_>,
) -> Result<Judged, OwnerError> {
    let found = by_window(plant, &declared.question, device, computer)?;
    let mut judged = Judged { seen: Vec::new(), not_carried: found.not_carried, fetched: found.fetched };
    for (window, rows) in &found.windows {
        judged.seen.push(match rows {
            Some(rows) => seen(declared, window, rows),
            None => undecided(window),
        });
    }
    Ok(judged)
}

fn seen(declared: &Declared, window: &Window, rows: &[Row]) -> Seen {
    let (first, second) = (rows.first(), rows.get(1).or(rows.first()));
    let verdict = |row: Option<&Row>, limit: f64| {
        let value = row.and_then(|row| Some((row.value?, row.bound?)));
        let of = |(value, bound)| Verdict::of(&declared.alarm.probe(limit), value, bound);
        value.map_or(Verdict::Undecided, of)
    };
    Seen {
        from: window.start(),
        to: window.end(),
        readings: rows.iter().map(|row| row.count).max().unwrap_or_default(),
        over: verdict(first, declared.alarm.limit),
        near: verdict(second, declared.clear()),
        value: first.and_then(|row| row.value),
        bound: first.and_then(|row| row.bound),
    }
}

/// Returns a window that was asked for and has no value.
pub(super) fn undecided(window: &Window) -> Seen {
    Seen {
        from: window.start(),
        to: window.end(),
        readings: window.description.readings(),
        over: Verdict::Undecided,
        near: Verdict::Undecided,
        value: None,
        bound: None,
    }
}

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
            Reading::Channel(channel) => (plant.settings().unit(channel), "reading"),
            // A polynomial or a model may have any unit.
            Reading::Polynomial { .. } | Reading::Linear { .. } => (String::new(), "value"),
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
