//! Programs to programs of the same meaning, one pass a file.
//!
//! The meaning is [`crate::clear`]'s: on integers exactly the same, on reals too but for the sign of a zero. Inputs and
//! outputs keep their order and their names, so that what is handed in and what comes out stays the same.

mod drop_unused;
mod expand_sums;
mod fold_constants;
mod share_common;

pub use drop_unused::drop_unused;
pub use expand_sums::expand_sums;
pub use fold_constants::fold_constants;
pub use share_common::share_common;

use crate::{NodeId, Op, Program, ProgramError, ProgramParts};

/// All passes: constants folded, sums expanded, equal nodes shared, what nobody reads dropped.
///
/// Equal nodes are shared before sums are expanded, so that they are expanded once, and again after, because sums
/// of different widths begin the same way.
///
/// # Errors
/// [`ProgramError::TooMany`] when the expanded sums are too many operations.
pub fn simplify(program: &Program) -> Result<Program, ProgramError> {
    let shared = drop_unused(&share_common(&fold_constants(program)));
    Ok(drop_unused(&share_common(&expand_sums(&shared)?)))
}

/// A program being written anew: operations come in the order of the old one, and may become several or none.
struct Rewrite {
    parts: ProgramParts,
    /// For each old node, the new one that stands for it.
    stands_for: Vec<NodeId>,
}

impl Rewrite {
    /// Nothing yet; inputs and constants stay.
    fn of(old: &ProgramParts) -> Self {
        let (inputs, constants) = (old.inputs.clone(), old.constants.clone());
        let parts = ProgramParts { inputs, constants, ..ProgramParts::default() };
        Self { parts, stands_for: Vec::with_capacity(old.ops.len()) }
    }

    /// The old operation, reading new nodes.
    fn moved(&self, op: Op) -> Op {
        op.map_operands(|old| self.stands_for[old.index()])
    }

    fn push(&mut self, op: Op) -> NodeId {
        self.parts.ops.push(op);
        NodeId::at(self.parts.ops.len() - 1)
    }

    /// The new parts with the old outputs.
    fn finish(mut self, old: &ProgramParts) -> ProgramParts {
        let moved = |(name, old): &(String, NodeId)| (name.clone(), self.stands_for[old.index()]);
        self.parts.outputs = old.outputs.iter().map(moved).collect();
        self.parts
    }
}
