//! Parts of windows, each with the groups that its results belong to.

use std::ops::Range;

use sotto_pack::{Clock, Span};

use super::time::Between;
use super::window::StoredWindow;
use crate::error::OwnerError;
use crate::language::By;

/// Ticks of a part's windows that belong to a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InGroup {
    /// The position of the group.
    pub(crate) group: usize,
    pub(crate) ticks: Range<u32>,
}

/// Largest number of groups in one answer.
pub(crate) const MOST_GROUPS: usize = 100_000;

/// The time that a row of an answer covers, in milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Group {
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// Returns the span of the clock for a grouping; None for single windows.
pub(crate) fn span(by: By) -> Option<Span> {
    match by {
        By::Window => None,
        By::Hour => Some(Span::Hour),
        By::Day => Some(Span::Day),
        By::Week => Some(Span::Week),
        By::Month => Some(Span::Month),
    }
}

/// Returns all groups from the first to the last window, including empty ones. Returns None if there are more than
/// [`MOST_GROUPS`].
pub(crate) fn groups<'w>(
    clock: &Clock,
    by: Option<By>,
    windows: impl Iterator<Item = &'w StoredWindow>,
    Between { since, until }: Between,
) -> Option<Vec<Group>> {
    let mut all: Vec<Group> =
        windows.map(|window| Group { from: window.start(), to: window.end() }).collect();
    all.sort_unstable();
    all.dedup();
    let (Some(first), Some(last)) =
        (all.iter().map(|group| group.from).min(), all.iter().map(|group| group.to).max())
    else {
        return Some(Vec::new());
    };
    match by.map(span) {
        None => Some(vec![Group { from: since.unwrap_or(first), to: until.unwrap_or(last) }]),
        Some(None) => (all.len() <= MOST_GROUPS).then_some(all),
        Some(Some(span)) => {
            let mut groups = Vec::new();
            let mut from = clock.start_of(span, first);
            while from < last {
                if groups.len() == MOST_GROUPS {
                    return None;
                }
                let to = clock.end_of(span, from);
                groups.push(Group { from, to });
                from = to;
            }
            Some(groups)
        }
    }
}

/// Returns for each group the end of the last tick with a reading in any window that begins in the group. Groups must
/// be in order of time.
pub(crate) fn last_readings<'w>(
    groups: &[Group],
    windows: impl Iterator<Item = &'w StoredWindow>,
) -> Vec<i64> {
    let of = |window: &StoredWindow| {
        let presence = &window.description.presence;
        let last = presence.iter().filter_map(|presence| presence.iter().last()).max();
        last.map_or(window.end(), |tick| {
            window.start() + (i64::from(tick) + 1) * i64::from(window.description.period)
        })
    };
    let mut last: Vec<Option<i64>> = vec![None; groups.len()];
    let longest = groups.iter().map(|group| group.to.saturating_sub(group.from)).max().unwrap_or_default();
    for window in windows {
        let start = window.start();
        let end = groups.partition_point(|group| group.from <= start);
        // Groups that are single windows may overlap.
        let near = groups[..end].iter().zip(&mut last).rev();
        for (group, last) in near.take_while(|(group, _)| start.saturating_sub(group.from) <= longest) {
            if start < group.to {
                *last = Some(last.map_or_else(|| of(window), |known| known.max(of(window))));
            }
        }
    }
    groups.iter().zip(last).map(|(group, last)| last.unwrap_or(group.to)).collect()
}

/// Returns the groups in which a window has ticks, each with these ticks. A window that crosses the end of a group is
/// split by ticks.
///
/// # Errors
/// [`OwnerError::Unanswerable`] if a group ends within a tick, because readings with this period cannot be assigned to
/// groups.
pub(crate) fn pieces(
    groups: &[Group],
    by: Option<By>,
    window: &StoredWindow,
) -> Result<Vec<InGroup>, OwnerError> {
    let Some(first) = of_window(groups, by, window) else { return Ok(Vec::new()) };
    let (start, all) = (window.start(), window.description.ticks());
    if window.end() <= groups[first].to || by.is_none_or(|by| by == By::Window) {
        return Ok(vec![InGroup { group: first, ticks: 0..window.layout().ticks() }]);
    }
    let period = i64::from(window.description.period.max(1));
    let mut pieces = Vec::new();
    let mut from = 0;
    for (at, group) in groups.iter().enumerate().skip(first) {
        if group.to < window.end() && group.to.saturating_sub(start) % period != 0 {
            let by = by.map_or("group", By::word);
            return Err(OwnerError::Unanswerable(format!(
                "readings of stream {} are {} s apart, which does not divide the {by}: ask by day",
                window.stream,
                period as f64 / 1000.0
            )));
        }
        // The number of ticks that begin before the group ends.
        let until = group
            .to
            .saturating_sub(start)
            .saturating_add(period - 1)
            .div_euclid(period)
            .clamp(0, i64::from(all)) as u32;
        if until > from {
            pieces.push(InGroup { group: at, ticks: from..until });
            from = until;
        }
        if from >= all {
            break;
        }
    }
    Ok(pieces)
}

/// Returns the group that a window belongs to.
pub(crate) fn of_window(groups: &[Group], by: Option<By>, window: &StoredWindow) -> Option<usize> {
    match by {
        None => (!groups.is_empty()).then_some(0),
        Some(By::Window) => groups.binary_search(&Group { from: window.start(), to: window.end() }).ok(),
        Some(_) => {
            let at = groups.partition_point(|group| group.from <= window.start()).checked_sub(1)?;
            (window.start() < groups[at].to).then_some(at)
        }
    }
}
