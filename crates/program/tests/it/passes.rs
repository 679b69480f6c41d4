//! No pass changes the meaning of a program.

use crate::random;

use proptest::prelude::*;
use random::{SHAPE, integer_program, integers, real_program, reals};
use sotto_program::passes::{drop_unused, expand_sums, fold_constants, share_common, simplify};
use sotto_program::{Constant, Op, ParseOptions, Program, ProgramBuilder, clear, limits, parse};

type Pass = (&'static str, fn(&Program) -> Program);

const PASSES: [Pass; 5] = [
    ("fold_constants", fold_constants),
    ("share_common", share_common),
    ("drop_unused", drop_unused),
    ("expand_sums", |program| expand_sums(program).unwrap()),
    ("simplify", |program| simplify(program).unwrap()),
];

proptest! {
    #[test]
    fn integers_stay_the_same(program in integer_program(), inputs in integers()) {
        for modulus in [None, Some(2), Some(1021), Some(u64::MAX)] {
            let before = clear::run_integer(&program, &inputs, SHAPE, modulus).unwrap();
            for (name, pass) in PASSES {
                let after = pass(&program);
                prop_assert_eq!(after.validate(), Ok(()), "{}", name);
                prop_assert_eq!(&clear::run_integer(&after, &inputs, SHAPE, modulus).unwrap(), &before, "{}", name);
            }
        }
    }

    #[test]
    fn reals_stay_the_same_to_the_last_bit(program in real_program(), inputs in integers()) {
        let inputs = reals(&inputs);
        let before = clear::run_real(&program, &inputs, SHAPE).unwrap();
        for (name, pass) in PASSES {
            // Compared as f64: 0 equals −0.
            prop_assert_eq!(&clear::run_real(&pass(&program), &inputs, SHAPE).unwrap(), &before, "{}", name);
        }
    }

    #[test]
    fn passes_are_done_when_they_are_done(program in real_program()) {
        for (name, pass) in PASSES {
            let once = pass(&program);
            prop_assert_eq!(&pass(&once), &once, "{}", name);
        }
    }

    #[test]
    fn inputs_stay_where_they_are(program in integer_program()) {
        for (name, pass) in PASSES {
            let after = pass(&program);
            prop_assert_eq!(after.inputs(), program.inputs(), "{}", name);
        }
    }
}

fn public(text: &str) -> Program {
    let options = ParseOptions { undeclared: Some(10.0), sum_width: Some(8), ..ParseOptions::default() };
    parse(text, &options).unwrap().program
}

#[test]
fn constants_fold_to_one() {
    let folded = fold_constants(&public("x * (2*3 + 4 - -1) + sum(3)"));
    assert_eq!(folded.constants(), [Constant::Integers(vec![11]), Constant::Integers(vec![24])]);
    assert_eq!(folded.ops().len(), 5);
    assert_eq!(
        fold_constants(&public("0.5 * [1, 2] + [0, 0, 1]")).constants(),
        [Constant::Reals(vec![0.5, 1.0, 1.0])]
    );
}

#[test]
fn folding_has_no_surprises() {
    for text in ["1 + [1, 2]", "rotate([1, 2], 1)", "sum([1, 2])", "x * 1", "x + 0", "2^53 + 1", "x * 0"] {
        let program = public(text);
        let folded = fold_constants(&program);
        let asked = |program: &Program| program.ops().last().map(Op::name);
        assert_eq!(asked(&folded), asked(&program), "{text}");
    }
    assert_eq!(fold_constants(&public("rotate(x, 0)")).ops(), [Op::Input(sotto_program::InputId(0))]);
}

#[test]
fn folding_long_vectors_stays_small() {
    let vector = vec!["1"; 4096].join(",");
    let folded = fold_constants(&public(&format!("[{vector}]{}", "*2".repeat(10_000))));
    let values: usize = folded.constants().iter().map(Constant::len).sum();
    assert!(values < 3 << 20, "{values}");
}

#[test]
fn equal_nodes_are_shared() {
    let shared = drop_unused(&share_common(&public("(x + y) * (y + x) + 2 * 2")));
    assert_eq!(shared.counts()["add"], 2);
    assert_eq!(shared.counts()["input"], 2);
    assert_eq!(shared.constants().len(), 1);
    // The integer 2 and the real 2 are different constants.
    let mut asked = ProgramBuilder::new();
    let (a, b) = (asked.integer(2), asked.real(2.0));
    let sum = asked.add(a, b);
    asked.output("sum", sum);
    assert_eq!(share_common(&asked.finish().unwrap()).ops().len(), 3);
}

#[test]
fn a_sum_is_log_width_rotations() {
    let expanded = expand_sums(&public("sum(x, 64)")).unwrap();
    assert_eq!(expanded.counts()["rotate"], 6);
    assert_eq!(expanded.counts()["add"], 6);
    let steps: Vec<i32> = expanded
        .ops()
        .iter()
        .filter_map(|op| if let Op::Rotate(_, by) = op { Some(*by) } else { None })
        .collect();
    assert_eq!(steps, [1, 2, 4, 8, 16, 32]);
    // Sums of the same vector share their first steps.
    assert_eq!(simplify(&public("sum(x, 4) + sum(x, 8)")).unwrap().counts()["rotate"], 3);
}

#[test]
fn too_many_expanded_sums_are_refused() {
    let mut asked = ProgramBuilder::new();
    let mut x = asked.input("x", 1.0);
    for _ in 0..10_000 {
        x = asked.sum(x, 1 << 16);
    }
    asked.output("x", x);
    let refused = simplify(&asked.finish().unwrap()).unwrap_err();
    assert!(refused.to_string().contains(&limits::NODES.to_string()), "{refused}");
}
