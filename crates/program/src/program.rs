//! A program: what is asked, in SSA form.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::{Constant, KeyNumber, NodeId, Op, ProgramError, SlotShape, validate};

/// An encrypted input, and what is known of it in the open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct InputDeclaration {
    /// Its name: see [`crate::is_name`].
    pub name: String,
    /// Declared: every |value| is at most this, in the unit the program computes in (for integers, after
    /// quantisation). Finite, at least 0.
    pub magnitude: f64,
    /// Whose secret key it is under. It is no part of what the program means.
    #[serde(default)]
    pub key: KeyNumber,
}

impl InputDeclaration {
    /// An input under the answer's key, with every |value| at most `magnitude`.
    #[must_use]
    pub fn new(name: impl Into<String>, magnitude: f64) -> Self {
        Self { name: name.into(), magnitude, key: KeyNumber::ANSWER }
    }

    /// The same under another key.
    #[must_use]
    pub fn under(self, key: KeyNumber) -> Self {
        Self { key, ..self }
    }
}

/// The parts of a [`Program`], not yet checked.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgramParts {
    /// Operations; node `i` is `ops[i]`, and reads only nodes before it.
    pub ops: Vec<Op>,
    /// Encrypted inputs, in the order they are handed over.
    pub inputs: Vec<InputDeclaration>,
    /// Public constants.
    pub constants: Vec<Constant>,
    /// What is asked for, by name.
    pub outputs: Vec<(String, NodeId)>,
}

/// A program that was checked when it was made: operands precede uses, everything named exists, and all of it is
/// within [`crate::limits`]. Reading one from JSON checks it the same way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "ProgramParts", into = "ProgramParts")]
pub struct Program {
    parts: ProgramParts,
}

/// The longest chain of multiplications from an input to an output.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Depth {
    /// Multiplications of two encrypted values.
    pub encrypted: u32,
    /// Multiplications of an encrypted value by anything, constants included.
    pub any: u32,
}

impl Program {
    /// A program from its parts.
    ///
    /// # Errors
    /// [`ProgramError`] names the first part that is wrong.
    pub fn new(parts: ProgramParts) -> Result<Self, ProgramError> {
        validate::parts(&parts)?;
        Ok(Self { parts })
    }

    /// For passes, which change a program only into another that would be accepted.
    pub(crate) fn from_pass(parts: ProgramParts) -> Self {
        debug_assert_eq!(validate::parts(&parts), Ok(()));
        Self { parts }
    }

    /// Checks again what [`Program::new`] checked.
    ///
    /// # Errors
    /// None in practice; the same ones as [`Program::new`].
    pub fn validate(&self) -> Result<(), ProgramError> {
        validate::parts(&self.parts)
    }

    /// Whether it can run on slots of this shape: sums are no wider than a row, constants no longer than all slots.
    ///
    /// # Errors
    /// The first node or constant that does not fit.
    pub fn fits(&self, shape: SlotShape) -> Result<(), ProgramError> {
        validate::fits(&self.parts, shape)
    }

    /// Operations; node `i` is `ops()[i]`.
    #[must_use]
    pub fn ops(&self) -> &[Op] {
        &self.parts.ops
    }

    /// The operation of one node.
    ///
    /// # Panics
    /// When the node belongs to another, longer program.
    #[must_use]
    pub fn op(&self, node: NodeId) -> Op {
        self.parts.ops[node.index()]
    }

    /// Encrypted inputs in order.
    #[must_use]
    pub fn inputs(&self) -> &[InputDeclaration] {
        &self.parts.inputs
    }

    /// Public constants.
    #[must_use]
    pub fn constants(&self) -> &[Constant] {
        &self.parts.constants
    }

    /// Outputs by name, in order.
    #[must_use]
    pub fn outputs(&self) -> &[(String, NodeId)] {
        &self.parts.outputs
    }

    pub(crate) fn parts(&self) -> &ProgramParts {
        &self.parts
    }

    /// The parts, to change them and make another.
    #[must_use]
    pub fn into_parts(self) -> ProgramParts {
        self.parts
    }

    /// Every node with its operation, in order.
    pub fn nodes(&self) -> impl Iterator<Item = (NodeId, Op)> + '_ {
        self.parts.ops.iter().enumerate().map(|(index, &op)| (NodeId::at(index), op))
    }

    /// For each node, whether it depends on an input: the others are public and are computed in the clear.
    #[must_use]
    pub fn encrypted(&self) -> Vec<bool> {
        let mut encrypted: Vec<bool> = Vec::with_capacity(self.parts.ops.len());
        for op in &self.parts.ops {
            encrypted.push(matches!(op, Op::Input(_)) || op.operands().any(|from| encrypted[from.index()]));
        }
        encrypted
    }

    /// The longest chain of multiplications that an output needs. A multiplication of two public values is none.
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
            depths.push(depth);
        }
        self.parts.outputs.iter().fold(Depth::default(), |most, (_, node)| {
            let depth = depths[node.index()];
            Depth { encrypted: most.encrypted.max(depth.encrypted), any: most.any.max(depth.any) }
        })
    }

    /// How often each operation occurs, by [`Op::name`].
    #[must_use]
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for op in &self.parts.ops {
            *counts.entry(op.name()).or_insert(0) += 1;
        }
        counts
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
