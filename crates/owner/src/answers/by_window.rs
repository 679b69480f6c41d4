//! The results of single windows of one device.

use std::collections::BTreeMap;

use super::along::Series;
use super::answer::Row;
use super::column::{Column, RowTimes};
use super::rows::rows;
use crate::declared::Plant;
use crate::error::{FaultyWindow, OwnerError};
use crate::language::By;
use crate::question::{Asked, Question};
use crate::windows;
use crate::windows::{Between, DeviceWindows, Group, Grouping, RowTime, StoredWindow};
use crate::work::{Computer, DeviceWork, Tallied};

/// Results by window.
pub(crate) struct ByWindow<'w> {
    /// Each window with the rows of its results; None if it was encrypted for other questions.
    pub(crate) windows: Vec<(&'w StoredWindow, Option<Vec<Row>>)>,
    /// Number of windows that were encrypted for other questions.
    pub(crate) not_carried: usize,
    /// Number of windows whose readings were fetched to compare them.
    pub(crate) fetched: u64,
    /// Windows that their device's fault leaves out.
    pub(crate) faulty: Vec<FaultyWindow>,
}

/// Answers a question by window on some windows of one device. Each result must have one value.
pub(crate) fn by_window<'w>(
    plant: &Plant,
    question: &Question,
    device: &'w DeviceWindows,
    computer: &mut Computer<'_>,
) -> Result<ByWindow<'w>, OwnerError> {
    let clock = plant.settings().clock()?;
    let too_many = || OwnerError::Unanswerable("more than 100,000 windows".to_owned());
    let groups = windows::groups(&clock, Some(By::Window), device.windows.iter(), Between::default());
    let groups = groups.ok_or_else(too_many)?.groups;
    let ends = windows::last_readings(&groups, Grouping::Windows, device.windows.iter());
    let asked = Asked::new(question);
    let work = DeviceWork {
        asked: &asked,
        groups: &groups,
        weighted: &groups,
        ends: &ends,
        gap: None,
        device,
        takes: &[],
    };
    let done = work.tallies(computer, &mut |_, _| {})?;
    let columns = [Column::of_device(&device.shown, done.computed.tallies.clone(), &groups, &asked)];
    let times: Vec<RowTime> = groups.iter().map(|group| RowTime { group: *group, recurs: None }).collect();
    let times = RowTimes { times: &times, hidden: 0 };
    let series = Series::new(&asked, times, &columns, &[], plant.settings());
    let rows = rows(&asked, times, &columns, &series, plant.settings());
    let mut by_group: BTreeMap<(i64, i64), Vec<Row>> = BTreeMap::new();
    for row in rows {
        by_group.entry((row.from_ms, row.to_ms)).or_default().push(row);
    }
    let of = |window: &'w StoredWindow| {
        let Group { from, to } = window.group();
        let rows = by_group.get(&(from, to)).cloned().unwrap_or_default();
        (window, done.computed.used.has(window).then_some(rows))
    };
    let windows = device.windows.iter().map(of).collect();
    let Tallied { computed, not_carried, faulty, .. } = done;
    Ok(ByWindow { windows, not_carried, fetched: computed.fetched, faulty })
}
