//! The pass that computes public operations.

use alloc::vec::Vec;

use super::Rewrite;
use super::drop_unused::dropped;
use crate::{Constant, ConstantId, NodeId, Op, Program};

/// Integers up to this bound, and their sums and products up to it, are exact in both i128 and f64.
const EXACT_IN_F64: u128 = 1 << 53;

/// Total number of values that folding may create. Bounds the memory when a long vector is multiplied repeatedly.
const FOLDED_VALUES: usize = 1 << 20;

/// Computes operations on constants, removes rotations by 0 and sums of 1, and drops unused nodes.
///
/// An operation is folded only if its result is the same constant for every shape of slots, exactly on integers and to
/// the last bit on reals. Therefore a vector is not rotated or summed (the columns are not known), a broadcast value is
/// not added to a vector, and integers beyond 2^53 are left alone. Other operations on encrypted values stay, even
/// `x · 1`.
#[must_use]
pub fn fold_constants(program: &Program) -> Program {
    let mut rewrite = Rewrite::of(program.parts());
    let mut budget = FOLDED_VALUES;
    for op in program.ops() {
        let op = rewrite.moved(*op);
        let stands_for = match (op, folded(&rewrite, op).filter(|constant| constant.len() <= budget)) {
            (Op::Rotate(of, 0) | Op::Sum { of, width: 1 }, _) => of,
            (_, Some(constant)) => {
                budget -= constant.len();
                rewrite.parts.constants.push(constant);
                let id = ConstantId::at(rewrite.parts.constants.len() - 1);
                rewrite.push(Op::Constant(id))
            }
            (op, None) => rewrite.push(op),
        };
        rewrite.stands_for.push(stands_for);
    }
    dropped(&rewrite.finish(program.parts()))
}

/// Returns the constant result of `op`, if it is the same for slots of every shape.
fn folded(rewrite: &Rewrite, op: Op) -> Option<Constant> {
    let constant = |node: NodeId| match rewrite.parts.ops[node.index()] {
        Op::Constant(id) => Some(&rewrite.parts.constants[id.index()]),
        _ => None,
    };
    match op {
        Op::Input(_) | Op::Constant(_) | Op::Table { .. } | Op::Sign { .. } => None,
        Op::Neg(a) => zipped(&Constant::Integers(vec![0]), constant(a)?, true, i128::checked_sub, |_, a| -a),
        Op::Add(a, b) => zipped(constant(a)?, constant(b)?, false, i128::checked_add, |a, b| a + b),
        Op::Sub(a, b) => zipped(constant(a)?, constant(b)?, false, i128::checked_sub, |a, b| a - b),
        Op::Mul(a, b) => zipped(constant(a)?, constant(b)?, true, i128::checked_mul, |a, b| a * b),
        Op::Rotate(a, _) => Some(constant(a)?).filter(|constant| constant.is_broadcast()).cloned(),
        Op::Sum { of, width } => {
            let of = Some(constant(of)?).filter(|constant| constant.is_broadcast())?;
            let width = Constant::Integers(vec![i128::from(width)]);
            // A sum doubles its operand repeatedly, which is exact on reals; so is the product by a power of two.
            zipped(of, &width, true, i128::checked_mul, |a, b| a * b)
        }
    }
}

/// Combines two constants slot by slot. `zero_stays`: the result is 0 wherever one operand is 0, so a broadcast value
/// may be combined with a vector, whose slots after the last are 0.
fn zipped(
    a: &Constant,
    b: &Constant,
    zero_stays: bool,
    on_integers: impl Fn(i128, i128) -> Option<i128>,
    on_reals: impl Fn(f64, f64) -> f64,
) -> Option<Constant> {
    if a.is_broadcast() != b.is_broadcast() && !zero_stays {
        return None;
    }
    let length = a.len().max(b.len());
    if let (Some(a), Some(b)) = (a.integers(), b.integers()) {
        let exact = |value: &i128| value.unsigned_abs() <= EXACT_IN_F64;
        let pairs = (0..length).map(|slot| (value_at(a, slot), value_at(b, slot)));
        let fold = |(a, b)| on_integers(a, b).filter(|c| [a, b, *c].iter().all(exact));
        return pairs.map(fold).collect::<Option<_>>().map(Constant::Integers);
    }
    let (a, b) = (a.reals(), b.reals());
    let values: Vec<f64> = (0..length).map(|slot| on_reals(value_at(&a, slot), value_at(&b, slot))).collect();
    values.iter().all(|value| value.is_finite()).then_some(Constant::Reals(values))
}

/// Returns the value of a constant in one slot.
fn value_at<N: Copy + Default>(given: &[N], slot: usize) -> N {
    match given {
        [one] => *one,
        _ => given.get(slot).copied().unwrap_or_default(),
    }
}
