//! Plans: read, checked, and run as the cloud runs them.

use sotto_conformance::golden;
use sotto_program::{InputDeclaration, ParseOptions, Plan, Program, parse};
use sotto_rlwe::{Bfv, Ciphertext, EvalError};
use sotto_runtime::{Encoding, Lowered, RlweTarget, RunError, reduction};
use sotto_wire::{AnyCiphertext, read_plan, write_plan};

use super::frames::toy_bfv;
use super::{Inputs, Target, as_frame, once};

/// The most steps of a plan that is run.
const STEPS: usize = 64;

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    // A coefficient of one byte takes eight, a step of five bytes takes 24, and its register as much in each derived
    // list.
    Target { name: "plan", run: plan, inputs: Inputs::Kept(plans), memory: |bytes| 64 * bytes.len() + (256 << 10) },
    Target { name: "plan-json", run: plan_json, inputs: Inputs::Kept(|| vec![json(&golden::plan())]), memory: |bytes| 64 * bytes.len() + (64 << 10) },
    Target { name: "program-json", run: program_json, inputs: Inputs::Kept(|| EXPRESSIONS.map(|text| json(&program(text))).to_vec()), memory: |bytes| 64 * bytes.len() + (64 << 10) },
];

const EXPRESSIONS: [&str; 4] =
    ["x*y+3", "sum(x*y, 4) - rotate(x, 1)", "(x+[1,2,3])^3 - 2*y", "rotate(x, -2)*[1,-2,3]"];

fn json(value: &impl serde::Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("it is written")
}

fn program(text: &str) -> Program {
    let inputs = ["x", "y"].map(|name| InputDeclaration::new(name, 4.0)).to_vec();
    let options = ParseOptions { inputs, ..ParseOptions::default() };
    parse(text, &options).expect("an expression").program
}

fn plans() -> Vec<Vec<u8>> {
    let target = RlweTarget::<Bfv> {
        params: golden::insecure_n16(),
        encoding: Encoding::Slots,
        origin: sotto_rlwe::Origin::SecretKey,
        kept: None,
        may_wrap: true,
    };
    let lowered = EXPRESSIONS.iter().filter_map(|text| target.lower_with_shapes(&program(text)).ok());
    let reduced = EXPRESSIONS.iter().filter_map(|text| target.lower_reduced(&program(text), &[]).ok());
    let frame = |lowered: Lowered<Bfv>| write_plan(&lowered.plan).ok();
    let [kept, with_forms] = ["plan.bin", "plan-with-forms.bin"].map(golden::read);
    [vec![kept], lowered.filter_map(frame).collect(), vec![with_forms], reduced.filter_map(frame).collect()]
        .concat()
}

fn input() -> &'static Ciphertext<Bfv> {
    once!(Ciphertext<Bfv>, {
        let read = AnyCiphertext::read(&golden::read("bfv-seeded.bin"), &toy_bfv().params);
        read.expect("a golden file").with_claimed_shape().expand()
    })
}

fn plan(bytes: &[u8]) -> bool {
    as_frame(bytes, |bytes| {
        let Ok(plan) = read_plan(bytes) else { return false };
        assert!(write_plan(&plan).is_ok_and(|written| written == bytes), "rewriting changes bytes");
        let reader = toy_bfv();
        let given: Vec<_> = plan.inputs.iter().map(|_| (input().key(), *input().shape())).collect();
        let checked = sotto_runtime::check(&plan, &reader.params, &given, &reader.keys, u64::MAX);
        if plan.steps.len() <= STEPS && plan.inputs.len() <= STEPS {
            let inputs = plan.inputs.iter().map(|_| input().clone()).collect();
            let ran = sotto_runtime::run(&plan, &reader.evaluator, inputs, &reader.keys);
            // Only running shows that an output is transparent.
            let passed = ran.is_ok() || matches!(ran, Err(RunError::Transparent { .. }));
            assert_eq!(
                checked.is_ok(),
                passed,
                "a plan that passes the check is run: {:?}",
                ran.as_ref().err()
            );
            for (named, output) in plan.outputs.iter().zip(ran.into_iter().flatten()) {
                let Some(reduction) = reduction(named) else { continue };
                let reduced = output.reduce(reduction);
                // Very few bits may leave nothing of the mask.
                assert!(matches!(reduced, Ok(_) | Err(EvalError::Transparent)), "{:?}", reduced.err());
            }
        }
        true
    })
}

fn plan_json(bytes: &[u8]) -> bool {
    serde_json::from_slice::<Plan>(bytes).is_ok_and(|plan| plan.validate().is_ok())
}

fn program_json(bytes: &[u8]) -> bool {
    let Ok(program) = serde_json::from_slice::<Program>(bytes) else { return false };
    assert_eq!(serde_json::from_slice::<Program>(&json(&program)).ok(), Some(program));
    true
}
