//! Parts of windows, each with the groups that its results belong to.

use std::collections::BTreeSet;
use std::ops::Range;

use sotto_pack::{Clock, Presence};

use super::calendar::Calendar;
use super::row_time::Group;
use super::time::Between;
use super::window::StoredWindow;
use crate::functions::Call;
use crate::language::By;
use crate::question::Question;

/// The way in which windows belong to groups.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Grouping {
    /// One group has all.
    Whole,
    /// Each window is one.
    Windows,
    /// A tick belongs to the group that its instant is in, or to none.
    Times,
}

impl Grouping {
    pub(crate) fn of(question: &Question) -> Self {
        match question.by {
            Some(By::Window) => Self::Windows,
            None if !question.divides_time() && !follows(question) => Self::Whole,
            _ => Self::Times,
        }
    }
}

/// Returns true if a question looks at the readings before its time.
fn follows(question: &Question) -> bool {
    let follows = |call: &Call| call.needs().iter().any(|need| need.follows().is_some());
    question.calls().any(follows)
}

/// Ticks of a part's windows that belong to a group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct InGroup {
    /// The position of the group.
    pub(crate) group: usize,
    pub(crate) ticks: Range<u32>,
}

/// Largest number of groups in one answer.
pub(crate) const MOST_GROUPS: usize = 100_000;

/// The groups of an answer, in order of time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Groups {
    pub(crate) groups: Vec<Group>,
    /// Number of groups without windows that are left out, as all together would be more than [`MOST_GROUPS`].
    pub(crate) hidden: u64,
}

/// Returns all groups from the first to the last window, including empty ones; if these are more than [`MOST_GROUPS`],
/// the groups with windows. Returns None if there are more of them, too.
pub(crate) fn groups<'w>(
    clock: &Clock,
    by: Option<By>,
    windows: impl Iterator<Item = &'w StoredWindow>,
    Between { since, until }: Between,
) -> Option<Groups> {
    let shown = |groups| Groups { groups, hidden: 0 };
    let time = |window: &StoredWindow| match by {
        Some(By::Window) => window.group(),
        // The last tick may reach over the end.
        _ => Group { from: window.from(), to: until.map_or(window.to(), |until| window.to().min(until)) },
    };
    let mut all: Vec<Group> = windows.map(time).collect();
    all.sort_unstable();
    all.dedup();
    let (Some(first), Some(last)) =
        (all.iter().map(|group| group.from).min(), all.iter().map(|group| group.to).max())
    else {
        return Some(Groups::default());
    };
    match by.filter(|by| !by.is_recurring()).map(Calendar::of) {
        None => Some(shown(vec![Group { from: since.unwrap_or(first), to: until.unwrap_or(last) }])),
        Some(None) => (all.len() <= MOST_GROUPS).then(|| shown(all)),
        Some(Some(calendar)) => {
            let whole = [Group { from: first, to: last }];
            touched(clock, calendar, &whole).map(shown).or_else(|| {
                // Over a long time without windows, a device's clock was wrong: the groups with windows tell more.
                let groups = touched(clock, calendar, &all)?;
                let hidden = number(clock, calendar, whole[0]).saturating_sub(groups.len() as u64);
                Some(Groups { groups, hidden })
            })
        }
    }
}

/// Returns the number of groups that a time touches, without a look at each.
fn number(clock: &Clock, calendar: Calendar, time: Group) -> u64 {
    let (first, last) = (calendar.start_of(clock, time.from), calendar.start_of(clock, time.to - 1));
    u64::try_from(calendar.between(clock, first, last)).unwrap_or_default() + 1
}

/// Returns the groups that these times touch. Returns None if there are more than [`MOST_GROUPS`]. Times must
/// be in order of their beginnings.
fn touched(clock: &Clock, calendar: Calendar, times: &[Group]) -> Option<Vec<Group>> {
    let mut groups: Vec<Group> = Vec::new();
    for time in times {
        let mut from = calendar.start_of(clock, time.from);
        if let Some(last) = groups.last() {
            from = from.max(last.to);
        }
        while from < time.to {
            if groups.len() == MOST_GROUPS {
                return None;
            }
            let to = calendar.end_of(clock, from);
            groups.push(Group { from, to });
            from = to;
        }
    }
    Some(groups)
}

/// Returns for each group the end of the last tick with a reading of any window. Groups must be in order of time.
pub(crate) fn last_readings<'w>(
    groups: &[Group],
    grouping: Grouping,
    windows: impl Iterator<Item = &'w StoredWindow>,
) -> Vec<i64> {
    let mut last: Vec<Option<i64>> = vec![None; groups.len()];
    for window in windows {
        let presence = &window.description.presence;
        for InGroup { group, ticks } in pieces(groups, grouping, window) {
            let read = |presence: &Presence| presence.iter().filter(|tick| ticks.contains(tick)).last();
            let end = match presence.iter().filter_map(read).max() {
                _ if window.is_run() => window.end_before(ticks.end),
                Some(tick) => window.instant(tick + 1),
                // Without gaps, every tick has a reading.
                None if presence.is_empty() => window.end_before(ticks.end),
                None => continue,
            };
            last[group] = last[group].max(Some(end));
        }
    }
    groups.iter().zip(last).map(|(group, last)| last.unwrap_or(group.to)).collect()
}

/// Returns the instant of the first reading of a channel in windows; None if there is none.
pub(crate) fn first_reading<'w>(
    channel: &str,
    windows: impl Iterator<Item = &'w StoredWindow>,
) -> Option<i64> {
    let of = |window: &StoredWindow| {
        let presence = window.description.presence(window.channel(channel)?)?;
        presence.iter().next().map(|tick| window.instant(tick))
    };
    windows.filter_map(of).min()
}

/// Returns the instant of the last reading of any of these channels in windows; None if there is none.
pub(crate) fn last_reading<'w>(
    channels: &BTreeSet<String>,
    windows: impl Iterator<Item = &'w StoredWindow>,
) -> Option<i64> {
    let of = |window: &StoredWindow| {
        let columns = channels.iter().filter_map(|name| window.channel(name));
        let presence = columns.filter_map(|column| window.description.presence(column));
        presence
            .filter(|presence| presence.end() > 0)
            .map(|presence| {
                window.instant(window.all_ticks() - window.description.ticks() + presence.end() - 1)
            })
            .max()
    };
    windows.filter_map(of).max()
}

/// Returns the groups in which a window has ticks, each with these ticks. Groups must be in order of time.
pub(crate) fn pieces(groups: &[Group], grouping: Grouping, window: &StoredWindow) -> Vec<InGroup> {
    let all = window.ticks();
    let whole = |group: usize| vec![InGroup { group, ticks: all.clone() }];
    match grouping {
        Grouping::Whole if groups.is_empty() => Vec::new(),
        Grouping::Whole => whole(0),
        Grouping::Windows => groups.binary_search(&window.group()).map_or_else(|_| Vec::new(), whole),
        Grouping::Times => {
            let first = groups.partition_point(|group| group.to <= window.from());
            let (mut pieces, mut from) = (Vec::new(), all.start);
            for (at, group) in groups.iter().enumerate().skip(first) {
                from = from.max(window.ticks_before(group.from));
                if from >= all.end {
                    break;
                }
                let until = window.ticks_before(group.to).min(all.end);
                if until > from {
                    pieces.push(InGroup { group: at, ticks: from..until });
                    from = until;
                }
            }
            pieces
        }
    }
}

/// Returns the number of ticks with a reading that the end of a group cuts. The reading may be on either side of it. Samples
/// are at the instants of their ticks.
pub(crate) fn cut_ticks(groups: &[Group], grouping: Grouping, window: &StoredWindow) -> u64 {
    let channels = || (0..).zip(window.layout().channels());
    let reports = || channels().filter(|(_, channel)| !channel.kind.rules().samples()).map(|(at, _)| at);
    let is_cut = |InGroup { group, ticks }: &InGroup| {
        let (last, end) = (ticks.end - 1, window.end_before(ticks.end));
        let has_reading = |at: u16| {
            window.is_run() || window.description.presence(at).is_none_or(|presence| presence.contains(last))
        };
        groups[*group].to < end && reports().any(has_reading)
    };
    match grouping {
        Grouping::Whole | Grouping::Windows => 0,
        Grouping::Times => {
            pieces(groups, grouping, window).iter().filter(|piece| is_cut(piece)).count() as u64
        }
    }
}

#[cfg(test)]
mod tests {
    use sotto_pack::Span;

    use super::*;

    #[test]
    fn times_touch_each_span_once() {
        const HOUR: i64 = 3_600_000;
        let touched = |times: &[(i64, i64)]| {
            let times: Vec<Group> = times.iter().map(|(from, to)| Group { from: *from, to: *to }).collect();
            super::touched(&Clock::utc(), Calendar::Of(Span::Hour), &times).map(|groups| {
                groups.iter().map(|group| (group.from / HOUR, group.to / HOUR)).collect::<Vec<_>>()
            })
        };
        let years = 400_000 * HOUR;
        let windows = [(5, HOUR), (10, HOUR + 1), (HOUR, 2 * HOUR), (years + 7, years + 9)];
        assert_eq!(touched(&windows).unwrap(), [(0, 1), (1, 2), (400_000, 400_001)]);
        assert_eq!(touched(&[(0, years)]), None);
        assert_eq!(touched(&[(0, 100_000 * HOUR)]).map(|groups| groups.len()), Some(MOST_GROUPS));
        assert_eq!(touched(&[]), Some(vec![]));
    }

    #[test]
    fn the_number_of_spans_is_that_of_those_touched() {
        const HOUR: i64 = 3_600_000;
        for (zone, from, hours) in [("Europe/Rome", 1_389_000_000_000, 9_000), ("Asia/Kolkata", 7, 30_000)] {
            let clock = Clock::new(zone).expect("a zone");
            for (span, count) in
                [(Span::Hour, hours / 10), (Span::Day, hours), (Span::Week, hours), (Span::Month, hours)]
            {
                let span = Calendar::Of(span);
                for (more, to) in [(0, count * HOUR), (1, count * HOUR + 1), (HOUR / 2, 1)] {
                    let time = Group { from: from + more, to: from + more + to };
                    let touched = touched(&clock, span, &[time]).expect("few");
                    assert_eq!(number(&clock, span, time), touched.len() as u64, "{zone} {span:?} {time:?}");
                }
            }
        }
    }
}
