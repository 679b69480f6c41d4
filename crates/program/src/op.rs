//! The operations of a program.

use serde::{Deserialize, Serialize};

/// A node of a program: the position of its operation.
///
/// Example: [`Op`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(pub u32);

/// An input of a program: the position of its declaration.
///
/// Example: [`Op`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct InputId(pub u32);

/// A constant: its position in its program or plan.
///
/// Example: [`Op`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ConstantId(pub u32);

macro_rules! index {
    ($($id:ty),*) => {$(
        impl $id {
            /// Returns the position as an index.
            #[must_use]
            pub fn index(self) -> usize {
                self.0 as usize
            }

            /// Returns the id of position `index`. Positions beyond `u32` do not occur: see [`crate::limits`].
            pub(crate) fn at(index: usize) -> Self {
                Self(u32::try_from(index).unwrap_or(u32::MAX))
            }
        }
    )*};
}
index!(NodeId, InputId, ConstantId);

/// One operation on vectors of slots. Operands are earlier nodes. [`crate::clear`] defines the meaning.
///
/// ```
/// use sotto_program::{ConstantId, InputId, NodeId, Op};
///
/// // Node 0 is the load, node 1 the gain, node 2 their product.
/// let ops = [Op::Input(InputId(0)), Op::Constant(ConstantId(0)), Op::Mul(NodeId(0), NodeId(1))];
/// assert_eq!(ops[2].name(), "multiply");
/// assert!(ops[2].operands().eq([NodeId(0), NodeId(1)]));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Op {
    /// The value of an encrypted input.
    Input(InputId),
    /// A public constant.
    Constant(ConstantId),
    /// Slot by slot, first plus second.
    Add(NodeId, NodeId),
    /// Slot by slot, first minus second.
    Sub(NodeId, NodeId),
    /// The negative, slot by slot.
    Neg(NodeId),
    /// Slot by slot, first times second.
    Mul(NodeId, NodeId),
    /// Every row rotated left by this number of slots, right if negative: `out[c] = x[(c + steps) mod columns]`.
    Rotate(NodeId, i32),
    /// In every row `out[c] = Σ x[(c + j) mod columns]` over `0 ≤ j < width`.
    Sum {
        /// The operand.
        of: NodeId,
        /// Number of neighbours: a power of two, at most the columns.
        width: u32,
    },
    /// Slot by slot, the value of a public table: `values[x − first]`. On ciphertexts a slot outside of the table gives
    /// an arbitrary result, in the clear 0. Integers modulo a prime only.
    Table {
        /// The operand.
        of: NodeId,
        /// The table: a public vector.
        values: NodeId,
        /// The operand at which the table begins.
        first: i32,
        /// Number of values, in [`crate::limits::TABLE`].
        count: u32,
    },
    /// Slot by slot, the sign of a real within ±1: in the clear 1, −1, or 0 at 0.
    ///
    /// On ciphertexts it is a composition of polynomials, about 1 or −1 where the operand is at least 2^-`gap_bits` away
    /// from 0; nearer to 0 it lies between, with the operand's sign but for the noise. The planned slot error of an output
    /// that is a sign bounds its distance from the composition at the exact operand, for every operand within ±1; the
    /// error of the composition itself adds to it. A slot beyond ±1 makes all slots arbitrary. CKKS only.
    Sign {
        /// The operand.
        of: NodeId,
        /// Bits of the gap, one of [`crate::limits::GAP_BITS`].
        gap_bits: u8,
    },
}

impl Op {
    /// Returns a short name for lists and counts.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Input(_) => "input",
            Self::Constant(_) => "constant",
            Self::Add(..) => "add",
            Self::Sub(..) => "subtract",
            Self::Neg(_) => "negate",
            Self::Mul(..) => "multiply",
            Self::Rotate(..) => "rotate",
            Self::Sum { .. } => "sum",
            Self::Table { .. } => "table",
            Self::Sign { .. } => "sign",
        }
    }

    /// Returns the nodes that the operation reads, first operand first.
    pub fn operands(&self) -> impl Iterator<Item = NodeId> + use<> {
        let pair = match *self {
            Self::Input(_) | Self::Constant(_) => [None, None],
            Self::Neg(a) | Self::Rotate(a, _) | Self::Sum { of: a, .. } | Self::Sign { of: a, .. } => {
                [Some(a), None]
            }
            Self::Add(a, b) | Self::Sub(a, b) | Self::Mul(a, b) | Self::Table { of: a, values: b, .. } => {
                [Some(a), Some(b)]
            }
        };
        pair.into_iter().flatten()
    }

    /// Returns the same operation on other nodes.
    #[must_use]
    pub fn map_operands(self, mut to: impl FnMut(NodeId) -> NodeId) -> Self {
        match self {
            Self::Input(_) | Self::Constant(_) => self,
            Self::Add(a, b) => Self::Add(to(a), to(b)),
            Self::Sub(a, b) => Self::Sub(to(a), to(b)),
            Self::Neg(a) => Self::Neg(to(a)),
            Self::Mul(a, b) => Self::Mul(to(a), to(b)),
            Self::Rotate(a, steps) => Self::Rotate(to(a), steps),
            Self::Sum { of, width } => Self::Sum { of: to(of), width },
            Self::Table { of, values, first, count } => {
                Self::Table { of: to(of), values: to(values), first, count }
            }
            Self::Sign { of, gap_bits } => Self::Sign { of: to(of), gap_bits },
        }
    }
}
