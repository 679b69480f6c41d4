//! Windows that cover the same time: each reading counts once.
//!
//! Windows of bundles for two time zones may have their ticks at different instants of the hour. Then one reading has ticks of
//! two instants, less than a period apart. Readings are taken to be at whole periods since 1970; if they are not, one reading
//! at each end of a window or gap may count twice or not at all, and a note says so.

mod apart;

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use std::sync::Arc;

use sotto_rlwe::SchemeId;
use sotto_wire::StreamId;

use super::needed::{CIPHERTEXT, Needed};
use super::window::{Aside, StoredWindow};
use crate::streams::Kind;

/// Ticks with readings that windows cover, of one kind and channel, by the instant of the first.
type Covered = BTreeMap<i64, Cover>;

/// The readings that a window covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cover {
    /// Just after the instant of the last tick.
    to: i64,
    bundle: usize,
    /// The number of its stream among those of the windows.
    stream: usize,
    /// Milliseconds from a tick to its reading.
    phase: i64,
}

/// Ticks of a window that another window covers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CoveredTicks {
    ticks: Range<u32>,
    /// The number of the other window's stream.
    stream: usize,
    /// True if its ticks are at other instants of the hour.
    is_shifted: bool,
}

/// Leaves out, by channel, readings at ticks at which another window of the same kind has one. Of two windows, the one
/// with more of the needed products counts, then that with more of the needed channels; then that of the later bundle, of the higher rank, of the shorter span, of the
/// lower number, of more readings. Returns them in order of time. A window of which only parts are left comes once for each; one that only
/// has readings at ticks that no other has, as a supplement, stays whole.
pub(super) fn leave_out(windows: Vec<StoredWindow>, needed: &Needed, aside: &mut Aside) -> Vec<StoredWindow> {
    if are_apart(&windows, needed) {
        return windows;
    }
    let (apart, windows) = apart::set_apart(windows, needed);
    let mut kept = leave_out_met(windows, needed, aside);
    kept.extend(apart);
    kept.sort_by(|a, b| (a.from(), &a.stream, a.sequence).cmp(&(b.from(), &b.stream, b.sequence)));
    kept
}

/// Leaves out readings as [`leave_out`] does, of windows each of which is an entry of its own. They come in no order.
fn leave_out_met(mut windows: Vec<StoredWindow>, needed: &Needed, aside: &mut Aside) -> Vec<StoredWindow> {
    let mut ranks: HashMap<StreamId, (usize, u8)> = HashMap::new();
    let mut rank = |window: &StoredWindow| match window.stream_of_sums() {
        Some(stream) => *ranks
            .entry(stream.id())
            .or_insert_with(|| (needed.products(window, Some(stream)), needed.rank(window, stream))),
        None => (needed.products(window, None), CIPHERTEXT),
    };
    windows.sort_by_cached_key(|window| {
        let more = |count: u64| u64::MAX - count;
        let channels = more(needed.channels(window).count() as u64);
        let (products, rank) = rank(window);
        let (bundle, rank) = (more(window.bundle as u64), more(rank.into()));
        // A channel with windows of an hour and of a day has all but results with other channels in those of an hour.
        let length = window.description.period.after(window.layout().ticks().into()).unsigned_abs();
        let preferred = if needed.shorter_first {
            [0, bundle, length, channels, rank]
        } else {
            [more(products as u64), channels, bundle, rank, length]
        };
        let readings = Reverse(window.description.readings());
        (preferred, window.sequence, readings, window.start(), window.stream.clone())
    });
    let mut streams: HashMap<Arc<str>, usize> = HashMap::new();
    let mut covered: BTreeMap<((Kind, Option<SchemeId>), String), Covered> = BTreeMap::new();
    let mut kept = Vec::with_capacity(windows.len());
    for window in windows {
        let Some(form) = needed.form(&window) else { continue };
        let known = streams.len();
        let stream = *streams.entry(window.stream.clone()).or_insert(known);
        let mut parts: BTreeMap<Vec<(u32, u32)>, BTreeSet<String>> = BTreeMap::new();
        let (mut meets_own, mut meets_shifted) = (false, false);
        let (all, mut idle) = (vec![(window.ticks.start, window.ticks.end)], BTreeSet::new());
        for channel in needed.channels(&window) {
            let times = covered.entry((form, channel.name.clone())).or_default();
            let others = ticks_in(times, &window);
            let runs = runs(&window, &channel.name, &window.ticks());
            if runs.is_empty() && !others.is_empty() {
                idle.insert(channel.name.clone());
                continue;
            }
            let taken = taken(&runs, &others);
            // Windows of an earlier bundle are expected to be sent again, and readings in each stream with their channel.
            meets_own |= taken.iter().any(|other| other.stream == stream);
            meets_shifted |= others.iter().any(|other| other.is_shifted);
            let mut free = free(&window, &taken);
            if !taken.is_empty() {
                free.retain(|ticks| runs.iter().any(|run| run.start < ticks.end && ticks.start < run.end));
            }
            times.extend(free.iter().flat_map(|ticks| covers(&window, stream, &runs, ticks)));
            let free = free.into_iter().map(|ticks| (ticks.start, ticks.end)).collect();
            parts.entry(free).or_default().insert(channel.name.clone());
        }
        if !idle.is_empty() {
            // Channels without a reading go with a window that stays whole.
            let free = if parts.contains_key(&all) { all } else { Vec::new() };
            parts.entry(free).or_default().extend(idle);
        }
        aside.overlapping += usize::from(meets_own);
        aside.shifted += usize::from(meets_shifted && parts.keys().any(|free| !free.is_empty()));
        let is_one = parts.len() == 1;
        for (free, channels) in parts {
            let channels = if is_one { window.channels.clone() } else { Some(Arc::new(channels)) };
            let part = |(start, end)| StoredWindow {
                ticks: start..end,
                channels: channels.clone(),
                ..window.clone()
            };
            kept.extend(free.into_iter().map(part));
        }
    }
    kept
}

/// Returns true if windows are of one stream, have channels that are needed, are in order of time, and begin where the one before
/// has ended or later: then none has a tick of another one.
fn are_apart(windows: &[StoredWindow], needed: &Needed) -> bool {
    let Some(first) = windows.first() else { return true };
    let is_like = |window: &StoredWindow| {
        window.stream == first.stream
            && (window.bundle, window.kind, window.scheme) == (first.bundle, first.kind, first.scheme)
            && needed.channels(window).next().is_some()
    };
    let is_behind = |pair: &[StoredWindow]| {
        let end = pair[0].description.period.at(pair[0].start(), pair[0].ticks.end);
        end <= pair[1].from() && pair[0].ticks.start < pair[0].ticks.end
    };
    needed.form(first).is_some() && windows.iter().all(is_like) && windows.windows(2).all(is_behind)
}

/// Returns the milliseconds from a window's ticks to its readings, if these are at whole periods since 1970.
fn phase(window: &StoredWindow) -> i64 {
    let period = window.description.period;
    let since = window.start().saturating_neg().rem_euclid(period.cycle());
    since - period.after(period.tick_at(since))
}

/// Returns the runs of ticks with a reading of a channel, among some ticks.
fn runs(window: &StoredWindow, channel: &str, ticks: &Range<u32>) -> Vec<Range<u32>> {
    let mut runs: Vec<Range<u32>> = Vec::new();
    match window.channel(channel).map(|at| window.description.presence(at)) {
        // Agents of earlier versions do not tell.
        None | Some(None) => runs.push(ticks.clone()),
        Some(Some(presence)) if presence.count() == window.description.ticks() => runs.push(ticks.clone()),
        Some(Some(presence)) => {
            for tick in presence.iter().filter(|tick| ticks.contains(tick)) {
                match runs.last_mut().filter(|run| run.end == tick) {
                    Some(run) => run.end += 1,
                    None => runs.push(tick..tick + 1),
                }
            }
        }
    }
    runs
}

/// Iterates over the times of those runs that are among some ticks.
fn covers(
    window: &StoredWindow,
    stream: usize,
    runs: &[Range<u32>],
    ticks: &Range<u32>,
) -> impl Iterator<Item = (i64, Cover)> + use<> {
    let (bundle, phase) = (window.bundle, phase(window));
    let cover = |run: &Range<u32>| {
        let run = run.start.max(ticks.start)..run.end.min(ticks.end);
        let last = run.end.checked_sub(1).filter(|last| *last >= run.start)?;
        let to = window.instant(last) + 1;
        Some((window.instant(run.start), Cover { to, bundle, stream, phase }))
    };
    runs.iter().filter_map(cover).collect::<Vec<_>>().into_iter()
}

/// Returns the ticks at which both a window, in these runs, and another one have a reading.
fn taken(runs: &[Range<u32>], others: &[CoveredTicks]) -> Vec<CoveredTicks> {
    let mut taken = Vec::new();
    for other in others {
        let first = runs.partition_point(|run| run.end <= other.ticks.start);
        for run in runs[first..].iter().take_while(|run| run.start < other.ticks.end) {
            let ticks = run.start.max(other.ticks.start)..run.end.min(other.ticks.end);
            taken.push(CoveredTicks { ticks, ..other.clone() });
        }
    }
    taken
}

/// Returns the ticks of a window that these times cover, the last first.
fn ticks_in(times: &Covered, window: &StoredWindow) -> Vec<CoveredTicks> {
    let (phase, all) = (phase(window), window.ticks());
    let period = i64::from(window.description.period.ceil());
    let (first, last) = (window.from(), window.instant(all.end.saturating_sub(1)));
    let near = times.range(..=last + period).rev().take_while(|(_, cover)| cover.to > first - period);
    let ticks = |(from, cover): (&i64, &Cover)| {
        // Windows of one bundle are of one zone: a reading has one tick.
        let shift = if cover.bundle == window.bundle { 0 } else { cover.phase - phase };
        let (from, to) = (window.ticks_before(from + shift), window.ticks_before(cover.to + shift));
        let ticks = from.max(all.start)..to.min(all.end);
        CoveredTicks { ticks, stream: cover.stream, is_shifted: shift != 0 }
    };
    near.map(ticks).filter(|covered| !covered.ticks.is_empty()).collect()
}

/// Returns the ticks of a window but for those that others have taken.
fn free(window: &StoredWindow, others: &[CoveredTicks]) -> Vec<Range<u32>> {
    let mut covered: Vec<Range<u32>> = others.iter().map(|other| other.ticks.clone()).collect();
    covered.sort_unstable_by_key(|ticks| ticks.start);
    let all = window.ticks();
    let (mut free, mut at) = (Vec::new(), all.start);
    for ticks in covered {
        if ticks.start > at {
            free.push(at..ticks.start);
        }
        at = at.max(ticks.end);
    }
    if at < all.end {
        free.push(at..all.end);
    }
    free
}

#[cfg(test)]
pub(super) mod tests;
