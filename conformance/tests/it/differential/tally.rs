//! Judges answers and counts them.

use std::collections::BTreeMap;
use std::time::Duration;

use sotto_engine::Said as _;
use sotto_harness::protocol::{Node, Program, Values};

use crate::differential::values::Comparable;

/// Largest allowed error of another engine's reals, in units of sotto's bound for its own. The other engine has the
/// same primes, scale, levels, and kinds of secret and error, so its noise is of the same size, with two exceptions. It
/// encrypts with less noise (at the level of keys, one prime dropped after). And SEAL does not centre the digits of a
/// key switch, so that in the few slots whose root is nearest to 1 the error of a rotation is some 25 times ours (n =
/// 4096). In 1,000 programs each the largest error was 0.81 of our bound for SEAL, 0.06 for Lattigo and 0.08 for sotto;
/// twice the bound leaves room for other draws.
const OTHER_WITHIN: f64 = 2.0;

/// The results of all programs.
#[derive(Default)]
pub(crate) struct Tally {
    pub(crate) programs: usize,
    pub(crate) refused: usize,
    pub(crate) operations: BTreeMap<&'static str, usize>,
    pub(crate) depths: BTreeMap<usize, usize>,
    /// The largest error in units of the bound: ours, theirs.
    pub(crate) worst: [f64; 2],
    pub(crate) largest_bound: f64,
    pub(crate) faults: Vec<String>,
}

impl Tally {
    /// Prints the results.
    pub(crate) fn report<S: Comparable>(&self, engine: &str, elapsed: Duration) {
        let name = format!("{} and {engine}", S::ID);
        println!(
            "{name}: {} programs in {:.1} s, {} disagreements; the planner refused {} others",
            self.programs,
            elapsed.as_secs_f64(),
            self.faults.len(),
            self.refused
        );
        println!("{name}: operations {:?}; products in a row {:?}", self.operations, self.depths);
        if !S::EXACT {
            println!(
                "{name}: the largest error is {:.3} bounds for sotto and {:.3} for {}; the largest bound {:.2e}",
                self.worst[0], self.worst[1], engine, self.largest_bound
            );
        }
    }

    /// Counts one more program.
    pub(crate) fn count(&mut self, program: &Program) {
        self.programs += 1;
        let mut depths = vec![0; program.nodes.len()];
        for (index, node) in program.nodes.iter().enumerate() {
            let (name, depth) = match *node {
                Node::Input { .. } | Node::Constant { .. } => continue,
                Node::Add { a, b } => ("add", depths[a].max(depths[b])),
                Node::Sub { a, b } => ("sub", depths[a].max(depths[b])),
                Node::Mul { a, b } => ("mul", 1 + depths[a].max(depths[b])),
                Node::Neg { a } => ("neg", depths[a]),
                Node::Rotate { a, .. } => ("rotate", depths[a]),
                Node::SwapRows { a } => ("swap", depths[a]),
            };
            depths[index] = depth;
            *self.operations.entry(name).or_default() += 1;
        }
        let deepest = depths.into_iter().max().unwrap_or(0);
        *self.depths.entry(deepest).or_default() += 1;
    }

    /// Returns the fault of an answer, or None.
    pub(crate) fn judge<S: Comparable>(
        &mut self,
        who: usize,
        outputs: &[Values],
        bounds: &[f64],
        program: &Program,
        clear: &[Vec<S::Value>],
    ) -> Option<String> {
        if outputs.len() != program.outputs.len() {
            return Some(format!("{} outputs in place of {}", outputs.len(), program.outputs.len()));
        }
        for (number, (output, node)) in outputs.iter().zip(&program.outputs).enumerate() {
            let Some(found) = S::Value::read(output).filter(|found| found.len() == clear[*node].len()) else {
                return Some(format!("output {number} is not as many numbers as there are slots"));
            };
            let bound = bounds.get(number).copied().unwrap_or(0.0);
            let allowed = if who == 0 { bound } else { OTHER_WITHIN * bound };
            self.largest_bound = self.largest_bound.max(bound);
            for (slot, (found, expected)) in found.iter().zip(&clear[*node]).enumerate() {
                let distance = S::distance(*found, *expected);
                if bound > 0.0 {
                    self.worst[who] = self.worst[who].max(distance / bound);
                }
                // NaN is no answer.
                if distance.is_nan() || distance > allowed {
                    return Some(format!(
                        "output {number}, slot {slot} is {found:?}, not {expected:?} (bound {bound:e})"
                    ));
                }
            }
        }
        None
    }
}

/// Returns the program with its long constants cut short; its number reproduces it.
pub(crate) fn shown(program: &Program) -> String {
    let nodes = program.nodes.iter().map(|node| {
        let text = format!("{node:?}");
        if text.len() > 120 { format!("{} …", text.chars().take(120).collect::<String>()) } else { text }
    });
    format!("{} → {:?}", nodes.collect::<Vec<_>>().join("; "), program.outputs)
}
