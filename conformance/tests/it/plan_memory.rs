//! A running plan holds at most the memory that was computed before it ran.

use sotto_conformance::{Fixture, Testable};
use sotto_program::{KeyNumber, Plan, PlanInput, PlanOutput, PlanStep, Predicted, Register, Step};
use sotto_rlwe::{Bgv, ChainRequest, Ciphertext, Ckks, Evaluator, Params, SchemeId};
use sotto_runtime::{Managed, RunError, Threads, run_on};

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
    let plan = plan(&f, steps, 2 * RESULTS - 1);
    let of_input = input.shape().bytes(&f.params);
    let (needed, held) = counted_and_held(&f, &plan, &input);
    assert!(needed > 30 * of_input, "{needed} bytes, mostly results");
    // The scratch buffers of a step, and those kept for the next step, are a few ciphertexts.
    assert!(held < needed * 9 / 8 + 4 * of_input, "{held} bytes are held, {needed} were counted");
}

/// Returns a plan of these steps on one input, whose answer is a register.
fn plan<S: Managed + Testable>(f: &Fixture<S>, steps: impl Iterator<Item = Step>, answer: u32) -> Plan {
    let mut plan = Plan {
        parameter_id: f.params.id().0,
        inputs: vec![PlanInput { name: "x".into(), key: KeyNumber::ANSWER }],
        constants: vec![],
        steps: (1..).map(Register).zip(steps).map(|(output, step)| PlanStep { step, output }).collect(),
        outputs: vec![PlanOutput { name: "answer".into(), register: Register(answer), form: None }],
        keys: Default::default(),
        predicted: Predicted::default(),
    };
    plan.keys = plan.keys_needed();
    plan
}

/// Returns the bytes that a plan is said to need, and those that a run with as many holds.
fn counted_and_held<S: Managed + Testable>(f: &Fixture<S>, plan: &Plan, input: &Ciphertext<S>) -> (u64, u64) {
    let evaluator = Evaluator::new(&f.params);
    let run = |most| run_on(&Threads::one(), plan, &evaluator, vec![input.clone()], &f.keys, most);
    let refusal = run(0).unwrap_err();
    let RunError::Memory { needed, .. } = refusal else { panic!("{refusal}") };
    sotto_ring::release();
    let held = allocation_counter::measure(|| assert!(run(needed).is_ok())).bytes_max;
    (needed, held)
}

/// The squares, factors and products of a sign's polynomials.
#[test]
fn what_a_sign_holds_is_counted() {
    for (gap_bits, levels, special_primes) in
        [(4, 7, None), (4, 7, Some(1)), (8, 12, Some(1)), (8, 20, None), (12, 15, None)]
    {
        let request = ChainRequest {
            levels: Some(levels),
            special_primes,
            other_bits: Some(45),
            ..ChainRequest::new(SchemeId::Ckks, 65_536, 0)
        };
        // Insecure, so that the test is short.
        let mut spec = request.build().unwrap();
        spec.degree = 8192;
        let mut f = Fixture::<Ckks>::with_steps(Params::insecure(spec).unwrap(), &[], 3);
        let values = f.values();
        let input = f.encrypt(&values, false);
        let step = Step::Sign { of: Register(0), gap_bits };
        let plan = plan(&f, std::iter::once(step), 1);
        let of_input = input.shape().bytes(&f.params);
        let (needed, held) = counted_and_held(&f, &plan, &input);
        let [held_inputs, counted] = [held, needed].map(|bytes| bytes as f64 / of_input as f64);
        println!("gap 2^-{gap_bits}, {levels} levels: held {held_inputs:.1} inputs, counted {counted:.1}");
        assert!(held < needed * 9 / 8, "{held} bytes are held, {needed} were counted");
        assert!(held > needed / 2, "{held} bytes are held, {needed} were counted");
    }
}
