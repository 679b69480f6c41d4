//! A running plan holds at most the memory that was computed before it ran.
#![allow(clippy::unwrap_used)]

use sotto_conformance::Fixture;
use sotto_program::{KeyNumber, Plan, PlanInput, PlanOutput, PlanStep, Predicted, Register, Step};
use sotto_rlwe::{Bgv, Evaluator};
use sotto_runtime::{RunError, Threads, run_on};

/// Results held at the same time.
const RESULTS: u32 = 80;

/// Results on two limbs, computed from more, and kept until they are added up: their scratch buffers are longer than
/// they are.
#[test]
fn what_is_kept_is_as_long_as_what_is_counted() {
    let mut f = Fixture::<Bgv>::default_chain(8192, 3);
    let (values, top) = (f.values(), f.params.top_level());
    let input = f.encrypt(&values, false);
    let drop = Step::DropModulus { of: Register(0), count: top as u8 - 1 };
    let sum = |i: u32| Step::Add(Register(if i == 0 { 1 } else { RESULTS + i }), Register(i + 2));
    let steps = std::iter::repeat_n(drop, RESULTS as usize).chain((0..RESULTS - 1).map(sum));
    let mut plan = Plan {
        parameter_id: f.params.id().0,
        inputs: vec![PlanInput { name: "x".into(), key: KeyNumber::ANSWER }],
        constants: vec![],
        steps: (1..).map(Register).zip(steps).map(|(output, step)| PlanStep { step, output }).collect(),
        outputs: vec![PlanOutput { name: "sum".into(), register: Register(2 * RESULTS - 1), form: None }],
        keys: Default::default(),
        predicted: Predicted::default(),
    };
    plan.keys = plan.keys_needed();
    let evaluator = Evaluator::new(&f.params);
    let run = |most| run_on(&Threads::one(), &plan, &evaluator, vec![input.clone()], &f.keys, most);
    let refusal = run(0).unwrap_err();
    let RunError::Memory { needed, .. } = refusal else { panic!("{refusal}") };
    let of_input = input.shape().bytes(&f.params);
    assert!(needed > 30 * of_input, "{needed} bytes, mostly results");
    sotto_ring::release();
    let held = allocation_counter::measure(|| assert!(run(needed).is_ok())).bytes_max;
    // The scratch buffers of a step, and those kept for the next step, are a few ciphertexts.
    assert!(held < needed * 9 / 8 + 4 * of_input, "{held} bytes are held, {needed} were counted");
}
