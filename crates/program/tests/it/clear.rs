//! The meaning of programs in the clear, and the bounds on their values.

use crate::random;

use proptest::prelude::*;
use random::{SHAPE, integer_program, integers, real_program, reals};
use sotto_program::clear::{ClearError, run_integer, run_real};
use sotto_program::{
    Constant, Depth, NodeId, Op, Program, ProgramBuilder, ProgramError, ProgramParts, SlotShape, magnitudes,
    passes,
};

fn one_input(ask: impl FnOnce(&mut ProgramBuilder, NodeId) -> NodeId) -> Program {
    let mut asked = ProgramBuilder::new();
    let x = asked.input("x", 100.0);
    let answer = ask(&mut asked, x);
    asked.output("answer", answer);
    asked.finish().unwrap()
}

/// Returns programs that together output every node, at most 256 nodes each.
fn all_nodes(program: &Program) -> Vec<Program> {
    let nodes: Vec<_> = program.nodes().map(|(node, _)| (format!("n{}", node.0), node)).collect();
    let parts = |outputs: &[_]| ProgramParts { outputs: outputs.to_vec(), ..program.clone().into_parts() };
    nodes.chunks(256).map(|chunk| Program::new(parts(chunk)).unwrap()).collect()
}

fn answer(program: &Program, x: &[i128], shape: SlotShape) -> Vec<i128> {
    run_integer(program, &[x.to_vec()], shape, None).unwrap().remove(0)
}

#[test]
fn a_rotation_is_to_the_left_within_rows() {
    let shape = SlotShape { rows: 2, columns: 4 };
    let x = [1, 2, 3, 4, 5, 6, 7, 8];
    let rotated = |steps| answer(&one_input(|asked, x| asked.rotate(x, steps)), &x, shape);
    assert_eq!(rotated(1), [2, 3, 4, 1, 6, 7, 8, 5]);
    assert_eq!(rotated(-1), [4, 1, 2, 3, 8, 5, 6, 7]);
    assert_eq!(rotated(7), rotated(-1));
    assert_eq!(rotated(65_536), x);
}

#[test]
fn a_table_is_looked_up_and_is_0_outside() {
    let shape = SlotShape { rows: 1, columns: 8 };
    let squares = one_input(|asked, x| asked.table(x, -2, vec![4, 1, 0, 1, -7]));
    let x = [-2, -1, 0, 1, 2, 3, -3, 100];
    let expected = [4, 1, 0, 1, -7, 0, 0, 0];
    assert_eq!(answer(&squares, &x, shape), expected);
    // Modulo 257: 255 is -2, and -7 is 250.
    let modulo = run_integer(&squares, &[x.to_vec()], shape, Some(257)).unwrap().remove(0);
    assert_eq!(modulo, [4, 1, 0, 1, 250, 0, 0, 0]);
    let of_reals = run_real(&squares, &[x.map(|x| x as f64).to_vec()], shape).unwrap().remove(0);
    assert_eq!(of_reals, expected.map(|value| value as f64));
    assert_eq!(magnitudes(&squares).last(), Some(&7.0));
    let refused = |count: usize| {
        let mut asked = ProgramBuilder::new();
        let x = asked.input("x", 1.0);
        let table = asked.table(x, 0, vec![1; count]);
        asked.output("y", table);
        asked.finish().err()
    };
    assert!(matches!(refused(1), Some(ProgramError::Table { count: 1, .. })));
    assert!(matches!(refused(512), Some(ProgramError::Table { count: 512, .. })));
    assert_eq!(refused(511), None);
    // A table is public.
    let mut asked = ProgramBuilder::new();
    let x = asked.input("x", 1.0);
    let looked_up = asked.push(Op::Table { of: x, values: x, first: 0, count: 2 });
    asked.output("y", looked_up);
    assert!(matches!(asked.finish(), Err(ProgramError::Missing { .. })));
}

#[test]
fn a_sign_is_exact_and_of_reals_only() {
    let shape = SlotShape { rows: 1, columns: 8 };
    let signs = one_input(|asked, x| asked.sign(x, 8));
    let x = [1.0, -1.0, 0.25, -0.001, 1e-300, 0.0, -0.0, 2.0];
    let found = run_real(&signs, &[x.to_vec()], shape).unwrap().remove(0);
    assert_eq!(found, [1.0, -1.0, 1.0, -1.0, 1.0, 0.0, 0.0, 1.0]);
    for modulus in [None, Some(257)] {
        let refused = run_integer(&signs, &[vec![1]], shape, modulus);
        assert_eq!(refused, Err(ClearError::Sign { node: NodeId(1) }));
    }
    // The approximation may exceed 1, whatever its operand is.
    assert_eq!(magnitudes(&signs).last(), Some(&1.1));
    for gap_bits in 0..=u8::MAX {
        let mut asked = ProgramBuilder::new();
        let x = asked.input("x", 1.0);
        let sign = asked.sign(x, gap_bits);
        asked.output("y", sign);
        let refused =
            (![4, 6, 8, 12].contains(&gap_bits)).then_some(ProgramError::Gap { node: NodeId(1), gap_bits });
        assert_eq!(asked.finish().err(), refused);
    }
}

#[test]
fn a_sign_counts_as_many_levels_as_its_polynomials_take() {
    let mut asked = ProgramBuilder::new();
    let (x, half) = (asked.input("x", 1.0), asked.real(0.5));
    let of_public = asked.sign(half, 12);
    let scaled = asked.mul(x, of_public);
    let sign = asked.sign(scaled, 4);
    let product = asked.mul(sign, x);
    asked.output("y", product);
    let program = asked.finish().unwrap();
    assert_eq!(program.depth(), Depth { encrypted: 8, any: 9 });
    // Passes keep both signs, and share equal ones.
    assert_eq!(passes::simplify(&program).unwrap().counts()["sign"], 2);
    let twice = one_input(|asked, x| {
        let signs = [4, 4, 6].map(|gap_bits| asked.sign(x, gap_bits));
        let sum = asked.add(signs[0], signs[1]);
        asked.add(sum, signs[2])
    });
    assert_eq!(passes::simplify(&twice).unwrap().counts()["sign"], 2);
}

#[test]
fn a_sum_adds_neighbours_within_rows() {
    let shape = SlotShape { rows: 2, columns: 8 };
    let x: Vec<i128> = (0..16).map(|slot| 3 * slot * slot - 5).collect();
    for width in [1, 2, 4, 8] {
        let naive: Vec<i128> =
            (0..16).map(|slot| (0..width).map(|ahead| x[slot / 8 * 8 + (slot + ahead) % 8]).sum()).collect();
        let sum = one_input(|asked, x| asked.sum(x, u32::try_from(width).unwrap()));
        assert_eq!(answer(&sum, &x, shape), naive, "{width}");
    }
}

#[test]
fn one_value_of_a_constant_is_in_every_slot_and_an_input_is_padded() {
    let shape = SlotShape { rows: 2, columns: 2 };
    let plus_one = one_input(|asked, x| {
        let one = asked.integer(1);
        asked.add(x, one)
    });
    assert_eq!(answer(&plus_one, &[5], shape), [6, 1, 1, 1]);
    let plus_vector = one_input(|asked, x| {
        let two = asked.constant(Constant::Integers(vec![1, 2]));
        asked.add(x, two)
    });
    assert_eq!(answer(&plus_vector, &[5], shape), [6, 2, 0, 0]);
}

#[test]
fn a_modulus_wraps() {
    let square = one_input(|asked, x| asked.mul(x, x));
    let modulo = |x: i128, t| run_integer(&square, &[vec![x]], SlotShape::SCALAR, Some(t)).unwrap()[0][0];
    assert_eq!(modulo(31, 1021), 961);
    assert_eq!(modulo(32, 1021), 3);
    assert_eq!(modulo(-1, u64::MAX), 1);
    assert_eq!(modulo(i128::from(u64::MAX) - 1, u64::MAX), 1);
    let negated = one_input(|asked, x| asked.neg(x));
    assert_eq!(run_integer(&negated, &[vec![0]], SlotShape::SCALAR, Some(29)).unwrap(), [[0]]);
    assert_eq!(run_integer(&negated, &[vec![1]], SlotShape::SCALAR, Some(29)).unwrap(), [[28]]);
}

#[test]
fn what_has_no_result_says_why() {
    let square = one_input(|asked, x| asked.mul(x, x));
    let run =
        |inputs: &[Vec<i128>], modulus| run_integer(&square, inputs, SlotShape::SCALAR, modulus).unwrap_err();
    assert_eq!(run(&[], None), ClearError::InputCount { declared: 1, given: 0 });
    assert_eq!(run(&[vec![1, 2]], None), ClearError::InputTooLong { name: "x".into(), values: 2, slots: 1 });
    assert_eq!(run(&[vec![i128::MAX]], None), ClearError::Overflow { node: NodeId(1) });
    assert_eq!(run(&[vec![1]], Some(1)), ClearError::Modulus { modulus: 1 });
    let half = one_input(|asked, x| {
        let half = asked.real(0.5);
        asked.mul(x, half)
    });
    assert!(matches!(
        run_integer(&half, &[vec![1]], SlotShape::SCALAR, None),
        Err(ClearError::NotIntegers { .. })
    ));
    let wide = one_input(|asked, x| asked.sum(x, 4));
    let refused = run_real(&wide, &[vec![]], SlotShape { rows: 4, columns: 2 }).unwrap_err();
    assert_eq!(refused, ClearError::Shape(ProgramError::Width { node: NodeId(1), width: 4, most: 2 }));
    let none = SlotShape { rows: 0, columns: 4 };
    assert!(matches!(run_real(&wide, &[vec![]], none), Err(ClearError::Shape(ProgramError::Shape { .. }))));
}

#[test]
fn magnitudes_are_exact_on_small_integers_and_never_rounded_down() {
    let program = one_input(|asked, x| {
        let square = asked.mul(x, x);
        let sum = asked.sum(square, 64);
        let weights = asked.constant(Constant::Integers(vec![1, -7, 3]));
        let weighted = asked.mul(sum, weights);
        asked.sub(weighted, x)
    });
    assert_eq!(magnitudes(&program), [100.0, 1e4, 64e4, 7.0, 448e4, 448e4 + 100.0]);

    let program = one_input(|asked, x| {
        let huge = asked.integer((1 << 60) + 1);
        asked.add(huge, x)
    });
    let bound = magnitudes(&program);
    assert_eq!(bound[1], 2f64.powi(60).next_up());
    assert_eq!(bound[2], 2f64.powi(60).next_up().next_up());
    let overflowing = one_input(|asked, x| {
        (0..12).fold(x, |x, _| {
            let y = asked.mul(x, x);
            asked.mul(y, y)
        })
    });
    assert_eq!(*magnitudes(&overflowing).last().unwrap(), f64::INFINITY);
}

#[test]
fn intermediate_values_are_not_kept() {
    // 100 000 nodes of 16 384 slots would take 13 GB if none were dropped.
    let mut asked = ProgramBuilder::new();
    let mut x = asked.input("x", 1.0);
    for _ in 0..2000 {
        x = asked.neg(x);
        asked.neg(x);
    }
    asked.output("x", x);
    let shape = SlotShape { rows: 1, columns: 16_384 };
    assert_eq!(run_real(&asked.finish().unwrap(), &[vec![1.0]], shape).unwrap()[0][0], 1.0);
}

proptest! {
    #[test]
    fn no_value_passes_its_magnitude(program in integer_program(), inputs in integers()) {
        let bounds = magnitudes(&program);
        for every in all_nodes(&program) {
            let values = run_integer(&every, &inputs, SHAPE, None).unwrap();
            for ((_, node), values) in every.outputs().iter().zip(values) {
                let most = values.iter().map(|value| value.unsigned_abs()).max().unwrap();
                prop_assert!(most as f64 <= bounds[node.index()], "node {}", node.0);
            }
        }
    }

    #[test]
    fn no_real_value_passes_its_magnitude(program in real_program(), inputs in integers()) {
        let bounds = magnitudes(&program);
        for every in all_nodes(&program) {
            let values = run_real(&every, &reals(&inputs), SHAPE).unwrap();
            for ((_, node), values) in every.outputs().iter().zip(values) {
                let most = values.iter().fold(0.0f64, |most, value| most.max(value.abs()));
                prop_assert!(most <= bounds[node.index()], "node {}", node.0);
            }
        }
    }

    #[test]
    fn reals_and_integers_agree_where_both_are_exact(program in integer_program(), inputs in integers()) {
        let whole = run_integer(&program, &inputs, SHAPE, None).unwrap();
        let real = run_real(&program, &reals(&inputs), SHAPE).unwrap();
        if magnitudes(&program).iter().all(|bound| *bound <= 2f64.powi(53)) {
            prop_assert_eq!(real, reals(&whole));
        }
    }

    #[test]
    fn a_modulus_reduces_the_exact_result(program in integer_program(), inputs in integers(), t in 2u64..) {
        let exact = run_integer(&program, &inputs, SHAPE, None).unwrap();
        let modulo = run_integer(&program, &inputs, SHAPE, Some(t)).unwrap();
        let reduced: Vec<Vec<i128>> =
            exact.iter().map(|output| output.iter().map(|value| value.rem_euclid(i128::from(t))).collect()).collect();
        prop_assert_eq!(modulo, reduced);
    }
}
