//! What is public is computed now.

use super::Rewrite;
use super::drop_unused::dropped;
use crate::{Constant, ConstantId, NodeId, Op, Program};

/// Integers up to here, and their sums and products up to here, are the same as i128 and as f64.
const EXACT_IN_F64: u128 = 1 << 53;

/// Values that folding may write in all, so that a long vector multiplied again and again does not fill the memory.
const FOLDED_VALUES: usize = 1 << 20;

/// Computes operations on constants alone, and leaves out rotations by 0 and sums of 1. What nobody reads any more goes.
///
/// No surprises: an operation is folded only if the result is the same constant whatever the slots are, on integers
/// exactly and on reals to the last bit. So a vector is not rotated or summed (the columns are not known), a value
/// repeated in every slot is not added to a vector, integers beyond 2^53 are left alone, and no operation on an
/// encrypted value goes, not even `x · 1`.
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

/// The constant that `op` is, when it is one on slots of every shape.
fn folded(rewrite: &Rewrite, op: Op) -> Option<Constant> {
    let constant = |node: NodeId| match rewrite.parts.ops[node.index()] {
        Op::Constant(id) => Some(&rewrite.parts.constants[id.index()]),
        _ => None,
    };
    match op {
        Op::Input(_) | Op::Constant(_) => None,
        Op::Neg(a) => zipped(&Constant::Integers(vec![0]), constant(a)?, true, i128::checked_sub, |_, a| -a),
        Op::Add(a, b) => zipped(constant(a)?, constant(b)?, false, i128::checked_add, |a, b| a + b),
        Op::Sub(a, b) => zipped(constant(a)?, constant(b)?, false, i128::checked_sub, |a, b| a - b),
        Op::Mul(a, b) => zipped(constant(a)?, constant(b)?, true, i128::checked_mul, |a, b| a * b),
        Op::Rotate(a, _) => Some(constant(a)?).filter(|constant| constant.is_broadcast()).cloned(),
        Op::Sum { of, width } => {
            let of = Some(constant(of)?).filter(|constant| constant.is_broadcast())?;
            let width = Constant::Integers(vec![i128::from(width)]);
            // Doubling, as the sum does, is exact on reals; so is the product by a power of two.
            zipped(of, &width, true, i128::checked_mul, |a, b| a * b)
        }
    }
}

/// The two constants slot by slot. `zero_stays`: a slot where one of them is 0 gives 0, so that a value in every
/// slot may meet a vector, whose slots after the last are 0.
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

/// The value of a constant in one slot.
fn value_at<N: Copy + Default>(given: &[N], slot: usize) -> N {
    match given {
        [one] => *one,
        _ => given.get(slot).copied().unwrap_or_default(),
    }
}
