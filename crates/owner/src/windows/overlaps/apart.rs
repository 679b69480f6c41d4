//! Windows in runs that share their time with no other window of their channels.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::super::needed::Needed;
use super::super::window::StoredWindow;

/// The times of windows of one stream and one bundle.
#[derive(Default)]
struct Times {
    channels: BTreeSet<String>,
    /// The longest period, in milliseconds.
    period: i64,
    all: Vec<Range<i64>>,
}

/// Divides runs: returns the runs of windows that share their time with no other window of one of their channels, and all other
/// windows, each as an entry of its own.
pub(super) fn set_apart(
    windows: Vec<StoredWindow>,
    needed: &Needed,
) -> (Vec<StoredWindow>, Vec<StoredWindow>) {
    if !windows.iter().any(StoredWindow::is_run) {
        return (Vec::new(), windows);
    }
    let mut streams: BTreeMap<(std::sync::Arc<str>, usize), Times> = BTreeMap::new();
    for window in &windows {
        let times = streams.entry((window.stream.clone(), window.bundle)).or_default();
        let new: Vec<_> =
            needed.channels(window).filter(|channel| !times.channels.contains(&channel.name)).collect();
        times.channels.extend(new.into_iter().map(|channel| channel.name.clone()));
        let period = window.description.period;
        times.period = times.period.max(period.ceil().into());
        times.all.push(window.from()..period.at(window.start(), window.ticks.end));
    }
    streams.values_mut().for_each(|times| times.all.sort_unstable_by_key(|time| time.start));
    let met: BTreeMap<_, _> = streams.keys().map(|of| (of.clone(), met(&streams, of))).collect();
    let (mut apart, mut others) = (Vec::new(), Vec::new());
    for window in windows {
        if !window.is_run() {
            others.push(window);
            continue;
        }
        let met = met.get(&(window.stream.clone(), window.bundle)).map_or(&[][..], Vec::as_slice);
        let (runs, alone) = window.outside(met);
        for run in runs {
            if run.is_run() { apart.push(run) } else { others.push(run) }
        }
        others.extend(alone);
    }
    (apart, others)
}

/// Returns the times at which windows of a stream meet others of it, or of another stream with one of its channels.
fn met(
    streams: &BTreeMap<(std::sync::Arc<str>, usize), Times>,
    of: &(std::sync::Arc<str>, usize),
) -> Vec<Range<i64>> {
    let own = &streams[of];
    let mut met = Vec::new();
    let mut ended = i64::MIN;
    for time in &own.all {
        if time.start < ended {
            met.push(time.start..time.end.min(ended));
        }
        ended = ended.max(time.end);
    }
    let others =
        streams.iter().filter(|(other, times)| *other != of && !times.channels.is_disjoint(&own.channels));
    for ((_, bundle), times) in others {
        // A reading of windows of another bundle may have a tick less than a period away.
        let margin = if *bundle == of.1 { 0 } else { own.period.max(times.period) };
        met.extend(united(times.all.iter().map(|time| time.start - margin..time.end + margin)));
    }
    met.sort_unstable_by_key(|time| time.start);
    united(met.into_iter())
}

/// Returns times, in order of their beginnings, without those that overlap or follow each other.
fn united(times: impl Iterator<Item = Range<i64>>) -> Vec<Range<i64>> {
    let mut united: Vec<Range<i64>> = Vec::new();
    for time in times {
        match united.last_mut().filter(|last| time.start <= last.end) {
            Some(last) => last.end = last.end.max(time.end),
            None => united.push(time),
        }
    }
    united
}
