//! The windows of earlier groups, listed to explain a question with `offset`.

use std::collections::BTreeSet;

use sotto_pack::Clock;

use super::listed::{Listed, windows_of};
use crate::error::OwnerError;
use crate::orders::Orders;
use crate::question::{Asked, Earlier};
use crate::windows::{self, Between, Group, Grouping, Segments, StoredWindow};

/// Lists the windows of the groups to which an offset leads from those of the answer, `now`. `asked` has the calls of the offset.
pub(super) fn listed_earlier(
    orders: &Orders<'_>,
    (offset, asked): (Earlier, &Asked<'_>),
    now: &Listed,
    clock: &Clock,
) -> Result<Option<Listed>, OwnerError> {
    let question = asked.question;
    let Some(time) = time_of(now) else { return Ok(None) };
    let rows = now.segments.rows.iter().skip(now.before).map(|row| row.group);
    let mut all = BTreeSet::new();
    for group in rows {
        let group = if question.by.is_none() { time } else { group };
        let earlier = windows::earlier(clock, question.by, group, offset);
        // A group that the answer cuts is compared with the same part of the earlier one.
        let earlier = earlier.and_then(|earlier| earlier.cut(clock, offset, group, (time.from, time.to)));
        all.extend(earlier.map(|earlier| earlier.time));
    }
    let ends = all.iter().map(|part| part.from).min().zip(all.iter().map(|part| part.to).max());
    let Some((from, to)) = ends else { return Ok(None) };
    let between = Between { since: Some(from), until: Some(to) };
    let devices = windows_of(orders, asked, between, None)?;
    let follows = asked.needs().any(|(_, need)| need.follows());
    let too_many =
        || OwnerError::Unanswerable("the offset has too many groups: ask for a shorter time".to_owned());
    let segments = Segments::new(clock, question, all.into_iter().collect(), follows).ok_or_else(too_many)?;
    let stored = devices.iter().flat_map(|device| &device.windows);
    let ends = windows::last_readings(&segments.times, Grouping::of(question), stored);
    Ok(Some(Listed { devices, segments, before: 0, gap: None, hidden: 0, ends, between, last: None }))
}

/// Returns the time of an answer: that of the question, or else that of its windows. Returns None without windows.
fn time_of(listed: &Listed) -> Option<Group> {
    let windows = || listed.devices.iter().flat_map(|device| &device.windows);
    let Between { since, until } = listed.between;
    let from = since.or_else(|| windows().map(StoredWindow::from).min())?;
    let last = windows().map(StoredWindow::to).max()?;
    Some(Group { from, to: until.map_or(last, |until| until.min(last)) })
}
