//! The windows of earlier groups, listed to explain a question with `offset`.

use std::collections::BTreeSet;

use sotto_pack::Clock;

use super::listed::{Listed, add_preceding, followed, windows_of};
use super::then::Then;
use crate::error::OwnerError;
use crate::orders::Orders;
use crate::question::{Asked, Earlier};
use crate::windows::{self, Between, Grouping, Segments};

/// Lists the windows of the groups to which an offset leads from those of the answer, `now`. `asked` has the calls of the offset.
pub(super) fn listed_earlier(
    orders: &Orders<'_>,
    (offset, asked): (Earlier, &Asked<'_>),
    now: &Listed,
    clock: &Clock,
) -> Result<Option<Listed>, OwnerError> {
    let question = asked.question;
    if now.devices.iter().all(|device| device.windows.is_empty()) {
        return Ok(None);
    }
    let all: BTreeSet<_> = Then::of(now, clock, question.by, offset).times().collect();
    let ends = all.iter().map(|part| part.from).min().zip(all.iter().map(|part| part.to).max());
    let Some((from, to)) = ends else { return Ok(None) };
    let between = Between { since: Some(from), until: Some(to) };
    let mut devices = windows_of(orders, asked, between, (None, false))?;
    let follows = !followed(asked).is_empty();
    let too_many =
        || OwnerError::Unanswerable("the offset has too many groups: ask for a shorter time".to_owned());
    let segments = Segments::new(clock, question, all.into_iter().collect(), follows);
    let mut segments = segments.ok_or_else(too_many)?;
    add_preceding((orders, None, None), (asked, clock), &[between], &mut devices, &mut segments)?;
    let stored = devices.iter().flat_map(|device| &device.windows);
    let ends = windows::last_readings(&segments.times, Grouping::of(question), stored);
    let begins = between.since;
    Ok(Some(Listed { devices, segments, before: 0, gap: None, hidden: 0, ends, between, begins, last: None }))
}
