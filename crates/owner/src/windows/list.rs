//! The stored windows that a question uses.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::{Channel, StreamProfile};

use super::known::{Known, Read, read, span_of};
use super::leaves::Leaves;
use super::mirror::{NEW_COUNT, StreamLog};
use super::needed::Needed;
use super::replaced::replaced;
use super::rolled::RollUps;
use super::row_time::Group;
use super::stream_name::StreamName;
use super::time::Between;
use super::window::{Aside, DeviceWindows, StoredWindow, number};
use super::{finest, log, overlaps};
use crate::declared::Plant;
use crate::devices;
use crate::devices::{DeviceRecord, spec_of};
use crate::error::OwnerError;
use crate::orders::Orders;

/// Largest number of entries in the list of a device: they take some 6 GiB of memory.
const MOST_WINDOWS: usize = 1 << 24;

/// Largest number of windows that one entry of a list stands for.
const MOST_IN_ONE: u64 = 1 << 20;

/// Lists a device's windows with ticks between two times that hold a needed channel.
///
/// # Errors
/// [`OwnerError`] if the cloud is unreachable, or its answer is invalid.
pub(crate) fn list(
    orders: &Orders<'_>,
    record: &DeviceRecord,
    between: Between,
    needed: &Needed,
) -> Result<DeviceWindows, OwnerError> {
    let plant = orders.plant;
    let clock = plant.settings().clock()?;
    let (mut specs, mut known) = (BTreeMap::new(), Vec::new());
    let names = devices::key_names(plant, record)?;
    for (number, bundle) in record.bundles.iter().enumerate() {
        for profile in &bundle.streams {
            known.extend(Known::new(plant, record, &names, number, profile)?);
            specs.extend(spec_of(profile)?.map(|spec| (spec.id().to_string(), spec)));
        }
    }
    let has_secret = !names.is_empty();
    let (mut windows, mut aside, mut logs) = (Vec::new(), Aside::default(), BTreeMap::new());
    let (mut complete, mut any, mut roots) = (BTreeMap::new(), Any::default(), BTreeMap::new());
    let (mut unordered, mut received) = (BTreeMap::<String, Vec<u64>>::new(), 0);
    let streams = streams_with(plant, record, needed);
    for stream in record.streams() {
        let mut log = log::sync_log(orders, record, stream)?;
        let leaves = Leaves { cloud: orders.cloud, name: StreamName { device: &record.device, stream } };
        roots.insert(stream.to_owned(), needed.cut(plant.shown_device(&record.device), leaves, &mut log)?);
        logs.insert(stream.to_owned(), log.len());
        if streams.contains(stream) {
            any.add(&log);
        }
        let gone = missing(&log, between);
        (aside.missing, aside.jumps) = (aside.missing + gone.windows, aside.jumps + gone.jumps);
        complete.extend(newest(&log).map(|newest| (stream.to_owned(), newest)));
        let replaced = replaced(&log);
        let spans = log.pieces().filter(|(first, _)| first.is_provisional());
        let in_pieces: BTreeSet<Group> =
            spans.filter_map(|(first, _)| span_of(&first, &known, &clock)).collect();
        let rolled = RollUps::of(&orders.roll_ups(&record.device, stream)?);
        let (mut form, mut shape) = (None, None);
        for (first, count) in log.pieces() {
            if !first.is_signed() {
                aside.lost += usize::from(first.is_lost());
                if first.is_taken() {
                    aside.deleted += usize::try_from(count).unwrap_or(usize::MAX);
                    unordered
                        .entry(stream.to_owned())
                        .or_default()
                        .extend(first.all(count).map(|gone| gone.sequence()));
                }
                continue;
            }
            received += count;
            let asked = first.between(count, between.since, between.until);
            if asked.is_empty() {
                continue;
            }
            // Most runs have the form of the run before.
            let is_like = form.is_some() && first.shape().is_some() && first.shape() == shape;
            if !is_like {
                (form, shape) = (read(&first, &known), first.shape());
            }
            match &mut form {
                Some(Read::Windows(form)) => {
                    let number = first.nth(asked.start).sequence();
                    let time = first.nth(asked.start).span(asked.end - asked.start);
                    let has_pieces = time.is_none_or(|(from, to)| {
                        let before = in_pieces.range(..=Group { from: to, to: i64::MAX });
                        before.into_iter().any(|span| from < span.to)
                    });
                    let in_runs = needed.runs
                        && !has_pieces
                        && !replaced.has_any(number..number.saturating_add(asked.end - asked.start));
                    let mut at = asked.start;
                    while at < asked.end {
                        if windows.len() == MOST_WINDOWS {
                            return Err(OwnerError::Unanswerable(format!(
                                "{} has more than {MOST_WINDOWS} windows in this time: ask for a shorter time",
                                record.device
                            )));
                        }
                        let entry = first.nth(at);
                        let (sum, end) = rolled.from(entry.position);
                        let count = (asked.end - at).min(end - entry.position).min(MOST_IN_ONE) as u32;
                        let run =
                            if in_runs && count > 1 { form.windows(&entry, count, &clock) } else { None };
                        if let Some(run) = run {
                            windows.push(StoredWindow { rolled: sum, ..run });
                            at += u64::from(count);
                            continue;
                        }
                        at += 1;
                        let Some(mut window) = form.window(&entry, &clock) else {
                            aside.unreadable += 1;
                            continue;
                        };
                        let start = window.start();
                        let span = in_pieces.range(..=Group { from: start, to: i64::MAX }).next_back();
                        window.span = span.filter(|span| start < span.to).copied();
                        window.rolled = sum;
                        let others = replaced.channels(entry.sequence());
                        if !others.is_empty() {
                            window.leave_out_channels(plant, &others);
                        }
                        windows.push(window);
                    }
                }
                Some(Read::Places) => aside.earlier += (asked.end - asked.start) as usize,
                None => aside.unreadable += (asked.end - asked.start) as usize,
            }
        }
    }
    let undeclared = undeclared(plant, &windows, needed);
    windows.retain_mut(|window| needed.channels(window).next().is_some() && between.cut(window));
    let listed = number(&windows);
    let other_unit = windows.iter().find_map(|window| {
        let channel = needed.channels(window).find(|channel| !unit_is(plant, channel))?;
        let now = plant.settings().channels.get(&channel.name)?.unit.clone();
        Some((channel.name.clone(), (channel.unit.clone(), now)))
    });
    windows
        .retain(|window| needed.any_unit || needed.channels(window).all(|channel| unit_is(plant, channel)));
    aside.other_unit = (listed - number(&windows)) as usize;
    let sent = known.iter().filter_map(|known| Some((known.bundle, known.scheme?))).collect();
    aside.other_scheme = needed.take_out_others(&mut windows, &sent);
    let mut windows = overlaps::leave_out(windows, needed, &mut aside);
    if needed.shorter_first {
        finest::take_apart(&mut windows);
    }
    let is_empty = windows.is_empty();
    let (device, shown) = (record.device.clone(), plant.shown_device(&record.device).to_owned());
    Ok(DeviceWindows {
        device,
        shown,
        windows,
        specs,
        has_secret,
        twice: BTreeSet::new(),
        aside,
        received,
        unordered,
        first_reading: any.span.map(|(first, _)| first),
        elsewhere: any.span.filter(|_| is_empty),
        forgotten: any.forgotten,
        other_unit,
        undeclared,
        logs,
        roots,
        complete,
    })
}

/// The windows of some logs at any time.
#[derive(Clone, Copy, Debug, Default)]
struct Any {
    /// The times of their first and their last reading.
    span: Option<(i64, i64)>,
    /// The number of those that were deleted here.
    forgotten: usize,
}

impl Any {
    fn add(&mut self, log: &StreamLog) {
        for (first, count) in log.pieces() {
            if first.is_deleted_here() {
                self.forgotten += usize::try_from(count).unwrap_or(usize::MAX);
            }
            let Some((started, ended)) = first.span(count) else { continue };
            let (from, to) = self.span.unwrap_or((started, ended));
            self.span = Some((from.min(started), to.max(ended)));
        }
    }
}

/// Returns the streams of a device with a needed channel.
fn streams_with<'r>(plant: &Plant, record: &'r DeviceRecord, needed: &Needed) -> BTreeSet<&'r str> {
    let has = |profile: &&StreamProfile| {
        let mut names = profile.channels.iter().map(|channel| plant.settings().shown_channel(&channel.name));
        names.any(|name| needed.channels.as_ref().is_none_or(|needed| needed.contains(name)))
    };
    let profiles = record.bundles.iter().flat_map(|bundle| &bundle.streams);
    profiles.filter(has).map(|profile| profile.stream.as_str()).collect()
}

/// Returns the highest number of a log, and the time of its latest reading in milliseconds since 1970.
fn newest(log: &StreamLog) -> Option<(u64, i64)> {
    let signed = || log.pieces().filter(|(first, _)| first.is_signed());
    let number = signed().map(|(first, count)| first.sequence().saturating_add(count - 1)).max();
    number.zip(signed().filter_map(|(first, count)| Some(first.span(count)?.1)).max())
}

/// Returns true if the time of a window's readings overlaps the requested time.
fn has_readings((started, ended): (i64, i64), Between { since, until }: Between) -> bool {
    since.is_none_or(|since| ended >= since) && until.is_none_or(|until| started < until)
}

/// Sequence numbers without a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Missing {
    /// Their number, without those of jumps.
    windows: u64,
    /// Gaps that are too large to be missing windows alone.
    jumps: u64,
}

/// Returns the missing sequence numbers next to windows of the requested time.
fn missing(log: &StreamLog, between: Between) -> Missing {
    let gaps = log.gaps();
    if gaps.is_empty() {
        return Missing::default();
    }
    // Only the windows beside a gap are looked at.
    let beside: BTreeSet<u64> =
        gaps.iter().flat_map(|(first, last)| [first.checked_sub(1), last.checked_add(1)]).flatten().collect();
    let mut asked = BTreeSet::new();
    for (first, count) in log.pieces().filter(|(first, _)| first.is_signed()) {
        let begin = first.sequence();
        for number in beside.range(begin..=begin.saturating_add(count - 1)) {
            let times = first.nth(number - begin).times();
            if times.is_some_and(|times| has_readings(times, between)) {
                asked.insert(*number);
            }
        }
    }
    let asked = |number: u64| asked.contains(&number);
    let beside =
        gaps.iter().filter(|(first, last)| first.checked_sub(1).is_some_and(&asked) || asked(last + 1));
    let mut missing = Missing::default();
    for (first, last) in beside {
        match last - first + 1 {
            jump if jump >= NEW_COUNT => missing.jumps += 1,
            windows => missing.windows += windows,
        }
    }
    missing
}

/// Returns true if the unit of a channel is unchanged. Readings of different units are never added.
pub(crate) fn unit_is(plant: &Plant, channel: &Channel) -> bool {
    plant.settings().channels.get(&channel.name).is_none_or(|settings| settings.unit == channel.unit)
}

/// Returns the numbers of windows that lack a needed channel and hold one that `sotto.toml` does not declare.
fn undeclared(plant: &Plant, windows: &[StoredWindow], needed: &Needed) -> BTreeMap<String, usize> {
    let mut undeclared = BTreeMap::new();
    let wanted = needed.channels.as_ref().map_or(0, BTreeSet::len);
    for window in windows.iter().filter(|window| needed.channels(window).count() < wanted) {
        let names = window.layout().channels().iter().map(|channel| &channel.name);
        for name in names.filter(|name| !plant.settings().channels.contains_key(*name)) {
            *undeclared.entry(name.clone()).or_default() += window.count as usize;
        }
    }
    undeclared
}
