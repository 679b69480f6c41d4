//! Where the windows of a part are cut into sums.

use std::ops::Range;

use super::whole::together;
use crate::quantities::Input;

/// The share of the most windows of a sum that a block of time has, in sixteenths: windows may be shorter than the longest,
/// as days of 24 hours beside one of 25.
const FILLED: i128 = 15;

/// Cuts windows in order of time into sums of at most `most`. More than one sum are cut at fixed times, so that windows that
/// come later, or a question that begins later, leave the sums between as they are.
pub(super) fn cut(inputs: &[&Input], windows: Range<usize>, most: usize) -> Vec<Range<usize>> {
    let most = most.max(1);
    if windows.len() <= most {
        return vec![windows];
    }
    let longest = inputs[windows.start].window.layout.ticks();
    let period = inputs[windows.start].window.period;
    let length = i128::from(period.at(0, longest).max(1));
    let block = (length * most as i128 * FILLED / 16).max(1);
    let block_of = |at: usize| i128::from(inputs[at].window.start).div_euclid(block);
    let mut sums: Vec<Range<usize>> = Vec::with_capacity(windows.len() / most + 2);
    let mut at = windows.start;
    while at < windows.end {
        // Windows of which the cloud keeps a sum stay together.
        let end = at + together(&inputs[at..windows.end]);
        match sums.last_mut() {
            Some(last) if end - last.start <= most && block_of(last.start) == block_of(at) => last.end = end,
            _ => sums.push(at..end),
        }
        at = end;
    }
    sums
}
