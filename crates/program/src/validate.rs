//! Validation of programs.

use alloc::collections::BTreeSet;
use alloc::string::String;

use crate::{
    ConstantId, InputId, KeyNumber, NodeId, Op, ProgramParts, SlotShape, is_name, key_number, limits, text,
};

/// The reason why a program is refused.
///
/// Example: [`ProgramParts`]
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ProgramError {
    /// The program exceeds a limit.
    #[error("the program has {count} {what}; at most {limit} are allowed: ask for less in one program")]
    TooMany {
        /// The kind of part.
        what: &'static str,
        /// Number of parts.
        count: usize,
        /// Maximum number of parts.
        limit: usize,
    },
    /// The program has no output.
    #[error("the program has no output: name at least one node as an output")]
    NoOutputs,
    /// A name is empty, too long, or has a character that is not allowed.
    #[error("{name:?} cannot name an {what}: use 1 to 64 of A-Z a-z 0-9 _ . -")]
    Name {
        /// `input` or `output`.
        what: &'static str,
        /// The start of the name, escaped.
        name: String,
    },
    /// Two inputs, or two outputs, have the same name.
    #[error("two {what}s are called {name}: give them different names")]
    DuplicateName {
        /// `input` or `output`.
        what: &'static str,
        /// The repeated name.
        name: String,
    },
    /// A declared magnitude is negative, infinite or not a number.
    #[error("input {} declares the magnitude {magnitude}: it must be finite and at least 0", input.0)]
    Magnitude {
        /// The input's number.
        input: InputId,
        /// The declared magnitude.
        magnitude: f64,
    },
    /// Keys are not numbered in the order of the inputs.
    #[error(
        "input {} is under key {key}: the answer's key is 0, others are numbered from 1 in the order of the inputs, \
         up to 64", input.0
    )]
    KeyNumber {
        /// The input's number.
        input: InputId,
        /// The key's number.
        key: KeyNumber,
    },
    /// A constant has no value, too many values, or one that is not finite.
    #[error("constant {} has {values} values: give 1 to 65536 finite ones", constant.0)]
    Constant {
        /// The constant's number.
        constant: ConstantId,
        /// Number of values.
        values: usize,
    },
    /// A node reads a node that does not precede it.
    #[error("node {} reads node {}, which does not come before it", node.0, operand.0)]
    Operand {
        /// The reading node.
        node: NodeId,
        /// The node that it reads.
        operand: NodeId,
    },
    /// A node reads an input or a constant that is not declared.
    #[error("node {} reads a missing {what}, number {index}", node.0)]
    Missing {
        /// The reading node.
        node: NodeId,
        /// `input` or `constant`.
        what: &'static str,
        /// The position that it reads.
        index: u32,
    },
    /// An output names a node that does not exist.
    #[error("output {name} is node {}, which does not exist", node.0)]
    MissingOutput {
        /// The output.
        name: String,
        /// The node's number.
        node: NodeId,
    },
    /// A rotation is longer than any row.
    #[error("node {} rotates by {steps} slots; at most 65536 either way are allowed", node.0)]
    Rotation {
        /// The node's number.
        node: NodeId,
        /// Slots to the left; negative to the right.
        steps: i32,
    },
    /// The width of a sum is not a power of two, or is too large.
    #[error("node {} sums {width} slots: the width must be a power of two, at most {most}", node.0)]
    Width {
        /// The node's number.
        node: NodeId,
        /// Number of slots in each sum.
        width: u32,
        /// The largest width allowed.
        most: u32,
    },
    /// A constant has more values than slots.
    #[error("constant {} has {values} values and there are {slots} slots", constant.0)]
    ConstantTooLong {
        /// The constant's number.
        constant: ConstantId,
        /// Number of values.
        values: usize,
        /// Number of slots.
        slots: usize,
    },
    /// A table has too few values, or too many.
    #[error(
        "node {} looks up in a table of {count} values: {} to {} are possible",
        node.0, limits::TABLE.start(), limits::TABLE.end()
    )]
    Table {
        /// The node's number.
        node: NodeId,
        /// Number of values.
        count: u32,
    },
    /// The sign of reals is not approximated with this gap.
    #[error("node {} is a sign with a gap of {gap_bits} bits: 4, 6, 8 and 12 are possible", node.0)]
    Gap {
        /// The node's number.
        node: NodeId,
        /// Minus log2 of the gap.
        gap_bits: u8,
    },
    /// A shape has no slots, or more than any parameters provide.
    #[error("{rows} rows of {columns} slots are not allowed: 1 to 131072 slots are possible")]
    Shape {
        /// Number of rows.
        rows: u32,
        /// Number of columns.
        columns: u32,
    },
}

pub(crate) fn at_most(what: &'static str, count: usize, limit: usize) -> Result<(), ProgramError> {
    if count > limit { Err(ProgramError::TooMany { what, count, limit }) } else { Ok(()) }
}

fn names<'a>(what: &'static str, all: impl Iterator<Item = &'a String>) -> Result<(), ProgramError> {
    let mut seen = BTreeSet::new();
    for name in all {
        if !is_name(name) {
            return Err(ProgramError::Name { what, name: text::excerpt(name) });
        }
        if !seen.insert(name) {
            return Err(ProgramError::DuplicateName { what, name: name.clone() });
        }
    }
    Ok(())
}

/// Checks all parts of a program.
pub(crate) fn parts(parts: &ProgramParts) -> Result<(), ProgramError> {
    at_most("operations", parts.ops.len(), limits::NODES)?;
    at_most("inputs", parts.inputs.len(), limits::INPUTS)?;
    at_most("constants", parts.constants.len(), limits::PROGRAM_CONSTANTS)?;
    at_most("outputs", parts.outputs.len(), limits::OUTPUTS)?;
    names("input", parts.inputs.iter().map(|input| &input.name))?;
    names("output", parts.outputs.iter().map(|(name, _)| name))?;
    for (index, input) in parts.inputs.iter().enumerate() {
        if !(input.magnitude.is_finite() && input.magnitude >= 0.0) {
            return Err(ProgramError::Magnitude { input: InputId::at(index), magnitude: input.magnitude });
        }
    }
    if let Some((index, key)) = key_number::first_misnumbered(parts.inputs.iter().map(|input| input.key)) {
        return Err(ProgramError::KeyNumber { input: InputId::at(index), key });
    }
    for (index, constant) in parts.constants.iter().enumerate() {
        if !(1..=limits::VECTOR).contains(&constant.len()) || !constant.is_finite() {
            return Err(ProgramError::Constant { constant: ConstantId::at(index), values: constant.len() });
        }
    }
    for (index, &op) in parts.ops.iter().enumerate() {
        node(parts, NodeId::at(index), op)?;
    }
    if parts.outputs.is_empty() {
        return Err(ProgramError::NoOutputs);
    }
    match parts.outputs.iter().find(|(_, node)| node.index() >= parts.ops.len()) {
        Some((name, node)) => Err(ProgramError::MissingOutput { name: name.clone(), node: *node }),
        None => Ok(()),
    }
}

fn node(parts: &ProgramParts, node: NodeId, op: Op) -> Result<(), ProgramError> {
    if let Some(operand) = op.operands().find(|operand| *operand >= node) {
        return Err(ProgramError::Operand { node, operand });
    }
    match op {
        Op::Input(id) if id.index() >= parts.inputs.len() => {
            Err(ProgramError::Missing { node, what: "input", index: id.0 })
        }
        Op::Constant(id) if id.index() >= parts.constants.len() => {
            Err(ProgramError::Missing { node, what: "constant", index: id.0 })
        }
        Op::Rotate(_, steps) if steps.unsigned_abs() > limits::ROTATION => {
            Err(ProgramError::Rotation { node, steps })
        }
        Op::Table { count, .. } if !limits::TABLE.contains(&count) => {
            Err(ProgramError::Table { node, count })
        }
        Op::Table { values, .. } if !matches!(parts.ops[values.index()], Op::Constant(_)) => {
            Err(ProgramError::Missing { node, what: "constant as a table, node", index: values.0 })
        }
        Op::Sign { gap_bits, .. } if !limits::GAP_BITS.contains(&gap_bits) => {
            Err(ProgramError::Gap { node, gap_bits })
        }
        Op::Sum { width, .. } if !width.is_power_of_two() || width > limits::SUM_WIDTH => {
            Err(ProgramError::Width { node, width, most: limits::SUM_WIDTH })
        }
        _ => Ok(()),
    }
}

/// Checks that a valid program can run on slots of this shape.
pub(crate) fn fits(parts: &ProgramParts, shape: SlotShape) -> Result<(), ProgramError> {
    if !shape.is_valid() {
        return Err(ProgramError::Shape { rows: shape.rows, columns: shape.columns });
    }
    for (index, constant) in parts.constants.iter().enumerate() {
        if constant.len() > shape.slots() {
            let (constant, values) = (ConstantId::at(index), constant.len());
            return Err(ProgramError::ConstantTooLong { constant, values, slots: shape.slots() });
        }
    }
    for (index, op) in parts.ops.iter().enumerate() {
        if let Op::Sum { width, .. } = *op
            && width > shape.columns
        {
            return Err(ProgramError::Width { node: NodeId::at(index), width, most: shape.columns });
        }
    }
    Ok(())
}
