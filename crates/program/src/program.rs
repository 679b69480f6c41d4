//! Programs in SSA form.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

use serde::{Deserialize, Serialize};

use crate::{Constant, InputDeclaration, NodeId, Op, ProgramError, ProgramParts, SlotShape, validate};

/// A valid program: operands precede uses, every reference exists, and all sizes are within [`crate::limits`]. Reading
/// one from JSON performs the same checks.
///
/// ```
/// use sotto_program::{Depth, ParseOptions, Program, parse};
///
/// let options = ParseOptions { undeclared: Some(127.0), ..ParseOptions::default() };
/// let program: Program = parse("3 * load^4", &options)?.program;
/// assert_eq!(program.depth(), Depth { encrypted: 2, any: 3 });
/// assert_eq!(program.inputs()[0].name, "load");
/// # Ok::<(), sotto_program::ParseError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ProgramParts", into = "ProgramParts")]
pub struct Program {
    parts: ProgramParts,
}

/// The longest chain of multiplications from an input to an output.
///
/// Example: [`Program`]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Depth {
    /// Multiplications of two encrypted values.
    pub encrypted: u32,
    /// Multiplications of an encrypted value by anything, constants included.
    pub any: u32,
}

impl Program {
    /// Checks the parts and makes a program.
    ///
    /// # Errors
    /// [`ProgramError`] names the first fault.
    pub fn new(parts: ProgramParts) -> Result<Self, ProgramError> {
        validate::parts(&parts)?;
        Ok(Self { parts })
    }

    /// Makes a program without checks, for passes, whose results are valid.
    pub(crate) fn from_pass(parts: ProgramParts) -> Self {
        debug_assert_eq!(validate::parts(&parts), Ok(()));
        Self { parts }
    }

    /// Repeats the checks of [`Program::new`].
    ///
    /// # Errors
    /// Those of [`Program::new`]; none occur, because the parts cannot change.
    pub fn validate(&self) -> Result<(), ProgramError> {
        validate::parts(&self.parts)
    }

    /// Checks that the program can run on slots of this shape: sums are no wider than a row, constants no longer than
    /// all slots.
    ///
    /// # Errors
    /// [`ProgramError`] names the first node or constant that does not fit.
    pub fn fits(&self, shape: SlotShape) -> Result<(), ProgramError> {
        validate::fits(&self.parts, shape)
    }

    /// Returns the operations; node `i` is `ops()[i]`.
    #[must_use]
    pub fn ops(&self) -> &[Op] {
        &self.parts.ops
    }

    /// Returns the operation of one node.
    ///
    /// # Panics
    /// If the node belongs to another, longer program.
    #[must_use]
    pub fn op(&self, node: NodeId) -> Op {
        self.parts.ops[node.index()]
    }

    /// Returns the encrypted inputs in order.
    #[must_use]
    pub fn inputs(&self) -> &[InputDeclaration] {
        &self.parts.inputs
    }

    /// Returns the public constants.
    #[must_use]
    pub fn constants(&self) -> &[Constant] {
        &self.parts.constants
    }

    /// Returns the outputs with their names, in order.
    #[must_use]
    pub fn outputs(&self) -> &[(String, NodeId)] {
        &self.parts.outputs
    }

    pub(crate) fn parts(&self) -> &ProgramParts {
        &self.parts
    }

    /// Returns the parts, to change them and make another program.
    #[must_use]
    pub fn into_parts(self) -> ProgramParts {
        self.parts
    }

    /// Returns every node with its operation, in order.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, Op)> + '_ {
        self.parts.ops.iter().enumerate().map(|(index, &op)| (NodeId::at(index), op))
    }

    /// Returns for each node true if it depends on an input. The other nodes are public and are computed in the clear.
    #[must_use]
    pub fn encrypted(&self) -> Vec<bool> {
        let mut encrypted: Vec<bool> = Vec::with_capacity(self.parts.ops.len());
        for op in &self.parts.ops {
            encrypted.push(matches!(op, Op::Input(_)) || op.operands().any(|from| encrypted[from.index()]));
        }
        encrypted
    }

    /// Returns the longest chain of multiplications that an output needs. A product of two public values does not
    /// count.
    #[must_use]
    pub fn depth(&self) -> Depth {
        let encrypted = self.encrypted();
        let mut depths: Vec<Depth> = Vec::with_capacity(self.parts.ops.len());
        for op in &self.parts.ops {
            let mut depth = op.operands().fold(Depth::default(), |most, from| {
                let from = depths[from.index()];
                Depth { encrypted: most.encrypted.max(from.encrypted), any: most.any.max(from.any) }
            });
            if let Op::Mul(a, b) = *op {
                let operands = [a, b].map(|from| encrypted[from.index()]);
                depth.encrypted += u32::from(operands == [true, true]);
                depth.any += u32::from(operands != [false, false]);
            }
            if let Op::Sign { of, gap_bits } = *op
                && encrypted[of.index()]
            {
                depth.encrypted += sign_depth(gap_bits);
                depth.any += sign_depth(gap_bits);
            }
            depths.push(depth);
        }
        self.parts.outputs.iter().fold(Depth::default(), |most, (_, node)| {
            let depth = depths[node.index()];
            Depth { encrypted: most.encrypted.max(depth.encrypted), any: most.any.max(depth.any) }
        })
    }

    /// Counts the operations by [`Op::name`].
    #[must_use]
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for op in &self.parts.ops {
            *counts.entry(op.name()).or_insert(0) += 1;
        }
        counts
    }
}

/// Returns the levels that the approximation of a sign takes (docs/concepts/comparisons.md, Polynomials).
const fn sign_depth(gap_bits: u8) -> u32 {
    match gap_bits {
        0..=4 => 7,
        5..=6 => 9,
        7..=8 => 12,
        _ => 15,
    }
}

impl TryFrom<ProgramParts> for Program {
    type Error = ProgramError;

    fn try_from(parts: ProgramParts) -> Result<Self, ProgramError> {
        Self::new(parts)
    }
}

impl From<Program> for ProgramParts {
    fn from(program: Program) -> Self {
        program.parts
    }
}
