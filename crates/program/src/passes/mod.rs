//! Passes: programs to programs of the same meaning, one file each.
//!
//! [`crate::clear`] defines the meaning. Results on integers are identical; results on reals are too, except for the
//! sign of a zero. Inputs and outputs keep their order and names.

mod drop_unused;
mod expand_sums;
mod fold_constants;
mod share_common;

pub use drop_unused::drop_unused;
pub use expand_sums::expand_sums;
pub use fold_constants::fold_constants;
pub use share_common::share_common;

use alloc::string::String;
use alloc::vec::Vec;

use crate::{NodeId, Op, Program, ProgramError, ProgramParts};

/// Runs all passes: folds constants, expands sums, shares equal nodes, drops unused nodes.
///
/// Equal nodes are shared before sums are expanded, so each is expanded once, and again after, because sums of
/// different widths start with the same steps.
///
/// # Errors
/// [`ProgramError::TooMany`] if the expanded sums have too many operations.
pub fn simplify(program: &Program) -> Result<Program, ProgramError> {
    let shared = drop_unused(&share_common(&fold_constants(program)));
    Ok(drop_unused(&share_common(&expand_sums(&shared)?)))
}

/// A program that a pass rewrites: operations stay in order, and each may become several or none.
struct Rewrite {
    parts: ProgramParts,
    /// For each old node, its replacement.
    stands_for: Vec<NodeId>,
}

impl Rewrite {
    /// Starts with the old inputs and constants, and no operations.
    fn of(old: &ProgramParts) -> Self {
        let (inputs, constants) = (old.inputs.clone(), old.constants.clone());
        let parts = ProgramParts { inputs, constants, ..ProgramParts::default() };
        Self { parts, stands_for: Vec::with_capacity(old.ops.len()) }
    }

    /// Returns the old operation with its operands replaced.
    fn moved(&self, op: Op) -> Op {
        op.map_operands(|old| self.stands_for[old.index()])
    }

    fn push(&mut self, op: Op) -> NodeId {
        self.parts.ops.push(op);
        NodeId::at(self.parts.ops.len() - 1)
    }

    /// Returns the new parts with the old outputs.
    fn finish(mut self, old: &ProgramParts) -> ProgramParts {
        let moved = |(name, old): &(String, NodeId)| (name.clone(), self.stands_for[old.index()]);
        self.parts.outputs = old.outputs.iter().map(moved).collect();
        self.parts
    }
}
