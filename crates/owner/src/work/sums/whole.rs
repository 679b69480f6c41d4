//! Windows of which the cloud keeps one sum are asked for together.

use std::collections::BTreeMap;

use super::Task;
use crate::quantities::Input;
use crate::windows::Rolled;

/// Returns a kept sum of whose windows a task needs some alone, or with different weights.
pub(super) fn apart(tasks: &[Task], inputs: &[&Input]) -> Option<Rolled> {
    tasks.iter().find_map(|task| {
        // By sum: its windows here, and their weight; None if they have several.
        let mut sums: BTreeMap<u32, (Rolled, u32, Option<i64>)> = BTreeMap::new();
        for at in task.windows.clone() {
            let Some(rolled) = inputs[at].rolled else { continue };
            let weight = task.weights.as_ref().map_or(1, |weights| weights[at - task.windows.start]);
            let (_, count, of_sum) = sums.entry(rolled.number).or_insert((rolled, 0, Some(weight)));
            *count += 1;
            *of_sum = of_sum.filter(|of_sum| *of_sum == weight);
        }
        let is_apart = |(rolled, count, weight): &(Rolled, u32, Option<i64>)| {
            *count != rolled.windows || weight.is_none()
        };
        sums.into_values().find(is_apart).map(|(rolled, ..)| rolled)
    })
}

/// Returns the number of windows, from the first of these on, that are in the same sum: 1 without one.
pub(super) fn together(inputs: &[&Input]) -> usize {
    let Some(first) = inputs.first() else { return 0 };
    let of_sum =
        inputs.iter().take_while(|input| input.rolled.is_some() && input.rolled == first.rolled).count();
    of_sum.max(1)
}
