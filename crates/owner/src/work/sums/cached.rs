//! The sums and stretches that are cached, and those that are left to request.

use std::ops::Range;

use sotto_wire::StreamHeader;

use super::Task;
use super::columns::Opened;
use super::each::{self, Stretch};
use crate::cache::{StreamCache, Sum};
use crate::error::OwnerError;
use crate::quantities::Inputs;

/// The sums and stretches of some parts: those that are cached, and those that are not.
pub(super) struct Split<'i> {
    /// Those that are cached, with their values.
    pub(super) found: Vec<(Task, Vec<Opened>)>,
    /// Sums to request, of positions among `inputs`.
    pub(super) left: Vec<Task>,
    /// The windows of the sums to request, in their order.
    pub(super) inputs: Inputs<'i>,
    /// The sums and stretches to which those to request belong.
    pub(super) wholes: Wholes<'i>,
}

/// The sums and stretches of which some windows are requested.
pub(super) struct Wholes<'i> {
    /// All windows.
    all: Inputs<'i>,
    wholes: Vec<Whole>,
    /// For each sum to request, the position of its whole and, of a stretch, that of its window there.
    of: Vec<(usize, usize)>,
    /// The window that starts last.
    newest: Option<usize>,
}

/// The first windows of a part or a channel that are cached: by their number their values.
type OfFirst = Vec<(usize, Vec<i64>)>;

/// A sum or a stretch of which some windows are requested.
struct Whole {
    /// Of positions among all windows.
    task: Task,
    /// The number of its first windows that are cached, and their values.
    begun: usize,
    before: Vec<Opened>,
    /// The values of a stretch until all are there.
    stretch: Option<Stretch>,
}

impl<'i> Split<'i> {
    /// Looks for tasks in a cache. Without one all are to be requested.
    pub(super) fn of(
        stream: &StreamHeader,
        tasks: Vec<Task>,
        all: Inputs<'i>,
        mut cache: Option<&mut StreamCache>,
    ) -> Self {
        let newest = newest(&all);
        let (mut found, mut wholes) = (Vec::new(), Vec::with_capacity(tasks.len()));
        let mut to_request: Vec<(Task, (usize, usize))> = Vec::with_capacity(tasks.len());
        for task in tasks {
            let (begun, before) = cache.as_mut().map_or((0, Vec::new()), |cache| longest(&task, &all, cache));
            if begun == task.windows.len() {
                found.push((task, before));
                continue;
            }
            let (at, first) = (wholes.len(), task.windows.start);
            let windows = first + begun..task.windows.end;
            if !task.each {
                to_request.push((Task { windows, ..task.clone() }, (at, 0)));
                wholes.push(Whole { task, begun, before, stretch: None });
                continue;
            }
            let windows = Task { windows, ..task.clone() }.with_readings(&all);
            let stretch = Stretch::new(stream, &task, &before, windows.len());
            if windows.is_empty() {
                // The values of the others are 0.
                found.extend((begun > 0).then(|| (task, stretch.values())));
                continue;
            }
            let alone = |window: usize| (task.alone(window, Vec::new()), (at, window - first));
            to_request.extend(windows.into_iter().map(alone));
            wholes.push(Whole { task, begun, before: Vec::new(), stretch: Some(stretch) });
        }
        to_request.sort_by_key(|(task, _)| task.windows.start);
        let (mut left, of): (Vec<Task>, Vec<(usize, usize)>) = to_request.into_iter().unzip();
        let inputs = if cache.is_some() { moved_together(&mut left, &all) } else { all.clone() };
        Self { found, left, inputs, wholes: Wholes { all, wholes, of, newest } }
    }

    /// Returns the number of windows that are not requested.
    pub(super) fn cached_windows(&self) -> u64 {
        (self.wholes.all.len() - self.inputs.len()) as u64
    }

    /// Returns the number of sums that are cached, and of those that begin with one. Each window of a stretch is a sum.
    pub(super) fn cached_sums(&self) -> u64 {
        let sums = |task: &Task, windows: usize| if task.each { windows } else { windows.min(1) };
        let found = self.found.iter().map(|(task, _)| sums(task, task.windows.len()));
        let begun = self.wholes.wholes.iter().map(|whole| sums(&whole.task, whole.begun));
        found.chain(begun).sum::<usize>() as u64
    }
}

impl Wholes<'_> {
    /// Returns the task of the whole that a requested sum is of, with positions among all windows.
    pub(super) fn task(&self, at: usize) -> &Task {
        &self.wholes[self.of[at].0].task
    }

    /// Takes the values of a requested sum. Returns those of its whole, once all of it is there.
    pub(super) fn take(&mut self, at: usize, opened: Vec<Opened>) -> Result<Option<Vec<Opened>>, OwnerError> {
        let (at, window) = self.of[at];
        let Whole { before, stretch, .. } = &mut self.wholes[at];
        if let Some(values) = stretch {
            values.take(window, &opened);
            return Ok(stretch.take_if(|values| values.is_complete()).map(Stretch::values));
        }
        let whole = opened.into_iter().map(|opened| {
            let before = before.iter().find(|before| before.part == opened.part);
            match before {
                Some(before) => added(before, opened),
                None => Ok(opened),
            }
        });
        whole.collect::<Result<_, _>>().map(Some)
    }

    /// Puts the whole of a requested sum into the cache.
    pub(super) fn keep(&self, at: usize, whole: &[Opened], stream: &StreamHeader, cache: &mut StreamCache) {
        let Whole { task, begun, .. } = &self.wholes[self.of[at].0];
        let is_newest = self.newest.is_some_and(|newest| task.windows.contains(&newest));
        let (inputs, windows, weights) = (&self.all, &task.windows, task.weights.as_deref());
        for Opened { part, channel, values } in whole {
            let Some(described) = stream.parts().get(usize::from(*part)) else { continue };
            let widest = described.quantities.iter().map(|placed| placed.width).max().unwrap_or_default();
            let bits = channel.map_or(widest, |channel| each::bits(described, channel));
            let sum = Sum { part: *part, channel: *channel, inputs, windows, weights };
            cache.add(sum, values, bits, *begun, is_newest && weights.is_none());
        }
    }
}

/// Returns the most of a task's first windows that are cached for all its parts or channels, and their values.
fn longest(task: &Task, inputs: &Inputs<'_>, cache: &mut StreamCache) -> (usize, Vec<Opened>) {
    let (windows, weights) = (&task.windows, task.weights.as_deref());
    let kept = task.kept();
    let find = |(part, channel): &(u8, Option<u16>)| {
        cache.find(Sum { part: *part, channel: *channel, inputs, windows, weights })
    };
    let mut found: Vec<OfFirst> = kept.iter().map(find).collect();
    let counts = found.first().map(|of_first| of_first.iter().rev().map(|(count, _)| *count));
    let in_all = |count: &usize| {
        found.iter().all(|of_first| of_first.binary_search_by_key(count, |(count, _)| *count).is_ok())
    };
    let Some(count) = counts.and_then(|mut counts| counts.find(in_all)) else { return (0, Vec::new()) };
    let opened = kept.into_iter().zip(&mut found).filter_map(|((part, channel), of_first)| {
        let (_, values) = of_first.iter_mut().find(|(of, _)| *of == count)?;
        Some(Opened { part, channel, values: std::mem::take(values) })
    });
    (count, opened.collect())
}

/// Returns the position of the window that starts last.
fn newest(all: &Inputs<'_>) -> Option<usize> {
    let (mut newest, mut at) = (None, 0);
    for run in all.runs(0..all.len()) {
        at += run.count as usize;
        newest = newest.max(Some((run.start(run.count - 1), at - 1)));
    }
    newest.map(|(_, at)| at)
}

/// Moves tasks to positions among their own windows alone, which are returned: a request names every window between its
/// first and its last one.
fn moved_together<'i>(tasks: &mut [Task], all: &Inputs<'i>) -> Inputs<'i> {
    let mut needed: Vec<Range<usize>> = tasks.iter().map(|task| task.windows.clone()).collect();
    needed.sort_unstable_by_key(|windows| windows.start);
    // Each with the position that its first window has then.
    let mut inputs = Inputs::default();
    let mut moved: Vec<(Range<usize>, usize)> = Vec::new();
    for windows in needed {
        let from = moved.last().map_or(windows.start, |(last, _)| windows.start.max(last.end));
        let new = from..windows.end.max(from);
        match moved.last_mut().filter(|(last, _)| windows.start <= last.end) {
            Some((last, _)) => last.end = new.end,
            None => moved.push((new.clone(), inputs.len())),
        }
        all.runs(new).for_each(|run| inputs.push(run));
    }
    for task in tasks {
        let at = moved.partition_point(|(windows, _)| windows.start <= task.windows.start);
        let first = match at.checked_sub(1).map(|at| &moved[at]) {
            Some((windows, first)) => first + (task.windows.start - windows.start),
            None => inputs.len(),
        };
        task.windows = first..first + task.windows.len();
    }
    inputs
}

/// Adds the values of the windows before to those of a sum. Both are of one part; the longer windows have more places.
fn added(before: &Opened, opened: Opened) -> Result<Opened, OwnerError> {
    let Opened { part, channel, mut values } = opened;
    if values.len() < before.values.len() {
        values.resize(before.values.len(), 0);
    }
    for (value, before) in values.iter_mut().zip(&before.values) {
        *value = value.checked_add(*before).ok_or_else(|| OwnerError::wrong("a sum is too large"))?;
    }
    Ok(Opened { part, channel, values })
}

#[cfg(test)]
mod tests;
