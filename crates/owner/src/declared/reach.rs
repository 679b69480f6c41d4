//! Alarms that can never be raised, or never be quiet: refused when they are declared.

use std::collections::BTreeMap;

use sotto_pack::Span;

use super::alarm::AlarmSettings;
use super::conditions::{Declared, OnLimit, Watched, parsed, with_alarms};
use super::plant::Plant;
use super::possible;
use super::settings::DeviceSettings;
use crate::amount::Every;
use crate::devices;
use crate::error::OwnerError;
use crate::functions::{Call, Circumstances, InAlarm};
use crate::language::{Clause, Comparison, Name, TextSpans, limits};
use crate::question::{Alarm, Along, CallArithmetic, Expression, Offset, Priced, Probe, Question, Silence};
use crate::streams::{self, Kind, StreamNeeds};

const MINUTE: u64 = 60_000;
const HOUR: u64 = 60 * MINUTE;

/// Reads a condition for this plant: its channels, devices and units are checked. Refuses one that can never hold, or that a
/// device without a fault fulfils. `fresh` is the time between the pieces that devices send.
pub(crate) fn condition(
    plant: &Plant,
    settings: &AlarmSettings,
    fresh: Option<Every>,
) -> Result<Declared, OwnerError> {
    let (declared, places) = parsed(plant, settings)?;
    check(plant, &declared, &places, fresh)?;
    Ok(declared)
}

/// Refuses an alarm that can never be raised, or never be quiet. `fresh` is the time between the pieces that devices send.
fn check(
    plant: &Plant,
    declared: &Declared,
    places: &TextSpans,
    fresh: Option<Every>,
) -> Result<(), OwnerError> {
    match &declared.watched {
        Watched::Limit(of) => {
            possible::check(plant, &of.question, places, true)?;
            let never = never_raised(plant, declared, of)?;
            never.map_or(Ok(()), |reason| {
                Err(OwnerError::Question(places.error_at_selected(0, reason).to_string()))
            })
        }
        Watched::Silence(silence) => {
            let questions = with(plant, declared)?;
            let shortest = shortest(plant, silence, &questions, fresh);
            let long = shortest.filter(|shortest| silence.milliseconds().unsigned_abs() <= shortest.time);
            long.map_or(Ok(()), |shortest| {
                let pieces = Every::from_milliseconds(5 * MINUTE as u32);
                // The least of all devices: another one may be the slowest then.
                let fresh = self::shortest(plant, silence, &questions, Some(pieces));
                let reason = shortest.refuses(plant, silence, fresh.map(|fresh| fresh.time + MINUTE));
                Err(OwnerError::Question(places.error_at_clause(Clause::Period, reason).to_string()))
            })
        }
    }
}

/// Returns the declared alarms that no window can raise, each with the reason: the devices' windows, or the channels, changed after
/// the alarm was declared.
pub(crate) fn never_raised_alarms(plant: &Plant) -> Result<Vec<(String, String)>, OwnerError> {
    let mut never = Vec::new();
    for (name, settings) in &plant.settings().alarms {
        let (declared, places) = parsed(plant, settings)?;
        if !matches!(declared.watched, Watched::Limit(_)) {
            continue;
        }
        match check(plant, &declared, &places, None) {
            Ok(()) => {}
            Err(OwnerError::Question(reason)) => {
                // The text below draws the place in the condition.
                let first = reason.lines().next().unwrap_or_default();
                let words = first.split_once(": ").map_or(first, |(_, words)| words);
                never.push((name.clone(), words.to_owned()));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(never)
}

/// Returns the questions that decide about streams, with that of a new alarm.
fn with(plant: &Plant, declared: &Declared) -> Result<BTreeMap<String, Question>, OwnerError> {
    let mut questions = with_alarms(plant)?;
    questions.extend(declared.streams().map(|question| ("alarm".to_owned(), question)));
    Ok(questions)
}

/// Returns why no value of a window passes the limit of an alarm; None if one may.
fn never_raised(plant: &Plant, declared: &Declared, of: &OnLimit) -> Result<Option<String>, OwnerError> {
    let Probe { expression, comparison, limit } = of.alarm.probe(of.alarm.limit);
    let time = judged_window(plant, declared, of)?;
    let ends_within = |longest: u64| ends(&expression, plant, longest);
    let Some((low, high)) = ends_within(time) else { return Ok(None) };
    if comparison.decides(low, high, limit) != Some(false) {
        return Ok(None);
    }
    let is_below = matches!(comparison, Comparison::Less | Comparison::AtMost);
    let counted = expression.calls().find(|call| matches!(call, Call::Count(_)) && is_below);
    if let Some(name) = counted.and_then(|call| call.channels().first().copied().map(str::to_owned)) {
        let silence = least_silence(plant, &name, of.alarm.only.as_deref(), 3);
        let silence =
            silence.map_or_else(String::new, |(least, _)| format!("{least} for a time without readings, "));
        let name = Name(&name);
        return Ok(Some(format!(
            "a window without readings is not sent, so {expression} is at least {low}, and the condition never holds: write \
             {silence}coverage({name}) < 0.5 for windows with gaps"
        )));
    }
    let range = match (low.is_finite(), high.is_finite()) {
        (true, true) => format!("from {} to {}", short(low), short(high)),
        (true, false) => format!("at least {}", short(low)),
        _ => format!("at most {}", short(high)),
    };
    let unit = if of.unit.is_empty() { String::new() } else { format!(" {}", of.unit) };
    // A value that grows with the window is of the window's length.
    let grows = ends_within(2 * time).is_some_and(|(_, more)| more > high);
    let is_above = matches!(comparison, Comparison::Greater | Comparison::AtLeast);
    if !grows || !is_above {
        return Ok(Some(format!(
            "{expression} is {range}{unit} in every window, so the condition never holds: take another limit, or mend the \
             channel's range"
        )));
    }
    let window = in_words(time);
    let several = several_windows(of, high)
        .map_or_else(String::new, |several| format!(", or one of several windows in a row, as in {several}"));
    Ok(Some(format!(
        "with this alarm a device sends windows of {window}, and {expression} is {range}{unit} in {window}, so the condition never \
         holds: take a limit within that{several}"
    )))
}

/// Returns the smallest and the largest value of an expression in windows of this time, in milliseconds; None if they are not known.
fn ends(expression: &Expression, plant: &Plant, longest: u64) -> Option<(f64, f64)> {
    let circumstances = Circumstances { channels: plant.settings(), is_new: true, longest: Some(longest) };
    let (low, high) = expression.fold(&mut Ends(&circumstances)).ok()?;
    let Expression::Subtract(left, right) = expression else { return Some((low, high)) };
    let (Expression::Call(left), Expression::Call(right)) = (&**left, &**right) else {
        return Some((low, high));
    };
    Some(match (left.of().in_alarm(), right.of().in_alarm()) {
        (InAlarm::Largest(x), InAlarm::Smallest(y)) if x == y => (low.max(0.0), high),
        (InAlarm::Smallest(x), InAlarm::Largest(y)) if x == y => (low, high.min(0.0)),
        _ => (low, high),
    })
}

/// Returns the condition on several windows whose values together pass the limit; None if there is none. `most` is the largest
/// value of one window.
fn several_windows(of: &OnLimit, most: f64) -> Option<Alarm> {
    let alarm = &of.alarm;
    let windows = (alarm.limit / most).floor() + 1.0;
    if !(most > 0.0 && windows <= f64::from(*limits::ALARM_WINDOWS.end()))
        || alarm.windows > 1
        || alarm.time.is_some()
    {
        return None;
    }
    // Three digits.
    let each = alarm.limit / windows;
    let places = 10_f64.powi(2 - each.log10().floor() as i32);
    let limit = (each * places).floor() / places;
    Some(Alarm { limit, windows: windows as u32, ..alarm.clone() })
}

/// Writes a number without the traces of its computation.
fn short(number: f64) -> f64 {
    format!("{number:.9e}").parse().unwrap_or(number)
}

/// Returns the longest time of a window that the alarm judges, in milliseconds: of the devices that it is about, the streams
/// chosen with the alarm declared.
fn judged_window(plant: &Plant, declared: &Declared, of: &OnLimit) -> Result<u64, OwnerError> {
    let questions = with(plant, declared)?;
    let (channels, kind) =
        (of.question.channels(), of.question.calls().next().map(|call| Kind::of(&call.needs())));
    let judged = |(device, settings): (String, DeviceSettings)| {
        let streams = streams::of_device(plant.settings(), &questions, &device, &settings);
        let has_all = |stream: &&StreamNeeds| {
            Some(stream.kind) == kind && channels.iter().all(|name| stream.channels.contains(name))
        };
        // Of several streams an alarm judges the one of the shortest windows.
        let times = streams.iter().filter(has_all);
        times.map(|stream| longest(stream.span).max(stream.period.ceil().into())).min()
    };
    let longest_of_all = devices_of(plant, of.alarm.only.as_deref()).into_iter().filter_map(judged).max();
    Ok(longest_of_all.unwrap_or(25 * HOUR))
}

/// Returns the devices of an alarm, or one with all channels if none is declared.
fn devices_of(plant: &Plant, only: Option<&[String]>) -> Vec<(String, DeviceSettings)> {
    let mut devices: Vec<(String, DeviceSettings)> = plant.settings().devices.clone().into_iter().collect();
    devices.retain(|(name, _)| only.is_none_or(|only| only.contains(name)));
    if plant.settings().devices.is_empty() {
        let channels = plant.settings().channels.keys().cloned().collect();
        let settings = DeviceSettings { channels, public: false, tags: Vec::new(), wire: None };
        devices.push(("a device with all channels".to_owned(), settings));
    }
    devices
}

/// Arithmetic on the ends of values. An error stands for ends that are not known.
struct Ends<'c>(&'c Circumstances<'c>);

impl CallArithmetic for Ends<'_> {
    type Value = (f64, f64);
    type Error = ();

    fn number(&mut self, number: f64) -> Result<(f64, f64), ()> {
        Ok((number, number))
    }

    fn call(&mut self, call: &Call) -> Result<(f64, f64), ()> {
        call.between(self.0).ok_or(())
    }

    fn along(&mut self, _: &Along) -> Result<(f64, f64), ()> {
        Err(())
    }

    fn offset(&mut self, _: &Offset) -> Result<(f64, f64), ()> {
        Err(())
    }

    fn priced(&mut self, _: &Priced) -> Result<(f64, f64), ()> {
        Err(())
    }

    fn negate(&mut self, (low, high): (f64, f64)) -> Result<(f64, f64), ()> {
        Ok((-high, -low))
    }

    fn add(&mut self, left: (f64, f64), right: (f64, f64)) -> Result<(f64, f64), ()> {
        Ok((left.0 + right.0, left.1 + right.1))
    }

    fn subtract(&mut self, left: (f64, f64), right: (f64, f64)) -> Result<(f64, f64), ()> {
        Ok((left.0 - right.1, left.1 - right.0))
    }

    fn multiply(&mut self, left: (f64, f64), right: (f64, f64)) -> Result<(f64, f64), ()> {
        let ends = [left.0 * right.0, left.0 * right.1, left.1 * right.0, left.1 * right.1];
        // Zero times infinity.
        if ends.iter().any(|end| end.is_nan()) {
            return Err(());
        }
        let (low, high) = (f64::INFINITY, f64::NEG_INFINITY);
        Ok((ends.iter().copied().fold(low, f64::min), ends.iter().copied().fold(high, f64::max)))
    }

    fn divide(&mut self, left: (f64, f64), right: (f64, f64)) -> Result<(f64, f64), ()> {
        // A divisor on both sides of zero has no ends.
        if right.0 <= 0.0 && right.1 >= 0.0 {
            return Err(());
        }
        self.multiply(left, (1.0 / right.1, 1.0 / right.0))
    }
}

/// The longest time between readings as they arrive, of a device whose sensor never stops.
struct Shortest {
    device: String,
    /// Milliseconds.
    time: u64,
    /// Time of its windows, or of its pieces.
    window: u64,
    /// Time between its pieces, if that is shorter than between two readings.
    piece: Option<u64>,
    is_fresh: bool,
}

impl Shortest {
    /// Describes why a silence is too short, with the least one. `fresh` is the least with pieces every five minutes.
    fn refuses(&self, plant: &Plant, silence: &Silence, fresh: Option<u64>) -> String {
        let Self { device, time, window, piece, is_fresh } = self;
        let what = if *is_fresh { "a piece" } else { "a window" };
        let on_channel = || {
            let channels: Vec<&String> = match plant.settings().devices.get(device) {
                Some(settings) => settings.channels.iter().collect(),
                None => plant.settings().channels.keys().collect(),
            };
            // Windows of a channel with few readings are those of a day in any case.
            let least = |name: &String| least_silence(plant, name, silence.only.as_deref(), 0);
            channels.into_iter().filter_map(least).find(|(_, least)| least < time)
        };
        let way = match &silence.channel {
            None if !is_fresh && *window > HOUR => on_channel().map_or_else(String::new, |(least, _)| {
                format!("; an alarm on a channel, such as {least}, makes its windows those of an hour")
            }),
            _ => String::new(),
        };
        let enough = in_words(*time + MINUTE);
        let fresher = fresh.map(in_words).filter(|fresh| !is_fresh && *fresh != enough);
        let fresher = fresher.map_or_else(String::new, |fresh| {
            format!(
                "; of devices that run `sotto-agent run --fresh 5m`, {fresh} is enough with --fresh 5m here"
            )
        });
        let readings =
            piece.map_or_else(String::new, |_| format!(" and has a reading every {}", in_words(*window)));
        format!(
            "{device} sends {what} every {}{readings}, and it arrives some time later, so that a sensor which never stops is silent for up to {}: \
             write for {enough} or more{way}{fresher}",
            piece.map_or_else(|| in_words(*window), seconds),
            in_words(*time),
        )
    }
}

/// Returns the silence of a channel with the least time that this plant takes, at least `hours`, and that time in milliseconds;
/// None if it takes none.
fn least_silence(plant: &Plant, name: &str, only: Option<&[String]>, hours: u64) -> Option<(String, u64)> {
    let only = only.map_or_else(String::new, |devices| {
        let devices: Vec<String> = devices.iter().map(|name| Name(name).to_string()).collect();
        format!(" where device in ({})", devices.join(", "))
    });
    let name = Name(name);
    let of = |time: u64| {
        let settings = AlarmSettings::new(format!("{name} silent for {}{only}", in_words(time)));
        parsed(plant, &settings).ok().map(|(declared, _)| declared)
    };
    let declared = of(HOUR)?;
    let Watched::Silence(silence) = &declared.watched else { return None };
    let least = shortest(plant, silence, &with(plant, &declared).ok()?, None);
    let least = least.map_or(MINUTE, |shortest| shortest.time + MINUTE).max(hours * HOUR);
    Some((of(least)?.to_string(), least))
}

/// Returns the time after which a sensor that never stops looks silent, of the device of which it is longest; None if no device
/// sends the channel.
fn shortest(
    plant: &Plant,
    silence: &Silence,
    questions: &BTreeMap<String, Question>,
    fresh: Option<Every>,
) -> Option<Shortest> {
    let of_device = |(device, settings): (String, DeviceSettings)| {
        let streams = streams::of_device(plant.settings(), questions, &device, &settings);
        let sends = |channels: &[String]| silence.channel.as_ref().is_none_or(|name| channels.contains(name));
        let sent = streams.iter().filter(|stream| sends(&stream.channels));
        let fresh = fresh.map(|fresh| u64::from(fresh.milliseconds()));
        let times = sent.map(|stream| {
            let (period, span) = (u64::from(stream.period.ceil()), longest(stream.span));
            let window = window(span, period, fresh);
            (heard_after(window, period), window, period)
        });
        let (time, window, period) = times.min()?;
        let piece = fresh.filter(|fresh| *fresh < period);
        Some(Shortest { device, time, window, piece, is_fresh: fresh.is_some() })
    };
    devices_of(plant, silence.only.as_deref()).into_iter().filter_map(of_device).max_by_key(|of| of.time)
}

/// Returns the longest time of a window.
fn longest(span: Span) -> u64 {
    match span {
        Span::Hour => HOUR,
        // Clocks go back once a year.
        Span::Day | Span::Week | Span::Month => 25 * HOUR,
    }
}

/// Returns the time of the messages of a stream: that of its windows, a period at least, or of pieces every `fresh`
/// milliseconds.
fn window(span: u64, period: u64, fresh: Option<u64>) -> u64 {
    fresh.map_or(span, |fresh| fresh.min(span)).max(period)
}

/// Returns the time from the last reading of a window until the next window arrives. The last reading is a period before the
/// window's end; the next window closes a period after its own, once nothing came for a while: late rows delay it by a period,
/// of which a minute counts at least and an hour at most.
fn heard_after(window: u64, period: u64) -> u64 {
    window + 2 * period + period.clamp(MINUTE, HOUR)
}

/// Returns the enrolled devices whose present bundles have windows that are too long for a silence, each with the time until the
/// next one arrives.
pub(crate) fn too_slow(
    plant: &Plant,
    silence: &Silence,
    fresh: Option<Every>,
) -> Result<Vec<(String, String)>, OwnerError> {
    let mut slow = Vec::new();
    for (name, record) in devices::enrolled(plant)? {
        if silence.only.as_ref().is_some_and(|only| !only.contains(&name)) {
            continue;
        }
        let profiles = record.bundles.last().into_iter().flat_map(|bundle| &bundle.streams);
        let sends = |wire: &str| {
            silence.channel.as_ref().is_none_or(|name| plant.settings().shown_channel(wire) == name.as_str())
        };
        let sent = profiles.filter(|profile| profile.channels.iter().any(|channel| sends(&channel.name)));
        let times = sent.filter_map(|profile| {
            let (span, period) = (longest(profile.span?), u64::from(profile.period_ms?.ceil()));
            Some(heard_after(
                window(span, period, fresh.map(|fresh| u64::from(fresh.milliseconds()))),
                period,
            ))
        });
        let time = times.min().filter(|time| silence.milliseconds().unsigned_abs() <= *time);
        slow.extend(time.map(|time| (name, in_words(time))));
    }
    Ok(slow)
}

/// Formats a time shorter than a period: `10s`, `5m`.
fn seconds(milliseconds: u64) -> String {
    match milliseconds {
        whole if whole.is_multiple_of(MINUTE) => in_words(whole),
        whole if whole.is_multiple_of(1000) => format!("{}s", whole / 1000),
        other => format!("{other}ms"),
    }
}

/// Formats a time to the minute, upwards: `76m`, `28h`.
fn in_words(milliseconds: u64) -> String {
    let minutes = milliseconds.div_ceil(MINUTE);
    if minutes.is_multiple_of(24 * 60) && minutes > 48 * 60 {
        format!("{}d", minutes / (24 * 60))
    } else if minutes.is_multiple_of(60) || minutes > 10 * 60 {
        format!("{}h", minutes.div_ceil(60))
    } else {
        format!("{minutes}m")
    }
}
