//! Windows of which the cloud keeps one sum are asked for together.

use std::collections::BTreeMap;
use std::ops::Range;

use sotto_wire::StreamHeader;

use super::Task;
use crate::quantities::{Inputs, Rolled};

/// Returns a kept sum of whose windows a task needs some alone, or with different weights.
pub(super) fn apart(stream: &StreamHeader, tasks: &[Task], inputs: &Inputs<'_>) -> Option<Rolled> {
    tasks.iter().find_map(|task| {
        // By sum: its windows here, and their weight; None if they have several.
        let mut sums: BTreeMap<u32, (Rolled, u32, Option<i64>)> = BTreeMap::new();
        // Parts whose values do not add stay window by window.
        if task.each && !task.parts.iter().any(|part| stream.adds(*part)) {
            return None;
        }
        if task.each {
            let rolled = |at: usize| inputs.at(at).rolled().filter(|rolled| rolled.windows > 1);
            return task.with_readings(inputs).into_iter().find_map(rolled);
        }
        let mut at = 0;
        for run in inputs.runs(task.windows.clone()) {
            let windows = at..at + run.count as usize;
            at = windows.end;
            let Some(rolled) = run.rolled() else { continue };
            let (first, alike) = match &task.weights {
                None => (1, true),
                Some(weights) => {
                    let of_run = &weights[windows];
                    (of_run[0], of_run.iter().all(|weight| *weight == of_run[0]))
                }
            };
            let (_, count, of_sum) = sums.entry(rolled.number).or_insert((rolled, 0, Some(first)));
            *count += run.count;
            *of_sum = of_sum.filter(|of_sum| alike && *of_sum == first);
        }
        let is_apart = |(rolled, count, weight): &(Rolled, u32, Option<i64>)| {
            *count != rolled.windows || weight.is_none()
        };
        sums.into_values().find(is_apart).map(|(rolled, ..)| rolled)
    })
}

/// Returns the number of these windows, from the first one on, that are in the same sum: 1 without one.
pub(super) fn together(inputs: &Inputs<'_>, windows: Range<usize>) -> usize {
    if windows.is_empty() {
        return 0;
    }
    let Some(rolled) = inputs.at(windows.start).rolled() else { return 1 };
    let of_sum = inputs.runs(windows).take_while(|run| run.rolled() == Some(rolled));
    of_sum.map(|run| run.count as usize).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::input;
    use crate::quantities::Input;
    use crate::windows::made;
    use crate::work::sums::cut::cut;

    /// Returns windows that are in these sums, each of as many windows as there are.
    fn inputs(of: &[Option<u32>]) -> Vec<Input> {
        let windows = |number: u32| of.iter().filter(|other| **other == Some(number)).count() as u32;
        let rolled = |number: u32| Rolled { number, windows: windows(number) };
        (0..).zip(of).map(|(at, of)| Input { rolled: of.map(rolled), ..input(at) }).collect()
    }

    fn task(windows: std::ops::Range<usize>, weights: Option<Vec<i64>>) -> Task {
        Task { part: 0, windows, parts: vec![0], weights, factor: 1, read: Vec::new(), each: false }
    }

    #[test]
    fn a_sum_is_needed_whole_and_with_one_weight() {
        let all = inputs(&[None, Some(1), Some(1), Some(2), Some(1), Some(2), None]);
        let all = Inputs::of(&all);
        let number = |task| apart(&made::stream(), &[task], &all).map(|rolled| rolled.number);
        for whole in [task(0..7, None), task(0..1, None), task(1..6, Some(vec![2, 2, -1, 2, -1]))] {
            assert_eq!(number(whole), None);
        }
        assert_eq!(number(task(0..5, None)), Some(2));
        assert_eq!(number(task(4..7, None)), Some(1));
        assert_eq!(number(task(1..6, Some(vec![1, 1, 0, 0, 0]))), Some(1));
    }

    #[test]
    fn sums_are_not_cut_within_a_kept_one() {
        let all = inputs(&[None, Some(1), Some(1), Some(1), Some(2), Some(2), None, None]);
        let all = Inputs::of(&all);
        for most in 3..8 {
            let sums = cut(&all, 0..8, most);
            assert_eq!(sums.iter().flat_map(Clone::clone).collect::<Vec<_>>(), (0..8).collect::<Vec<_>>());
            let tasks: Vec<Task> = sums.into_iter().map(|windows| task(windows, None)).collect();
            assert!(tasks.iter().all(|task| task.windows.len() <= most));
            assert_eq!(apart(&made::stream(), &tasks, &all), None, "{most}");
        }
    }
}
