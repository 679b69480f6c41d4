//! The evaluator, generic in its arithmetic.

use alloc::vec::Vec;

use crate::{Constant, ConstantId, NodeId, Op, Program, SlotShape};

/// The arithmetic of an evaluation: its numbers and its errors.
///
/// This arithmetic computes the unit of an answer: a value's number is its power of °C.
///
/// ```
/// use sotto_program::clear::{ClearArithmetic, evaluate};
/// use sotto_program::{Constant, ConstantId, NodeId, ParseOptions, SlotShape, parse};
///
/// struct PowersOfCelsius;
/// impl ClearArithmetic for PowersOfCelsius {
///     type Number = u32;
///     type Error = NodeId; // the node that adds different units
///     fn constant(&self, _: ConstantId, _: &Constant, slots: usize) -> Result<Vec<u32>, NodeId> {
///         Ok(vec![0; slots])
///     }
///     fn add(&self, at: NodeId, a: &u32, b: &u32) -> Result<u32, NodeId> {
///         if a == b { Ok(*a) } else { Err(at) }
///     }
///     fn sub(&self, at: NodeId, a: &u32, b: &u32) -> Result<u32, NodeId> {
///         self.add(at, a, b)
///     }
///     fn neg(&self, _: NodeId, a: &u32) -> Result<u32, NodeId> {
///         Ok(*a)
///     }
///     fn mul(&self, _: NodeId, a: &u32, b: &u32) -> Result<u32, NodeId> {
///         Ok(a + b)
///     }
///     fn look_up(&self, _: NodeId, _: &u32, _: &[u32], _: i32) -> Result<u32, NodeId> {
///         Ok(0)
///     }
///     fn sign(&self, _: NodeId, _: &u32) -> Result<u32, NodeId> {
///         Ok(0)
///     }
/// }
///
/// let options = ParseOptions { undeclared: Some(120.0), ..ParseOptions::default() };
/// let unit = |text| {
///     let asked = parse(text, &options).expect("an expression").program;
///     evaluate(&PowersOfCelsius, &asked, &[vec![1]], SlotShape::SCALAR, |_, _| {})
/// };
/// assert_eq!(unit("3 * boiler^2"), Ok(vec![vec![2]]));
/// assert_eq!(unit("boiler^2 + boiler"), Err(NodeId(2)));
/// ```
pub trait ClearArithmetic {
    /// The value of one slot.
    type Number: Clone;
    /// The error of an operation; [`std::convert::Infallible`] if none can fail.
    type Error;

    /// Returns the values of a constant in all `slots`. A single value fills every slot; several values fill the first
    /// slots.
    ///
    /// # Errors
    /// If the constant is not of these numbers.
    fn constant(
        &self,
        id: ConstantId,
        constant: &Constant,
        slots: usize,
    ) -> Result<Vec<Self::Number>, Self::Error>;
    /// Returns `a + b`.
    ///
    /// # Errors
    /// If the result is not one of these numbers. `at` is the node that is computed.
    fn add(&self, at: NodeId, a: &Self::Number, b: &Self::Number) -> Result<Self::Number, Self::Error>;
    /// Returns `a − b`.
    ///
    /// # Errors
    /// Those of [`ClearArithmetic::add`].
    fn sub(&self, at: NodeId, a: &Self::Number, b: &Self::Number) -> Result<Self::Number, Self::Error>;
    /// Returns `−a`.
    ///
    /// # Errors
    /// Those of [`ClearArithmetic::add`].
    fn neg(&self, at: NodeId, a: &Self::Number) -> Result<Self::Number, Self::Error>;
    /// Returns `a · b`.
    ///
    /// # Errors
    /// Those of [`ClearArithmetic::add`].
    fn mul(&self, at: NodeId, a: &Self::Number, b: &Self::Number) -> Result<Self::Number, Self::Error>;
    /// Returns `table[a − first]`, 0 outside of the table.
    ///
    /// # Errors
    /// Those of [`ClearArithmetic::add`].
    fn look_up(
        &self,
        at: NodeId,
        a: &Self::Number,
        table: &[Self::Number],
        first: i32,
    ) -> Result<Self::Number, Self::Error>;
    /// Returns 1 above 0, −1 below, and 0 at 0.
    ///
    /// # Errors
    /// Those of [`ClearArithmetic::add`].
    fn sign(&self, at: NodeId, a: &Self::Number) -> Result<Self::Number, Self::Error>;
}

/// Fills all slots: with `given` if it is one value, else with `given` in the first slots and `zero` in the others.
pub(super) fn spread<N: Clone>(mut given: Vec<N>, slots: usize, zero: N) -> Vec<N> {
    let fill = match given.as_slice() {
        [one] => one.clone(),
        _ => zero,
    };
    given.resize(slots, fill);
    given
}

/// Rotates every row: `out[c] = x[(c + steps) mod columns]`.
fn rotated<N: Clone>(x: &[N], columns: usize, steps: usize) -> Vec<N> {
    let mut out = x.to_vec();
    for row in out.chunks_exact_mut(columns) {
        row.rotate_left(steps % columns);
    }
    out
}

fn zipped<N, E>(a: &[N], b: &[N], with: impl Fn(&N, &N) -> Result<N, E>) -> Result<Vec<N>, E> {
    a.iter().zip(b).map(|(a, b)| with(a, b)).collect()
}

/// Runs a program and returns its outputs in order. Calls `observe` with the value of every node.
///
/// Every input must have exactly `shape.slots()` values. A sum adds neighbours pairwise, then pairs, and so on, in the
/// same order as on ciphertexts. Values are dropped after their last use.
///
/// # Errors
/// The first error of the arithmetic.
///
/// # Panics
/// If an input is missing or does not have `shape.slots()` values.
pub fn evaluate<A: ClearArithmetic>(
    arithmetic: &A,
    program: &Program,
    inputs: &[Vec<A::Number>],
    shape: SlotShape,
    mut observe: impl FnMut(NodeId, &[A::Number]),
) -> Result<Vec<Vec<A::Number>>, A::Error> {
    let (slots, columns) = (shape.slots(), shape.columns as usize);
    assert!(inputs.iter().all(|input| input.len() == slots), "every input has one value a slot");
    let mut uses = remaining_uses(program);
    let mut values: Vec<Vec<A::Number>> = Vec::with_capacity(program.ops().len());
    for (at, op) in program.nodes() {
        let of = |node: NodeId| values[node.index()].as_slice();
        let value = match op {
            Op::Input(id) => inputs[id.index()].clone(),
            Op::Constant(id) => arithmetic.constant(id, &program.constants()[id.index()], slots)?,
            Op::Add(a, b) => zipped(of(a), of(b), |a, b| arithmetic.add(at, a, b))?,
            Op::Sub(a, b) => zipped(of(a), of(b), |a, b| arithmetic.sub(at, a, b))?,
            Op::Mul(a, b) => zipped(of(a), of(b), |a, b| arithmetic.mul(at, a, b))?,
            Op::Neg(a) => of(a).iter().map(|a| arithmetic.neg(at, a)).collect::<Result<_, _>>()?,
            Op::Rotate(a, steps) => {
                // The remainder is in 0 … columns − 1, and there are at most 2^17 columns.
                let steps = i64::from(steps).rem_euclid(i64::from(shape.columns)) as usize;
                rotated(of(a), columns, steps)
            }
            Op::Table { of: a, values, first, count } => {
                // Validated: the operand `values` is a constant, which fills as many slots as it has values.
                let table = &of(values)[..(count as usize).min(slots)];
                of(a).iter().map(|a| arithmetic.look_up(at, a, table, first)).collect::<Result<_, _>>()?
            }
            Op::Sign { of: a, .. } => {
                of(a).iter().map(|a| arithmetic.sign(at, a)).collect::<Result<_, _>>()?
            }
            Op::Sum { of: a, width } => {
                let mut total = of(a).to_vec();
                let mut reach = 1;
                while reach < width {
                    let ahead = rotated(&total, columns, reach as usize);
                    total = zipped(&total, &ahead, |a, b| arithmetic.add(at, a, b))?;
                    reach *= 2;
                }
                total
            }
        };
        observe(at, &value);
        values.push(if uses[at.index()] == 0 { Vec::new() } else { value });
        for operand in op.operands() {
            uses[operand.index()] -= 1;
            if uses[operand.index()] == 0 {
                values[operand.index()] = Vec::new();
            }
        }
    }
    Ok(program.outputs().iter().map(|(_, node)| values[node.index()].clone()).collect())
}

/// Counts the uses of each node. An output counts as a use, so its value is never dropped.
fn remaining_uses(program: &Program) -> Vec<u32> {
    let mut uses = vec![0; program.ops().len()];
    let read = program.ops().iter().flat_map(Op::operands);
    for node in read.chain(program.outputs().iter().map(|(_, node)| *node)) {
        uses[node.index()] += 1;
    }
    uses
}
