//! The earlier times of an answer's rows.

use std::collections::BTreeSet;

use sotto_api::devices::Device;
use sotto_pack::Clock;

use super::listed::Listed;
use crate::language::By;
use crate::question::Earlier;
use crate::windows::{self, Between, EarlierTime, Group, StoredWindow};

/// The groups of the answer that earlier ones belong to.
pub(super) struct Shown<'s> {
    pub(super) listed: &'s Listed,
    pub(super) clock: &'s Clock,
    /// The devices as the cloud lists them.
    pub(super) known: &'s [Device],
}

impl Shown<'_> {
    /// Returns the groups of the rows.
    pub(super) fn groups(&self) -> Vec<Group> {
        groups_of(self.listed).collect()
    }
}

/// Returns the groups of the rows.
fn groups_of(listed: &Listed) -> impl Iterator<Item = Group> {
    listed.segments.rows.iter().skip(listed.before).map(|row| row.group)
}

/// Returns the time of an answer: that of the question, or else that of its windows. Returns None without windows.
fn time_of(listed: &Listed) -> Option<(i64, i64)> {
    let windows = || listed.devices.iter().flat_map(|device| &device.windows);
    let Between { since, until } = listed.between;
    let since = since.or_else(|| windows().map(StoredWindow::from).min())?;
    let last = windows().map(StoredWindow::to).max()?;
    Some((since, until.map_or(last, |until| until.min(last))))
}

/// The earlier times of an answer's rows.
#[derive(Default)]
pub(super) struct Then {
    /// None if there is none.
    times: Vec<Option<EarlierTime>>,
    /// The rows whose earlier time is cut, as the time of the answer cuts their own.
    cut: BTreeSet<usize>,
    /// The end of the one that is cut there, and that of its whole group.
    pub(super) until: Option<(i64, i64)>,
    /// Number of groups that begin on a day that the earlier month does not have.
    pub(super) clipped: usize,
}

impl Then {
    /// Returns the earlier time of each row of an answer. A group that the answer cuts has the same part of the earlier one.
    pub(super) fn of(listed: &Listed, clock: &Clock, by: Option<By>, offset: Earlier) -> Self {
        let between = time_of(listed);
        let mut then = Self::default();
        for group in groups_of(listed) {
            let whole = by.is_none().then_some(between).flatten();
            let whole = whole.map_or(group, |(from, to)| Group { from, to });
            let Some(earlier) = windows::earlier(clock, by, whole, offset) else {
                then.times.push(None);
                continue;
            };
            then.clipped += usize::from(earlier.clipped);
            let cut = match between.filter(|_| by.is_some()) {
                Some(between) => earlier.cut(clock, offset, group, between),
                None => Some(earlier),
            };
            if let Some(cut) = cut.filter(|cut| cut.time != earlier.time) {
                then.cut.insert(then.times.len());
                let is_short = cut.time.to < earlier.time.to;
                then.until = is_short.then_some((cut.time.to, earlier.time.to)).or(then.until);
            }
            then.times.push(cut);
        }
        then
    }

    /// Iterates over the earlier times that there are.
    pub(super) fn times(&self) -> impl Iterator<Item = Group> {
        self.times.iter().flatten().map(|earlier| earlier.time)
    }

    /// Divides the rows so that no time of a part is in another one of it: a cut time may be in that of other rows, as several
    /// days of a month lead to the last one of a shorter month.
    pub(super) fn parts(&self) -> Vec<Vec<Option<EarlierTime>>> {
        let whole = |(row, time): (usize, &Option<EarlierTime>)| time.filter(|_| !self.cut.contains(&row));
        let mut parts = vec![self.times.iter().enumerate().map(whole).collect::<Vec<_>>()];
        for row in &self.cut {
            let Some(cut) = self.times[*row] else { continue };
            let is_apart = |other: &EarlierTime| {
                other.time == cut.time || other.time.to <= cut.time.from || cut.time.to <= other.time.from
            };
            match parts.iter_mut().find(|part| part.iter().flatten().all(is_apart)) {
                Some(part) => part[*row] = Some(cut),
                None => {
                    let mut part = vec![None; self.times.len()];
                    part[*row] = Some(cut);
                    parts.push(part);
                }
            }
        }
        parts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_time_in_that_of_another_row_is_apart() {
        let time = |from, to| Some(EarlierTime { time: Group { from, to }, clipped: true });
        // Three days lead to the last one of February; the last of them is not over.
        let then = Then {
            times: vec![time(0, 24), None, time(0, 24), time(0, 12)],
            cut: [3].into(),
            ..Then::default()
        };
        let right = [vec![time(0, 24), None, time(0, 24), None], vec![None, None, None, time(0, 12)]];
        assert_eq!(then.parts(), right);
        // The day before is in no other row.
        let then = Then { times: vec![time(0, 24), time(24, 36)], cut: [1].into(), ..Then::default() };
        assert_eq!(then.parts(), [[time(0, 24), time(24, 36)]]);
    }
}
