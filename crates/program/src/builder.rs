//! A builder that makes a program one operation at a time.

use alloc::string::String;
use alloc::vec::Vec;

use crate::{
    Constant, ConstantId, InputDeclaration, InputId, NodeId, Op, Program, ProgramError, ProgramParts,
};

/// Collects operations. Nodes are numbered in the order of the calls.
///
/// ```
/// use sotto_program::ProgramBuilder;
/// let mut asked = ProgramBuilder::new();
/// let load = asked.input("load", 127.0);
/// let square = asked.mul(load, load);
/// let total = asked.sum(square, 64);
/// asked.output("sum-of-squares", total);
/// assert_eq!(asked.finish()?.depth().encrypted, 1);
/// # Ok::<(), sotto_program::ProgramError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ProgramBuilder {
    pub(crate) parts: ProgramParts,
}

impl ProgramBuilder {
    /// Returns an empty builder.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of nodes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.parts.ops.len()
    }

    /// Returns true if there is no node yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.parts.ops.is_empty()
    }

    /// Declares an input whose every |value| is at most `magnitude`, without reading it.
    pub fn declare(&mut self, name: impl Into<String>, magnitude: f64) -> InputId {
        self.parts.inputs.push(InputDeclaration::new(name, magnitude));
        InputId::at(self.parts.inputs.len() - 1)
    }

    /// Adds a node with the value of a declared input.
    pub fn read(&mut self, input: InputId) -> NodeId {
        self.push(Op::Input(input))
    }

    /// Declares an input under the answer's key and reads it.
    pub fn input(&mut self, name: impl Into<String>, magnitude: f64) -> NodeId {
        let id = self.declare(name, magnitude);
        self.read(id)
    }

    /// Adds a public constant.
    pub fn constant(&mut self, constant: Constant) -> NodeId {
        self.parts.constants.push(constant);
        let id = ConstantId::at(self.parts.constants.len() - 1);
        self.push(Op::Constant(id))
    }

    /// Adds a constant with the same whole number in every slot.
    pub fn integer(&mut self, value: i128) -> NodeId {
        self.constant(Constant::Integers(vec![value]))
    }

    /// Adds a constant with the same real in every slot.
    pub fn real(&mut self, value: f64) -> NodeId {
        self.constant(Constant::Reals(vec![value]))
    }

    /// Adds an operation.
    pub fn push(&mut self, op: Op) -> NodeId {
        self.parts.ops.push(op);
        NodeId::at(self.parts.ops.len() - 1)
    }

    /// Adds `a + b`, slot by slot.
    pub fn add(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.push(Op::Add(a, b))
    }

    /// Adds `a − b`.
    pub fn sub(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.push(Op::Sub(a, b))
    }

    /// Adds `−a`.
    pub fn neg(&mut self, a: NodeId) -> NodeId {
        self.push(Op::Neg(a))
    }

    /// Adds `a · b`.
    pub fn mul(&mut self, a: NodeId, b: NodeId) -> NodeId {
        self.push(Op::Mul(a, b))
    }

    /// Adds a rotation of every row by `steps` slots to the left.
    pub fn rotate(&mut self, a: NodeId, steps: i32) -> NodeId {
        self.push(Op::Rotate(a, steps))
    }

    /// Adds sums of `width` neighbours.
    pub fn sum(&mut self, of: NodeId, width: u32) -> NodeId {
        self.push(Op::Sum { of, width })
    }

    /// Adds a look-up in a table of whole numbers that begins at `first`.
    pub fn table(&mut self, of: NodeId, first: i32, values: Vec<i128>) -> NodeId {
        let count = u32::try_from(values.len()).unwrap_or(u32::MAX);
        let values = self.constant(Constant::Integers(values));
        self.push(Op::Table { of, values, first, count })
    }

    /// Adds the signs of reals within ±1, with a gap of 2^-`gap_bits`.
    pub fn sign(&mut self, of: NodeId, gap_bits: u8) -> NodeId {
        self.push(Op::Sign { of, gap_bits })
    }

    /// Adds `base` to a public exponent with the least depth: ⌈log2 exponent⌉ multiplications in a chain.
    ///
    /// The bits of the exponent are taken from the lowest. By induction the product so far is `base^r` with `r < 2^k`,
    /// of depth ≤ k. It is multiplied by `base^(2^k)`, of depth k, which gives depth ≤ k + 1.
    pub fn power(&mut self, base: NodeId, exponent: u32) -> NodeId {
        let mut product: Option<NodeId> = None;
        let (mut square, mut left) = (base, exponent);
        while left > 0 {
            if left & 1 == 1 {
                product = Some(match product {
                    Some(product) => self.mul(product, square),
                    None => square,
                });
            }
            left >>= 1;
            if left > 0 {
                square = self.mul(square, square);
            }
        }
        match product {
            Some(product) => product,
            None => self.integer(1),
        }
    }

    /// Appends a node to the outputs, under this name.
    pub fn output(&mut self, name: impl Into<String>, node: NodeId) -> &mut Self {
        self.parts.outputs.push((name.into(), node));
        self
    }

    /// Makes the program.
    ///
    /// # Errors
    /// Those of [`Program::new`].
    pub fn finish(self) -> Result<Program, ProgramError> {
        Program::new(self.parts)
    }
}
