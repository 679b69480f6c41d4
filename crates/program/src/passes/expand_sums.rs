//! The pass that replaces sums by rotations and additions.

use super::Rewrite;
use crate::{Op, Program, ProgramError};

/// Replaces a sum of w neighbours by log2 w times `x + rotate(x, reach)`, with reach 1, 2, 4 …. Each turn doubles the
/// number of neighbours summed in a slot. A sum of 1 becomes its operand.
///
/// # Errors
/// [`ProgramError::TooMany`] if the result has too many operations.
pub fn expand_sums(program: &Program) -> Result<Program, ProgramError> {
    let mut rewrite = Rewrite::of(program.parts());
    for op in program.ops() {
        let stands_for = match rewrite.moved(*op) {
            Op::Sum { of, width } => (0..width.trailing_zeros()).fold(of, |total, turn| {
                let ahead = rewrite.push(Op::Rotate(total, 1 << turn));
                rewrite.push(Op::Add(total, ahead))
            }),
            op => rewrite.push(op),
        };
        rewrite.stands_for.push(stands_for);
    }
    Program::new(rewrite.finish(program.parts()))
}
