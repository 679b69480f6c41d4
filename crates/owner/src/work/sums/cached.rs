//! The sums that are cached, and those that are left to request.

use std::ops::Range;

use sotto_wire::StreamHeader;

use super::Task;
use super::columns::Opened;
use crate::cache::{StreamCache, Sum};
use crate::error::OwnerError;
use crate::quantities::Inputs;

/// The sums of some parts: those that are cached, and those that are not.
pub(super) struct Split<'i> {
    /// Sums that are cached, with their values.
    pub(super) found: Vec<(Task, Vec<Opened>)>,
    /// Sums to request, of positions among `inputs`.
    pub(super) left: Vec<Task>,
    /// The windows of the sums to request, in their order.
    pub(super) inputs: Inputs<'i>,
    /// All windows.
    all: Inputs<'i>,
    /// For each sum to request the whole one.
    wholes: Vec<Whole>,
    /// The window that starts last.
    newest: Option<usize>,
}

/// The sums of a part's first windows, by their number.
type OfFirst = Vec<(usize, Vec<i64>)>;

/// A sum of which some windows are requested.
struct Whole {
    /// Positions among all windows.
    windows: Range<usize>,
    /// The number of its first windows whose sum is cached, and that sum.
    begun: usize,
    before: Vec<Opened>,
}

impl<'i> Split<'i> {
    /// Looks for the sums of tasks in a cache. Without one all are to be requested.
    pub(super) fn of(tasks: Vec<Task>, all: Inputs<'i>, cache: Option<&mut StreamCache>) -> Self {
        let newest = newest(&all);
        let mut found = Vec::new();
        let Some(cache) = cache else {
            let whole = |task: &Task| Whole { windows: task.windows.clone(), begun: 0, before: Vec::new() };
            let wholes = tasks.iter().map(whole).collect();
            return Self { found, left: tasks, inputs: all.clone(), all, wholes, newest };
        };
        let mut to_request: Vec<(Task, Whole)> = Vec::with_capacity(tasks.len());
        for mut task in tasks {
            let (begun, before) = longest(&task, &all, cache);
            if begun == task.windows.len() {
                found.push((task, before));
                continue;
            }
            let windows = task.windows.clone();
            task.windows.start += begun;
            to_request.push((task, Whole { windows, begun, before }));
        }
        to_request.sort_by_key(|(task, _)| task.windows.start);
        let (mut left, wholes): (Vec<Task>, Vec<Whole>) = to_request.into_iter().unzip();
        let inputs = moved_together(&mut left, &all);
        Self { found, left, inputs, all, wholes, newest }
    }

    /// Returns the number of windows that are not requested.
    pub(super) fn cached_windows(&self) -> u64 {
        (self.all.len() - self.inputs.len()) as u64
    }

    /// Returns the number of sums that are cached, and of those that begin with one.
    pub(super) fn cached_sums(&self) -> u64 {
        (self.found.len() + self.wholes.iter().filter(|whole| whole.begun > 0).count()) as u64
    }

    /// Returns the whole of a requested sum: its task, of positions among all windows, and its values.
    pub(super) fn whole(&self, at: usize, opened: Vec<Opened>) -> Result<(Task, Vec<Opened>), OwnerError> {
        let Whole { windows, before, .. } = &self.wholes[at];
        let task = Task { windows: windows.clone(), ..self.left[at].clone() };
        let whole = opened.into_iter().map(|opened| {
            let before = before.iter().find(|before| before.part == opened.part);
            match before {
                Some(before) => added(before, opened),
                None => Ok(opened),
            }
        });
        Ok((task, whole.collect::<Result<_, _>>()?))
    }

    /// Puts the whole of a requested sum into the cache.
    pub(super) fn keep(&self, at: usize, whole: &[Opened], stream: &StreamHeader, cache: &mut StreamCache) {
        let Whole { windows, begun, .. } = &self.wholes[at];
        let is_newest = self.newest.is_some_and(|newest| windows.contains(&newest));
        let (inputs, weights) = (&self.all, self.left[at].weights.as_deref());
        for Opened { part, values } in whole {
            let Some(described) = stream.parts().get(usize::from(*part)) else { continue };
            let bits = described.quantities.iter().map(|placed| placed.width).max().unwrap_or_default();
            let sum = Sum { part: *part, inputs, windows, weights };
            cache.add(sum, values, bits, *begun, is_newest && weights.is_none());
        }
    }
}

/// Returns the most of a task's first windows whose sums are cached for all its parts, and these sums.
fn longest(task: &Task, inputs: &Inputs<'_>, cache: &mut StreamCache) -> (usize, Vec<Opened>) {
    let (windows, weights) = (&task.windows, task.weights.as_deref());
    let find = |part: &u8| (*part, cache.find(Sum { part: *part, inputs, windows, weights }));
    let mut of_parts: Vec<(u8, OfFirst)> = task.parts.iter().map(find).collect();
    let counts = of_parts.first().map(|(_, sums)| sums.iter().rev().map(|(count, _)| *count));
    let in_all = |count: &usize| {
        of_parts.iter().all(|(_, sums)| sums.binary_search_by_key(count, |(count, _)| *count).is_ok())
    };
    let Some(count) = counts.and_then(|mut counts| counts.find(in_all)) else { return (0, Vec::new()) };
    let opened = of_parts.iter_mut().filter_map(|(part, sums)| {
        let (_, values) = sums.iter_mut().find(|(of, _)| *of == count)?;
        Some(Opened { part: *part, values: std::mem::take(values) })
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
    let Opened { part, mut values } = opened;
    if values.len() < before.values.len() {
        values.resize(before.values.len(), 0);
    }
    for (value, before) in values.iter_mut().zip(&before.values) {
        *value = value.checked_add(*before).ok_or_else(|| OwnerError::wrong("a sum is too large"))?;
    }
    Ok(Opened { part, values })
}

#[cfg(test)]
mod tests;
