//! Windows that cover the same time: each reading counts once.
//!
//! Windows of bundles for two time zones may have their ticks at different instants of the hour. Then one reading has ticks of
//! two instants, less than a period apart. Readings are taken to be at whole periods since 1970; if they are not, one reading
//! at each end of a window may count twice or not at all, and a note says so.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::ops::Range;

use super::list::Needed;
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
    /// Milliseconds from a tick to its reading.
    phase: i64,
}

/// Ticks of a window that another window covers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CoveredTicks {
    ticks: Range<u32>,
    /// The bundle of the other window.
    bundle: usize,
    /// True if its ticks are at other instants of the hour.
    is_shifted: bool,
}

/// Leaves out ticks that another window of the same kind covers for a needed channel. Of two windows, the one with more of
/// the needed channels counts; then that of the later bundle, of more readings, sent earlier. Returns them in order of time;
/// a window whose middle is covered comes twice.
pub(super) fn leave_out(
    mut windows: Vec<StoredWindow>,
    needed: &Needed<'_>,
    aside: &mut Aside,
) -> Vec<StoredWindow> {
    windows.sort_by_cached_key(|window| {
        let channels = needed.channels(window).count();
        let readings = window.description.readings();
        (Reverse((channels, window.bundle, readings)), window.start(), window.stream.clone(), window.sequence)
    });
    let mut covered: BTreeMap<(Kind, String), Covered> = BTreeMap::new();
    let mut kept = Vec::with_capacity(windows.len());
    for window in windows {
        let Some(kind) = window.kind() else { continue };
        let of_channel = |channel: &sotto_pack::Channel| {
            let times = covered.get(&(kind, channel.name.clone()));
            times.map_or_else(Vec::new, |times| ticks_in(times, &window))
        };
        let others: Vec<Vec<CoveredTicks>> = needed.channels(&window).map(of_channel).collect();
        let free = free(&window, others.iter().flatten());
        // Ticks of an earlier bundle's window are expected to be sent again, all of its channels together.
        let is_expected = others.windows(2).all(|pair| pair[0] == pair[1])
            && others.iter().flatten().all(|other| other.bundle != window.bundle);
        aside.overlapping += usize::from(!is_expected);
        let meets_shifted = others.iter().flatten().any(|other| other.is_shifted);
        aside.shifted += usize::from(meets_shifted && !free.is_empty());
        for ticks in free {
            for channel in needed.channels(&window) {
                let times = covered.entry((kind, channel.name.clone())).or_default();
                times.extend(cover(&window, &channel.name, &ticks));
            }
            kept.push(StoredWindow { ticks, ..window.clone() });
        }
    }
    kept.sort_by(|a, b| (a.from(), &a.stream, a.sequence).cmp(&(b.from(), &b.stream, b.sequence)));
    kept
}

/// Returns the milliseconds from a window's ticks to its readings, if these are at whole periods since 1970.
fn phase(window: &StoredWindow) -> i64 {
    window.start().saturating_neg().rem_euclid(i64::from(window.description.period.max(1)))
}

/// Returns the time from the first to the last reading of a channel at some ticks; None if there is none.
fn cover(window: &StoredWindow, channel: &str, ticks: &Range<u32>) -> Option<(i64, Cover)> {
    let presence = window.description.presence(window.channel(channel)?);
    let (first, last) = match presence {
        Some(presence) => {
            let mut there = presence.iter().filter(|tick| ticks.contains(tick));
            let first = there.next()?;
            (first, there.last().unwrap_or(first))
        }
        None => (ticks.start, ticks.end - 1),
    };
    let phase = phase(window);
    let to = window.instant(last) + 1;
    Some((window.instant(first), Cover { to, bundle: window.bundle, phase }))
}

/// Returns the ticks of a window that these times cover, the last first.
fn ticks_in(times: &Covered, window: &StoredWindow) -> Vec<CoveredTicks> {
    let (phase, all) = (phase(window), window.ticks());
    let period = i64::from(window.description.period);
    let (first, last) = (window.from(), window.instant(all.end.saturating_sub(1)));
    let near = times.range(..=last + period).rev().take_while(|(_, cover)| cover.to > first - period);
    let ticks = |(from, cover): (&i64, &Cover)| {
        // Windows of one bundle are of one zone: a reading has one tick.
        let shift = if cover.bundle == window.bundle { 0 } else { cover.phase - phase };
        let (from, to) = (window.ticks_before(from + shift), window.ticks_before(cover.to + shift));
        let ticks = from.max(all.start)..to.min(all.end);
        CoveredTicks { ticks, bundle: cover.bundle, is_shifted: shift != 0 }
    };
    near.map(ticks).filter(|covered| !covered.ticks.is_empty()).collect()
}

/// Returns the ticks of a window that no other window covers.
fn free<'c>(window: &StoredWindow, others: impl Iterator<Item = &'c CoveredTicks>) -> Vec<Range<u32>> {
    let mut covered: Vec<Range<u32>> = others.map(|other| other.ticks.clone()).collect();
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
