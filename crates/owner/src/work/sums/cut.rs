//! Where the windows of a part are cut into sums.

use std::ops::Range;

use sotto_wire::SumBlocks;

use super::whole::together;
use crate::quantities::Inputs;
use crate::runs::partition_point;

/// Cuts windows in order of time into sums of at most `most`. More than one sum are cut at fixed times, so that windows that
/// come later, or a question that begins later, leave the sums between as they are.
pub(super) fn cut(inputs: &Inputs<'_>, windows: Range<usize>, most: usize) -> Vec<Range<usize>> {
    if windows.len() <= most {
        return vec![windows];
    }
    cut_always(inputs, windows, most)
}

/// Cuts windows in order of time at fixed times, into sums of at most `most`.
pub(super) fn cut_always(inputs: &Inputs<'_>, windows: Range<usize>, most: usize) -> Vec<Range<usize>> {
    let most = most.max(1);
    if windows.is_empty() {
        return Vec::new();
    }
    let first = inputs.at(windows.start).input;
    let blocks = SumBlocks::new(first.window.period, &first.window.layout, most as u64);
    let mut sums: Vec<(Range<usize>, i128)> = Vec::with_capacity(windows.len() / most + 2);
    let mut at = windows.start;
    while at < windows.end {
        let (count, of_block) = unit(inputs, at..windows.end, blocks);
        let mut left = count;
        while left > 0 {
            let is_whole = inputs.at(at).rolled().is_some();
            match sums.last_mut() {
                Some((last, of))
                    if *of == of_block && last.len() + (if is_whole { left } else { 1 }) <= most =>
                {
                    let more = left.min(most - last.len());
                    last.end += more;
                    (at, left) = (at + more, left - more);
                }
                // Windows of which the cloud keeps a sum stay together.
                _ if is_whole => {
                    sums.push((at..at + left, of_block));
                    (at, left) = (at + left, 0);
                }
                _ => sums.push((at..at, of_block)),
            }
        }
    }
    sums.into_iter().map(|(sum, _)| sum).collect()
}

/// Returns how many of these windows, from the first one on, are in one block of time, or in one sum that the cloud keeps, and the
/// block in which they begin.
fn unit(inputs: &Inputs<'_>, windows: Range<usize>, blocks: SumBlocks) -> (usize, i128) {
    let mut runs = inputs.runs(windows.clone());
    let Some(run) = runs.next() else { return (windows.len(), 0) };
    let block_of = |index: u32| blocks.of(run.start(index));
    if run.rolled().is_some() {
        return (together(inputs, windows), block_of(0));
    }
    let end = partition_point(1..run.count.into(), |index| block_of(index as u32) == block_of(0));
    (end as usize, block_of(0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::cache::tests::input;
    use crate::quantities::{Input, Rolled};

    /// Cuts windows one by one.
    fn plainly(inputs: &[Input], most: usize) -> Vec<Range<usize>> {
        if inputs.len() <= most {
            return std::iter::once(0..inputs.len()).collect();
        }
        let block = (360_000 * most as i64 * 15 / 16).max(1);
        let block_of = |at: usize| inputs[at].window.start.div_euclid(block);
        let (mut sums, mut at): (Vec<Range<usize>>, _) = (Vec::new(), 0);
        while at < inputs.len() {
            let of_sum = |input: &&Input| input.rolled.is_some() && input.rolled == inputs[at].rolled;
            let end = at + inputs[at..].iter().take_while(of_sum).count().max(1);
            match sums.last_mut() {
                Some(last) if end - last.start <= most && block_of(last.start) == block_of(at) => {
                    last.end = end;
                }
                _ => sums.push(at..end),
            }
            at = end;
        }
        sums
    }

    proptest! {
        #[test]
        fn runs_are_cut_as_their_windows(
            runs in prop::collection::vec((0_u64..9, 1_u32..40, prop::option::weighted(0.3, 0_u32..3)), 1..12),
            most in 1_usize..60,
        ) {
            let (mut number, mut inputs, mut alone) = (0, Vec::new(), Vec::new());
            for (at, (gap, count, rolled)) in (0..).zip(runs) {
                number += gap;
                let windows = count.min(most as u32);
                let (count, rolled) = match rolled {
                    Some(_) => (windows, Some(Rolled { number: at, windows })),
                    None => (count, None),
                };
                inputs.push(Input { rolled, count, ..input(number) });
                alone.extend((0..u64::from(count)).map(|ahead| Input { rolled, ..input(number + ahead) }));
                number += u64::from(count);
            }
            prop_assert_eq!(cut(&Inputs::of(&inputs), 0..alone.len(), most), plainly(&alone, most));
        }
    }
}
