//! Explaining a question: the list of windows is fetched, and nothing else.

use std::collections::BTreeMap;
use std::sync::Arc;

use sotto_pack::Clock;

use super::earlier;
use super::explain_earlier::listed_earlier;
use super::explanation::{ExplainedResult, ExplainedStream, ExplainedValues, Explanation};
use super::learned::learned;
use super::listed::{Listed, listed};
use super::takes::taken;
use crate::declared::Plant;
use crate::declared::settings::Settings;
use crate::error::OwnerError;
use crate::gathered::{Need, WindowQuantity};
use crate::language::Period;
use crate::orders::Orders;
use crate::question::{Asked, Earlier, OfGroups, Question};
use crate::runs;
use crate::windows::DeviceWindows;
use crate::work::{DeviceWork, OutlinedBatch, OutlinedValues};

/// Explains how a question would be answered from the windows stored in the cloud.
pub(crate) fn explain(plant: &Plant, question: &Question) -> Result<Explanation, OwnerError> {
    let (cloud, clock) = (plant.cloud()?, plant.settings().clock()?);
    if let Period::During(during) = &question.period {
        let now = jiff::Timestamp::now().as_millisecond();
        let beyond = || OwnerError::Question(format!("{during} is beyond the calendar"));
        return explain(plant, &question.clone().back_from(now, &clock).ok_or_else(beyond)?);
    }
    let (asked, orders) = (Asked::new(question), Orders::new(plant, &cloud));
    let listed = listed(&orders, &asked, (None, false), &clock)?;
    let mut explained = Explanation::new(question.to_string(), clock.name());
    // The groups before the first row only count in it.
    explained.groups = listed.segments.rows.len().saturating_sub(listed.before) as u64;
    explained.streams = streams(plant.settings(), &asked, &listed, &clock)?;
    if let Some(stream) = explained.streams.first()
        && explained.streams.iter().all(|stream| stream.left_out)
    {
        return Err(OwnerError::CannotCarry { device: stream.device.clone() });
    }
    let mut all = vec![listed];
    for (offset, question) in earlier::questions(question) {
        let asked = Asked::new(&question);
        let Some(then) = listed_earlier(&orders, (offset, &asked), &all[0], &clock)? else { continue };
        let streams = streams(plant.settings(), &asked, &then, &clock)?;
        explained.streams.extend(streams.into_iter().map(|stream| stream.offset_by(offset)));
        all.push(then);
    }
    explained.bytes_up = bytes_up(&explained, all.iter().flat_map(|listed| &listed.devices));
    explained.bytes_down = explained.counted().map(|stream| stream.bytes_down).sum();
    explained.computed = computed(&asked);
    explained.learned = learned(question, &explained);
    Ok(explained)
}

/// Returns the streams of all devices, each once.
fn streams(
    settings: &Settings,
    asked: &Asked<'_>,
    listed: &Listed,
    clock: &Clock,
) -> Result<Vec<ExplainedStream>, OwnerError> {
    let (groups, weighted) = (&listed.segments.times, &listed.segments.weighted);
    let ends = &listed.ends;
    let mut streams = Vec::new();
    for device in &listed.devices {
        let takes = taken(settings, asked, &device.shown);
        let work = DeviceWork { asked, groups, weighted, ends, gap: listed.gap, device, takes: &takes };
        streams.extend(of_device(device, work.outline()?, clock));
    }
    Ok(streams)
}

/// Returns the bytes that devices sent for the windows that count. Those of several offsets count once.
fn bytes_up<'w>(explained: &Explanation, devices: impl Iterator<Item = &'w DeviceWindows>) -> u64 {
    let used = explained.used();
    let mut bytes: BTreeMap<(&str, &str, u64), u64> = BTreeMap::new();
    for device in devices {
        for window in &device.windows {
            let key = (device.shown.as_str(), &*window.stream, window.sequence);
            if used.contains(&key) {
                bytes.insert(key, window.bytes);
            }
        }
    }
    bytes.values().sum()
}

/// Returns the streams of a device, each once.
fn of_device(device: &DeviceWindows, batches: Vec<OutlinedBatch<'_>>, clock: &Clock) -> Vec<ExplainedStream> {
    let mut streams: BTreeMap<(Arc<str>, bool), Vec<OutlinedBatch<'_>>> = BTreeMap::new();
    for batch in batches.into_iter().filter(|batch| !batch.values.is_empty() || batch.is_insufficient) {
        let stream = batch.windows[0].stream.clone();
        streams.entry((stream, batch.is_insufficient)).or_default().push(batch);
    }
    streams.into_values().map(|batches| of_stream(device, &batches, clock)).collect()
}

fn of_stream(device: &DeviceWindows, batches: &[OutlinedBatch<'_>], clock: &Clock) -> ExplainedStream {
    let all = || batches.iter().flat_map(|batch| &batch.windows);
    // A window of which parts are used comes once for each.
    let mut bytes: BTreeMap<u64, u64> = BTreeMap::new();
    for window in all() {
        bytes.insert(window.sequence, window.bytes);
    }
    let outlines = || batches.iter().filter_map(|batch| batch.outline.as_ref());
    let time = |at: Option<i64>| clock.rfc3339(at.unwrap_or_default());
    ExplainedStream {
        offset: None,
        device: device.shown.clone(),
        stream: batches[0].windows[0].stream.to_string(),
        windows: bytes.len() as u64,
        numbers: runs::runs(bytes.keys().copied()),
        from: time(all().map(|window| window.from()).min()),
        to: time(all().map(|window| window.to()).max()),
        period_ms: batches[0].windows[0].description.period,
        bytes_up: bytes.values().sum(),
        scheme: batches.iter().find_map(|batch| batch.scheme.clone()),
        sums: outlines().map(|outline| outline.sums).sum(),
        of_one_window: outlines().map(|outline| outline.single).sum(),
        requests: outlines().map(|outline| outline.requests).sum(),
        bytes_down: outlines().map(|outline| outline.bytes).sum(),
        weighted: outlines().any(|outline| outline.weighted),
        values: values(batches),
        left_out: batches.iter().all(|batch| batch.is_insufficient),
    }
}

/// Returns the values of all batches of a stream, each kind once.
fn values(batches: &[OutlinedBatch<'_>]) -> Vec<ExplainedValues> {
    let mut all: Vec<ExplainedValues> = Vec::new();
    for OutlinedValues { what, channels, fetched, calls } in batches.iter().flat_map(|batch| &batch.values) {
        let known = all.iter_mut().find(|known| known.what == *what && known.channels == *channels);
        match known {
            Some(known) => {
                known.sums += fetched.sums;
                known.of_one_window += fetched.single;
                let new: Vec<&String> = calls.iter().filter(|call| !known.calls.contains(call)).collect();
                known.calls.extend(new.into_iter().cloned());
            }
            None => all.push(ExplainedValues {
                what: (*what).to_owned(),
                channels: channels.clone(),
                sums: fetched.sums,
                of_one_window: fetched.single,
                calls: calls.iter().cloned().collect(),
            }),
        }
    }
    all
}

fn computed(asked: &Asked<'_>) -> Vec<ExplainedResult> {
    let mut results = Vec::with_capacity(asked.results.len());
    for result in &asked.results {
        let calls: Vec<_> = result.calls.iter().collect();
        let mut from: Vec<String> = Vec::new();
        for call in calls {
            let earlier = match call.groups {
                OfGroups::Earlier(Earlier::Previous) => ", of the group before".to_owned(),
                OfGroups::Earlier(offset) => format!(", {offset} earlier"),
                OfGroups::Own | OfGroups::Along(_) | OfGroups::Priced(_) => String::new(),
            };
            for (_, need) in asked.needs_of(&[call]) {
                let words = format!("{}{earlier}", words(need));
                if !from.contains(&words) {
                    from.push(words);
                }
            }
        }
        let is_plain = result.expression.only_call().is_some() && result.unit.is_none();
        let unit = result.unit.map_or_else(String::new, |unit| format!(" in {unit}"));
        let expression = (!is_plain).then(|| format!("{}{unit}", result.expression));
        let expression = expression.filter(|expression| *expression != result.name);
        results.push(ExplainedResult { name: result.name.clone(), from, expression });
    }
    results
}

/// Returns an intermediate result in words.
fn words(need: &Need) -> String {
    match need {
        Need::Moments { channel, squares: false } => format!("number and sum of {channel}"),
        Need::Moments { channel, squares: true } => format!("number, sum and squares of {channel}"),
        Need::Pair(pair) => {
            format!("sums, squares and products of {} and {} at common ticks", pair.first, pair.second)
        }
        Need::Weighted { channel, .. } => format!("sums of {channel} weighted by tick"),
        Need::Distribution { channel, .. } => format!("numbers of readings of {channel} by bin"),
        Need::Windows { channel, quantities } => {
            let mut all: Vec<&str> = Vec::new();
            for words in quantities.iter().map(|quantity| WindowQuantity::words(*quantity)) {
                if !all.contains(&words) {
                    all.push(words);
                }
            }
            format!("{} of {channel} in each window", all.join(", "))
        }
        Need::Readings { channel, device: None, .. } => format!("the readings of {channel}"),
        Need::Readings { channel, device: Some(device), .. } => {
            format!("the readings of {channel} of {device}")
        }
        Need::Reals { reading, .. } => format!("values of {reading}"),
        Need::Decided(condition) => format!("readings for which {condition}"),
    }
}
