//! Random programs and inputs, all valid on [`SHAPE`].

use proptest::prelude::*;
use sotto_program::{Constant, NodeId, Op, Program, ProgramBuilder, SlotShape};

/// Two rows, as in BFV.
pub(crate) const SHAPE: SlotShape = SlotShape { rows: 2, columns: 8 };
pub(crate) const INPUTS: usize = 3;
pub(crate) const MAGNITUDE: f64 = 9.0;

fn constant() -> impl Strategy<Value = Constant> {
    prop_oneof![
        (-5i128..=5).prop_map(|value| Constant::Integers(vec![value])),
        prop::collection::vec(-5i128..=5, 2..=SHAPE.slots()).prop_map(Constant::Integers),
    ]
}

fn real_constant() -> impl Strategy<Value = Constant> {
    prop_oneof![constant(), prop::collection::vec(-2.0..2.0f64, 1..=4).prop_map(Constant::Reals)]
}

/// An operation. Its operands are chosen among the earlier nodes.
type Seed = (u8, prop::sample::Index, prop::sample::Index, i32, u32);

fn seeds() -> impl Strategy<Value = Vec<Seed>> {
    prop::collection::vec(
        (0u8..8, any::<prop::sample::Index>(), any::<prop::sample::Index>(), -20..=20i32, 0u32..=3),
        1..24,
    )
}

fn build(constants: Vec<Constant>, seeds: Vec<Seed>) -> Program {
    let mut asked = ProgramBuilder::new();
    for input in 0..INPUTS {
        asked.input(format!("input-{input}"), MAGNITUDE);
    }
    for constant in constants {
        asked.constant(constant);
    }
    let mut multiplications = 0;
    for (kind, a, b, steps, log_width) in seeds {
        let node = |index: prop::sample::Index| NodeId(index.index(asked.len()) as u32);
        let (a, b) = (node(a), node(b));
        // Few products, so that exact results fit 128 bits.
        multiplications += u32::from(kind == 4 || kind == 5);
        asked.push(match kind {
            0 | 1 => Op::Add(a, b),
            2 => Op::Sub(a, b),
            3 => Op::Neg(a),
            4 | 5 if multiplications <= 3 => Op::Mul(a, b),
            6 => Op::Sum { of: a, width: 1 << log_width },
            _ => Op::Rotate(a, steps),
        });
    }
    let last = asked.len() as u32 - 1;
    asked.output("last", NodeId(last)).output("middle", NodeId(last / 2));
    asked.finish().unwrap()
}

/// Programs whose constants are whole.
pub(crate) fn integer_program() -> impl Strategy<Value = Program> {
    (prop::collection::vec(constant(), 1..4), seeds()).prop_map(|(constants, seeds)| build(constants, seeds))
}

/// Programs with any constants.
pub(crate) fn real_program() -> impl Strategy<Value = Program> {
    (prop::collection::vec(real_constant(), 1..4), seeds())
        .prop_map(|(constants, seeds)| build(constants, seeds))
}

/// Inputs within their declared magnitude, extremes included.
pub(crate) fn integers() -> impl Strategy<Value = Vec<Vec<i128>>> {
    let value = prop_oneof![-9i128..=9, Just(9), Just(-9)];
    prop::collection::vec(prop::collection::vec(value, 0..=SHAPE.slots()), INPUTS)
}

pub(crate) fn reals(of: &[Vec<i128>]) -> Vec<Vec<f64>> {
    of.iter().map(|values| values.iter().map(|&value| value as f64).collect()).collect()
}
