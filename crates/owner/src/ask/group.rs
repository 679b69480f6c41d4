//! Groups of windows by the plant's clock.

use sotto_pack::{Clock, Span};
use sotto_program::question::By;

use super::windows::{DeviceWindows, Window};
use crate::error::OwnerError;

/// Most groups of one answer.
pub(crate) const MOST_GROUPS: usize = 100_000;

/// A stretch of time that one row of an answer is about: milliseconds since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Group {
    pub(crate) from: i64,
    pub(crate) to: i64,
}

/// The span of the clock that a grouping follows.
pub(crate) fn span(by: By) -> Option<Span> {
    match by {
        By::Window => None,
        By::Hour => Some(Span::Hour),
        By::Day => Some(Span::Day),
        By::Week => Some(Span::Week),
        By::Month => Some(Span::Month),
    }
}

/// All groups from the first to the last window, empty ones among them; None when there are more than [`MOST_GROUPS`].
pub(crate) fn groups<'w>(
    clock: &Clock,
    by: Option<By>,
    windows: impl Iterator<Item = &'w Window>,
    since: Option<i64>,
    until: Option<i64>,
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

/// Refuses groups that a window crosses: its sum cannot be taken apart.
pub(crate) fn whole(groups: &[Group], by: Option<By>, device: &DeviceWindows) -> Result<(), OwnerError> {
    let crosses =
        |window: &&Window| of_window(groups, by, window).is_some_and(|at| window.end() > groups[at].to);
    let Some(by) = by else { return Ok(()) };
    let crossing = device.windows.iter().filter(crosses).count();
    if crossing == 0 {
        return Ok(());
    }
    Err(OwnerError::Unanswerable(format!(
        "{crossing} windows of {} reach over the end of {by}s, and a window's sum cannot be taken apart: declare a question by {by} with `sotto question add`, give the device a new bundle with `sotto device renew {}`, or ask by a longer time",
        device.device,
        device.device,
        by = by.word(),
    )))
}

/// The group that a window belongs to.
pub(crate) fn of_window(groups: &[Group], by: Option<By>, window: &Window) -> Option<usize> {
    match by {
        None => (!groups.is_empty()).then_some(0),
        Some(By::Window) => groups.binary_search(&Group { from: window.start(), to: window.end() }).ok(),
        Some(_) => {
            let at = groups.partition_point(|group| group.from <= window.start()).checked_sub(1)?;
            (window.start() < groups[at].to).then_some(at)
        }
    }
}
