//! The pass that drops unused operations and constants.

use alloc::vec::Vec;

use super::Rewrite;
use crate::{ConstantId, NodeId, Op, Program, ProgramParts};

/// Drops operations and constants that no output depends on. Keeps all declared inputs, because the caller passes
/// values for them.
#[must_use]
pub fn drop_unused(program: &Program) -> Program {
    dropped(program.parts())
}

/// Like [`drop_unused`], for parts whose constants may still exceed the limit.
pub(super) fn dropped(parts: &ProgramParts) -> Program {
    let mut needed = vec![false; parts.ops.len()];
    for (_, node) in &parts.outputs {
        needed[node.index()] = true;
    }
    for (index, op) in parts.ops.iter().enumerate().rev() {
        if needed[index] {
            op.operands().for_each(|operand| needed[operand.index()] = true);
        }
    }
    let mut rewrite = Rewrite::of(parts);
    rewrite.parts.constants.clear();
    let mut constants: Vec<Option<ConstantId>> = vec![None; parts.constants.len()];
    for (index, &op) in parts.ops.iter().enumerate() {
        let stands_for = match op {
            _ if !needed[index] => NodeId(0), // never read
            Op::Constant(old) => {
                let new = *constants[old.index()].get_or_insert_with(|| {
                    rewrite.parts.constants.push(parts.constants[old.index()].clone());
                    ConstantId::at(rewrite.parts.constants.len() - 1)
                });
                rewrite.push(Op::Constant(new))
            }
            op => {
                let op = rewrite.moved(op);
                rewrite.push(op)
            }
        };
        rewrite.stands_for.push(stands_for);
    }
    Program::from_pass(rewrite.finish(parts))
}
