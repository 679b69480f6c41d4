//! Sums become rotations and additions.

use super::Rewrite;
use crate::{Op, Program, ProgramError};

/// Writes a sum of w neighbours as log2 w times `x + rotate(x, reach)`, with reach 1, 2, 4 …: after a turn, each slot
/// holds the sum of twice as many neighbours. A sum of 1 is its operand.
///
/// # Errors
/// [`ProgramError::TooMany`] when that is too many operations.
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
