//! Plans that are run, and plans that are refused before they run.

use serde_json::{Value, json};
use sotto_cloud::config::Settings;
use sotto_decrypt::Decryptor;
use sotto_program::{
    KeyNumber, KeysNeeded, Plan, PlanInput, PlanOutput, PlanStep, Predicted, Register, Step,
};
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, Params, Scheme};
use sotto_wire::AnyCiphertext;

use crate::device::Device;
use crate::store::contents;
use crate::world::{World, bfv};

/// Returns a plan with this many inputs under one key, whose only output is the result of its last step.
pub(crate) fn plan<S: Scheme>(params: &Params<S>, inputs: u32, steps: &[Step]) -> Plan {
    let output = |at: usize| Register(inputs + at as u32);
    let mut plan = Plan {
        parameter_id: params.id().0,
        inputs: (0..inputs).map(|i| PlanInput { name: format!("x{i}"), key: KeyNumber::ANSWER }).collect(),
        constants: vec![],
        steps: steps
            .iter()
            .enumerate()
            .map(|(at, step)| PlanStep { step: *step, output: output(at) })
            .collect(),
        outputs: vec![PlanOutput { name: "answer".into(), register: output(steps.len() - 1), form: None }],
        keys: KeysNeeded::default(),
        predicted: Predicted::default(),
    };
    plan.keys = plan.keys_needed();
    plan
}

pub(crate) const ADD: [Step; 1] = [Step::Add(Register(0), Register(1))];

/// Runs a job that must succeed; returns its last state and its only output.
pub(crate) fn run<S: Scheme>(
    world: &World,
    params: &Params<S>,
    plan: &Plan,
    inputs: &[&str],
) -> (Value, Ciphertext<S>) {
    let plan_id = world.put_plan(plan);
    let job = world.submit(&plan_id, inputs).expect(202)["job"].as_str().unwrap().to_owned();
    let state = world.ended(&job);
    assert_eq!(state["state"], "done", "{state}");
    assert_eq!(state["outputs"], 1);
    assert_eq!(state["counters"], json!(plan.counts()), "the evaluator did what the plan says");
    assert!(state["evaluate_us"].as_u64().unwrap() > 0);
    let output = world.owner("GET", &format!("/v1/jobs/{job}/outputs/0"), &[]);
    assert_eq!((output.status, output.kind.as_str()), (200, "application/octet-stream"));
    world.owner("GET", &format!("/v1/jobs/{job}/outputs/1"), &[]).refused(404, "unknown-output");
    (state, AnyCiphertext::read(&output.bytes, params).unwrap().with_claimed_shape().expand())
}

#[test]
fn a_sum_under_bfv_is_right() {
    let (world, params, mut device) = World::with_device();
    let a = world.keep(&device.envelope(0, &[1, 2, 3]));
    let b = world.keep(&device.envelope(1, &[10, -20, 30]));
    let (_, sum) = run(&world, &params, &plan(&params, 2, &ADD), &[&a, &b]);
    let slots = Decryptor::new(&device.secret).slots(&sum).unwrap().into_residues();
    assert_eq!(slots[..4], [11, -18, 33, 0]);
}

#[test]
fn a_product_and_a_rotation_need_keys() {
    let (world, params, mut device) = World::with_device();
    let a = world.keep(&device.envelope(0, &[1, 2, 3]));
    let b = world.keep(&device.envelope(1, &[10, -20, 30]));
    let steps = [
        Step::Multiply(Register(0), Register(1)),
        Step::Relinearise(Register(2)),
        Step::Rotate(Register(3), 1),
        Step::Add(Register(3), Register(4)),
    ];
    let asked = plan(&params, 2, &steps);
    let id = world.put_plan(&asked);

    let before = contents(&world.data());
    world.submit(&id, &[&a, &b]).refused(422, "missing-key");
    assert_eq!(contents(&world.data()), before);
    world.put_keys(&device.evaluation_keys(true, &[2]));
    world.submit(&id, &[&a, &b]).refused(422, "missing-key");
    world.put_keys(&device.evaluation_keys(true, &[1]));

    let (_, answer) = run(&world, &params, &asked, &[&a, &b]);
    let slots = Decryptor::new(&device.secret).slots(&answer).unwrap().into_residues();
    assert_eq!(slots[..3], [10 - 40, -40 + 90, 90]);
}

#[test]
fn a_product_without_its_relinearisation_key_is_refused() {
    let (world, params, mut device) = World::with_device();
    let a = world.keep(&device.envelope(0, &[1]));
    let steps = [Step::Multiply(Register(0), Register(0)), Step::Relinearise(Register(1))];
    let id = world.put_plan(&plan(&params, 1, &steps));
    world.put_keys(&device.evaluation_keys(false, &[1]));
    let answer = world.submit(&id, &[&a]);
    answer.refused(422, "missing-key");
    assert!(answer.to_string().contains("relinearisation"), "{answer}");
}

#[test]
fn a_plan_that_the_noise_does_not_allow_is_refused() {
    let (world, params, mut device) = World::with_device();
    world.put_keys(&device.evaluation_keys(true, &[]));
    let a = world.keep(&device.envelope(0, &[1]));
    let square = |of: u32| [Step::Multiply(Register(of), Register(of)), Step::Relinearise(Register(of + 1))];
    let steps: Vec<Step> = (0..6).flat_map(|i| square(2 * i)).collect();
    let id = world.put_plan(&plan(&params, 1, &steps));
    let before = contents(&world.data());
    world.submit(&id, &[&a]).refused(422, "noise");
    assert_eq!(contents(&world.data()), before);
}

#[test]
fn a_job_that_would_hold_too_much_at_once_is_refused() {
    let (world, mut device) = World::with_device_in(World::start_with(|settings| Settings {
        largest_job: Some(2 << 20),
        ..settings
    }));
    let (params, a) = (bfv(), world.keep(&device.envelope(0, &[1])));
    // All products first, then their sum; or each product added as soon as it is computed.
    let product = Step::MultiplyScalar(Register(0), 1);
    let wide: Vec<Step> = std::iter::repeat_n(product, 64)
        .chain((0..63).map(|i| Step::Add(Register(if i == 0 { 1 } else { 64 + i }), Register(2 + i))))
        .collect();
    let narrow: Vec<Step> = (0..63)
        .flat_map(|i| [Step::MultiplyScalar(Register(0), 1), Step::Add(Register(2 * i), Register(2 * i + 1))])
        .collect();
    let [wide, narrow] = [wide, narrow].map(|steps| world.put_plan(&plan(&params, 1, &steps)));
    let before = contents(&world.data());
    let answer = world.submit(&wide, &[&a]);
    answer.refused(422, "job-too-large");
    assert!(answer.to_string().contains("2097152 are granted"), "{answer}");
    assert_eq!(contents(&world.data()), before);
    world.submit(&narrow, &[&a]).expect(202);
}

#[test]
fn a_cancelled_job_ends_and_keeps_nothing() {
    // With one worker the second job waits while the first one runs.
    let one_worker = |settings| Settings { workers: Some(1), ..settings };
    let (world, mut device) = World::with_device_in(World::start_with(one_worker));
    let params = bfv();
    let a = world.keep(&device.envelope(0, &[1, 2, 3]));
    // Longer than a busy machine takes to cancel it.
    let steps: Vec<Step> = (0..8000)
        .flat_map(|i| [Step::Multiply(Register(0), Register(0)), Step::Relinearise(Register(2 * i + 1))])
        .collect();
    let asked = plan(&params, 1, &steps);
    world.put_keys(&device.evaluation_keys(true, &[]));
    let (long, short) =
        (world.put_plan(&asked), world.put_plan(&plan(&params, 1, &[Step::Negate(Register(0))])));
    let job = |plan: &str| world.submit(plan, &[&a]).expect(202)["job"].as_str().unwrap().to_owned();
    let (running, waiting, other) = (job(&long), job(&short), job(&short));
    for cancelled in [&waiting, &running, &running] {
        assert_eq!(world.owner("DELETE", &format!("/v1/jobs/{cancelled}"), &[]).status, 204);
        let state = world.ended(cancelled);
        assert_eq!((&state["state"], &state["outputs"]), (&json!("failed"), &json!(0)), "{state}");
        assert!(state["error"].as_str().unwrap().contains("the owner cancelled it"), "{state}");
    }
    // The worker goes on, and a job that has ended stays as it is.
    assert_eq!(world.ended(&other)["state"], "done");
    assert_eq!(world.owner("DELETE", &format!("/v1/jobs/{other}"), &[]).status, 204);
    assert_eq!(world.ended(&other)["state"], "done");
    assert_eq!(world.ended(&running)["outputs"], 0);
    assert!(std::fs::read_dir(world.data().join("outputs")).unwrap().count() <= 1);
    world.owner("DELETE", &format!("/v1/jobs/{}", "ab".repeat(16)), &[]).refused(404, "unknown-job");
    world.owner("DELETE", "/v1/jobs/x", &[]).refused(404, "unknown-job");
}

#[test]
fn inputs_of_other_keys_or_parameters_are_refused() {
    let (world, params, mut device) = World::with_device();
    let mut attic = Device::new("attic", &params, 2);
    world.register(&attic);
    let bgv = Params::<Bgv>::default_chain(4096, 40_961).unwrap();
    let mut cellar = Device::new("cellar", &bgv, 3);
    world.put_parameters(&bgv);
    world.register(&cellar);
    let a = world.keep(&device.envelope(0, &[1]));
    let b = world.keep(&attic.envelope(0, &[1]));
    let c = world.keep(&cellar.envelope(0, &[1]));
    let id = world.put_plan(&plan(&params, 2, &ADD));

    let before = contents(&world.data());
    world.submit(&id, &[&a, &b]).refused(422, "wrong-key");
    world.submit(&id, &[&a, &c]).refused(422, "wrong-parameters");
    world.submit(&id, &[&c, &c]).refused(422, "wrong-parameters");
    world.submit(&id, &[&a]).refused(422, "wrong-inputs");
    world.submit(&id, &[&a, &a, &a]).refused(422, "wrong-inputs");
    let nobody = "0".repeat(32);
    world.submit(&id, &[&a, &nobody]).refused(422, "unknown-envelope");
    world.submit(&id, &[&a, "../lock"]).refused(422, "unknown-envelope");
    world.submit(&"0".repeat(64), &[&a, &a]).refused(422, "unknown-plan");
    world.submit("x", &[&a, &a]).refused(422, "unknown-plan");
    world.owner("POST", "/v1/jobs", b"[]").refused(400, "invalid-json");
    assert_eq!(contents(&world.data()), before);
}

#[test]
fn plans_that_are_not_valid_are_refused() {
    let world = World::start();
    let (params, before) = (bfv(), contents(&world.data()));
    let frame = sotto_wire::write_plan(&plan(&params, 2, &ADD)).unwrap();
    world.owner("PUT", "/v1/plans", &frame).refused(422, "unknown-parameters");
    world.put_parameters(&params);
    let kept = contents(&world.data());
    assert_ne!(kept, before);
    world.owner("PUT", "/v1/plans", &frame[..frame.len() - 3]).refused(400, "truncated");
    let mut flipped = frame.clone();
    flipped[60] ^= 1;
    world.owner("PUT", "/v1/plans", &flipped).refused(400, "digest-mismatch");
    // The sum's second operand becomes a register that does not exist.
    let mut invalid = frame.clone();
    let end = invalid.len() - 32;
    let at = invalid.windows(9).position(|step| step == [1, 0, 0, 0, 0, 1, 0, 0, 0]).unwrap();
    invalid[at + 5] = 9;
    let digest = blake3::hash(&invalid[..end]);
    invalid[end..].copy_from_slice(digest.as_bytes());
    world.owner("PUT", "/v1/plans", &invalid).refused(422, "invalid-plan");
    assert_eq!(contents(&world.data()), kept);
    world.owner("PUT", "/v1/plans", &frame).expect(200);
    world.owner("PUT", "/v1/plans", &frame).expect(200);
    assert_eq!(contents(&world.data()).rows["plans"], 1);
}

#[test]
fn every_scheme_is_served() {
    let world = World::start();
    sum_of::<Bfv>(&world, 1, &[3], &[4], |decryptor, sum| {
        assert_eq!(decryptor.slots(sum).unwrap().into_residues()[0], 7);
    });
    sum_of::<Bgv>(&world, 2, &[3], &[4], |decryptor, sum| {
        assert_eq!(decryptor.slots(sum).unwrap().into_residues()[0], 7);
    });
    sum_of::<Ckks>(&world, 3, &[0.25], &[0.5], |decryptor, sum| {
        let found = decryptor.slots(sum).unwrap().publish(10).unwrap()[0];
        assert!((found - 0.75).abs() < 1e-3, "{found}");
    });
}

fn sum_of<S: Scheme>(
    world: &World,
    seed: u8,
    a: &[S::Value],
    b: &[S::Value],
    judge: impl FnOnce(&Decryptor<'_, S>, &Ciphertext<S>),
) {
    let params = Params::<S>::default_chain(4096, 40_961).unwrap();
    let mut device = Device::new(S::ID.name(), &params, seed);
    world.put_parameters(&params);
    world.register(&device);
    let (a, b) = (world.keep(&device.envelope(0, a)), world.keep(&device.envelope(1, b)));
    let (_, sum) = run(world, &params, &plan(&params, 2, &ADD), &[&a, &b]);
    judge(&Decryptor::new(&device.secret), &sum);
}
