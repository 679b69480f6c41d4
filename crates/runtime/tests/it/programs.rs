//! Programs are lowered, run on ciphertexts and compared with the clear backend, for every scheme.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_program::{InputDeclaration, LowerError, ParseOptions, Program, SlotShape, clear, parse};
use sotto_ring::{Eval, Poly};
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, EvaluationKeys, Evaluator, Origin, Scheme};
use sotto_runtime::{
    Choice, ChooseError, Encoding, Managed, Planned, Requirements, RlweTarget, RunError, Threads, check,
    choose, run, run_on,
};

fn program(text: &str, magnitude: f64) -> Program {
    let input = |name: &str| InputDeclaration::new(name, magnitude);
    let options =
        ParseOptions { inputs: vec![input("x"), input("y")], sum_width: Some(16), ..ParseOptions::default() };
    parse(text, &options).unwrap_or_else(|error| panic!("{error}")).program
}

fn asked(origin: Origin) -> Requirements {
    Requirements {
        encoding: Encoding::Slots,
        origin,
        plain_modulus: None,
        columns: 64,
        degree: None,
        largest_error: 0.02,
    }
}

struct Ran<S: Managed> {
    choice: Choice<S>,
    values: Vec<S::Value>,
    bound: f64,
    /// The values of a reduced answer, and their bound.
    reduced: (Vec<S::Value>, f64),
}

fn ran<S: Managed>(text: &str, magnitude: f64, value: impl Fn(usize) -> S::Value, origin: Origin) -> Ran<S> {
    let choice =
        choose::<S>(&[program(text, magnitude)], &asked(origin)).unwrap_or_else(|e| panic!("{text}: {e}"));
    let params = choice.target.params.clone();
    let plan = &choice.lowered[0].plan;
    let mut rng = ChaCha20Rng::from_seed([11; 32]);
    let secret = SecretKey::<S>::derive(&DeviceSecret::generate(&mut rng), &params);
    let mut steps = plan.keys.rotations.clone();
    steps.extend(plan.keys.swap_rows.then_some(0));
    let keys = secret.evaluation_keys(plan.keys.relinearisation, &steps, &mut rng).unwrap();
    let public = secret.public_key(&mut rng);
    let mut encrypt = |offset: usize| {
        let values: Vec<S::Value> = (0..64).map(|i| value(i + offset)).collect();
        let plain = S::encode_slots(&params, &values, params.top_level())
            .unwrap()
            .declare_magnitude(magnitude.max(1.0));
        match origin {
            Origin::SecretKey => secret.encrypt(&plain, &mut rng).unwrap().expand(),
            Origin::PublicKey => public.encrypt(&plain, &mut rng).unwrap(),
        }
    };
    let inputs = vec![encrypt(0), encrypt(5)];
    let evaluator = Evaluator::new(&params);
    let outputs = run(plan, &evaluator, inputs.clone(), &keys).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(evaluator.counters().totals(), plan.counts(), "the evaluator did what the plan says: {text}");
    for count in [2, 5] {
        let threads = Threads::new(count).unwrap();
        let parallel =
            run_on(&threads, plan, &Evaluator::new(&params), inputs.clone(), &keys, u64::MAX).unwrap();
        assert_eq!(bits(&parallel), bits(&outputs), "{text} on {count} threads");
        let tight = |bytes| run_on(&threads, plan, &Evaluator::new(&params), inputs.clone(), &keys, bytes);
        let Err(RunError::Memory { needed, most: 0 }) = tight(0) else { panic!("{text} takes memory") };
        assert!(matches!(tight(needed - 1), Err(RunError::Memory { .. })), "{text}");
        assert_eq!(bits(&tight(needed).unwrap()), bits(&outputs), "{text} on {count} threads without room");
    }
    let Planned { shape, slot_error: bound, .. } = choice.lowered[0].outputs[0];
    assert_eq!(outputs[0].level(), shape.level);
    assert_eq!(outputs[0].shape().scaling, shape.scaling);
    assert!(outputs[0].shape().noise.error <= shape.noise.error + sotto_rlwe::Log2(-30.0));
    let [found, told] = [outputs[0].shape(), &shape].map(|shape| shape.estimated(&params).error.0);
    assert!((found - told).abs() < 0.1, "the estimate is the one that was told: {text}, {found} and {told}");
    let plaintext = Decryptor::new(&secret).decrypt(&outputs[0]).unwrap();
    let values = S::decode_slots(&params, &plaintext).unwrap();
    let reduced = reduced(text, &choice.target, magnitude, (&secret, &keys), inputs);
    Ran { bound, choice, values, reduced }
}

/// Returns the values of a reduced answer, and the bound of its plan.
fn reduced<S: Managed>(
    text: &str,
    target: &RlweTarget<S>,
    magnitude: f64,
    (secret, keys): (&SecretKey<S>, &EvaluationKeys<S>),
    inputs: Vec<Ciphertext<S>>,
) -> (Vec<S::Value>, f64) {
    let lowered = target.lower_reduced(&program(text, magnitude), &[]).unwrap();
    let planned = lowered.outputs[0];
    let outputs = run(&lowered.plan, &Evaluator::new(&target.params), inputs, keys).unwrap();
    let decryptor = Decryptor::new(secret);
    let plaintext = match planned.reduction {
        Some(reduction) => {
            let lifted = outputs[0].reduce(reduction).unwrap().lift().unwrap();
            assert!(lifted.shape().noise.error <= planned.shape.noise.error + sotto_rlwe::Log2(-30.0));
            decryptor.decrypt_selected(&lifted, reduction.selection).unwrap()
        }
        None => {
            assert!(!S::EXACT, "{text}: an exact answer leaves reduced");
            decryptor.decrypt(&outputs[0]).unwrap()
        }
    };
    (S::decode_slots(&target.params, &plaintext).unwrap(), planned.slot_error)
}

/// Returns every residue and the shape of every ciphertext.
fn bits<S: Managed>(ciphertexts: &[Ciphertext<S>]) -> Vec<(String, Vec<u64>)> {
    let words = |poly: &Poly<Eval>| poly.limbs().flat_map(|i| poly.limb(i).to_vec()).collect::<Vec<u64>>();
    ciphertexts
        .iter()
        .map(|c| (format!("{:?}", c.shape()), c.components().iter().flat_map(words).collect()))
        .collect()
}

const QUESTIONS: [&str; 11] = [
    "sum(x)",
    "16*sum(x*x) - sum(x)^2",
    "x*y + x",
    "x*x*x - 2*x + 1",
    "sum(x*y)",
    "rotate(x, 3) - rotate(y, -2)",
    "[1, 2, 3, 4] * x + [5, 6]",
    "3 - x",
    "(x + y) * (x - y) + x",
    "-x*4",
    "x+x",
];

fn exact<S: Managed + Scheme<Value = i64>>() {
    for text in QUESTIONS {
        for origin in [Origin::SecretKey, Origin::PublicKey] {
            let value = |i: usize| (i as i64 * 37) % 101 - 50;
            let Ran { choice, values, reduced, .. } = ran::<S>(text, 51.0, value, origin);
            let shape = choice.target.slot_shape().unwrap();
            let input = |offset: usize| (0..64).map(|i| i128::from(value(i + offset))).collect::<Vec<_>>();
            let clear = clear::run_integer(&program(text, 51.0), &[input(0), input(5)], shape, None).unwrap();
            let found: Vec<i128> = values.iter().map(|v| i128::from(*v)).collect();
            assert_eq!(found, clear[0], "{} {text}", S::ID);
            assert_eq!(reduced.0, values, "{} {text}, reduced", S::ID);
        }
    }
}

#[test]
fn bfv_answers_are_exact() {
    exact::<Bfv>();
}

#[test]
fn bgv_answers_are_exact() {
    exact::<Bgv>();
}

#[test]
fn ckks_answers_are_within_their_bound() {
    for text in QUESTIONS.iter().chain(&["0.3*x^3 - 0.5*x^2 + 0.25*x + 0.1", "sum([0.1, 0.2, 0.3] * x)"]) {
        let value = |i: usize| ((i * 37) % 101) as f64 / 50.0 - 1.0;
        let Ran { choice, values, bound, reduced } = ran::<Ckks>(text, 1.02, value, Origin::PublicKey);
        let shape = choice.target.slot_shape().unwrap();
        let input = |offset: usize| (0..64).map(|i| value(i + offset)).collect::<Vec<f64>>();
        let clear = clear::run_real(&program(text, 1.02), &[input(0), input(5)], shape).unwrap();
        let worst = reduced.0.iter().zip(&clear[0]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(worst <= reduced.1 && reduced.1 <= 1.13 * bound, "{text}, reduced: {worst} {}", reduced.1);
        let worst = values.iter().zip(&clear[0]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!("{text}: n = {}, off by {worst:.2e}, bound {bound:.2e}", choice.target.params.degree());
        assert!(worst <= bound, "{text}: off by {worst:e}, bound {bound:e}");
        assert!(bound < 0.05, "{text}: the bound {bound:e} says nothing");
    }
}

#[test]
fn what_cannot_be_done_is_refused_before_a_key_exists() {
    let small = choose::<Bfv>(&[program("x", 10.0)], &asked(Origin::SecretKey)).unwrap().target;
    let deep = small.lower_with_shapes(&program("x^8", 2.0)).unwrap_err();
    let refused = matches!(deep, LowerError::NoiseExceeded { .. } | LowerError::NotSupported { .. });
    assert!(refused || matches!(deep, LowerError::PlainModulusTooSmall { .. }), "{deep}");
    let wrap = small.lower_with_shapes(&program("1000000*x", 10.0)).unwrap_err();
    assert!(matches!(wrap, LowerError::PlainModulusTooSmall { .. }), "{wrap}");
    let real = choose::<Bgv>(&[program("0.5*x", 10.0)], &asked(Origin::SecretKey)).unwrap_err();
    assert!(real.to_string().contains("whole numbers"), "{real}");
    let shallow = Requirements { degree: Some(4096), ..asked(Origin::SecretKey) };
    let deep = choose::<Ckks>(&[program("x^4", 1.0)], &shallow).unwrap_err();
    assert!(deep.to_string().contains("needs 2 levels and the parameters have 1"), "{deep}");
}

#[test]
fn refusals_say_that_magnitude_and_error_are_the_cause() {
    let plain = |error| Requirements { largest_error: error, ..asked(Origin::SecretKey) };
    let wide = choose::<Ckks>(&[program("sum(x*x)", 4000.0)], &plain(1e-3)).unwrap_err().to_string();
    assert!(wide.contains("as large as 2.6e8") && wide.contains("smaller than 4e3"), "{wide}");
    let fine = choose::<Ckks>(&[program("sum(x*x)", 1.0)], &plain(1e-12)).unwrap_err();
    assert!(matches!(fine, ChooseError::Precision { asked: 1e-12, declared: 1.0, .. }), "{fine}");
    assert!(fine.to_string().contains("allow a larger error"), "{fine}");
    let vast = choose::<Bfv>(&[program("x^24", 1000.0)], &asked(Origin::SecretKey)).unwrap_err();
    assert!(matches!(vast, ChooseError::Range { declared: 1000.0, .. }), "{vast}");
}

#[test]
fn a_plan_is_refused_without_its_keys_or_with_other_parameters() {
    let choice = choose::<Bfv>(&[program("sum(x*y)", 10.0)], &asked(Origin::PublicKey)).unwrap();
    let params = &choice.target.params;
    let mut rng = ChaCha20Rng::from_seed([12; 32]);
    let secret = SecretKey::<Bfv>::derive(&DeviceSecret::generate(&mut rng), params);
    let plan = &choice.lowered[0].plan;
    let fresh = sotto_rlwe::Shape::fresh(params, Origin::PublicKey, 1.0).unwrap();
    let input = |shape| (secret.id(), shape);
    let none = secret.evaluation_keys(false, &[], &mut rng).unwrap();
    let refusal = check(plan, params, &[input(fresh), input(fresh)], &none, u64::MAX).unwrap_err();
    assert!(refusal.to_string().contains("relinearisation key is missing"), "{refusal}");
    let some = secret.evaluation_keys(true, &[1, 2], &mut rng).unwrap();
    let refusal = check(plan, params, &[input(fresh), input(fresh)], &some, u64::MAX).unwrap_err();
    assert!(refusal.to_string().contains("rotation by 4 is missing"), "{refusal}");
    assert!(matches!(
        check(plan, params, &[input(fresh)], &some, u64::MAX),
        Err(RunError::Inputs { expected: 2, found: 1 })
    ));
    let mut other = plan.clone();
    other.parameter_id[0] ^= 1;
    assert_eq!(check(&other, params, &[input(fresh), input(fresh)], &some, 0), Err(RunError::Parameters));
    let mut noisy = fresh;
    noisy.noise.error = sotto_rlwe::Log2(fresh.noise.error.0 + fresh.room(params) - 1.0);
    let all = secret.evaluation_keys(true, &plan.keys.rotations, &mut rng).unwrap();
    assert!(check(plan, params, &[input(fresh), input(fresh)], &all, u64::MAX).is_ok());
    let refusal = check(plan, params, &[input(noisy), input(noisy)], &all, u64::MAX).unwrap_err();
    assert!(refusal.to_string().contains("noise bound"), "{refusal}");
}

#[test]
fn single_values_work_for_any_plain_modulus() {
    for t in [29u64, 61, 509, 1021, 65537, 1000] {
        let options = ParseOptions::encrypted_literals();
        for text in ["3*4+3", "4-3", "30*34", "2*3*4*5"] {
            let parsed = parse(text, &options).unwrap();
            let asked = Requirements {
                encoding: Encoding::Scalar,
                origin: Origin::SecretKey,
                plain_modulus: Some(t),
                columns: 1,
                degree: None,
                largest_error: f64::INFINITY,
            };
            let inputs = parsed.literal_integers().unwrap();
            let clear =
                clear::run_integer(&parsed.program, &inputs, SlotShape::SCALAR, Some(t)).unwrap()[0][0];
            assert_eq!(scalar::<Bfv>(&parsed.program, &asked, &inputs), clear, "BFV {text} mod {t}");
            assert_eq!(scalar::<Bgv>(&parsed.program, &asked, &inputs), clear, "BGV {text} mod {t}");
        }
    }
}

fn scalar<S: Managed + Scheme<Value = i64>>(
    program: &Program,
    asked: &Requirements,
    inputs: &[Vec<i128>],
) -> i128 {
    let choice = choose::<S>(core::slice::from_ref(program), asked).unwrap();
    let params = &choice.target.params;
    let mut rng = ChaCha20Rng::from_seed([13; 32]);
    let secret = SecretKey::<S>::derive(&DeviceSecret::generate(&mut rng), params);
    let plan = &choice.lowered[0].plan;
    let keys = if params.can_switch_keys() {
        secret.evaluation_keys(plan.keys.relinearisation, &plan.keys.rotations, &mut rng).unwrap()
    } else {
        sotto_rlwe::EvaluationKeys::empty(params, secret.id())
    };
    let t = i128::from(params.plain_modulus());
    let encrypt = |values: &Vec<i128>| {
        let plain = S::encode_scalar(params, (values[0] % t) as i64, params.top_level()).unwrap();
        secret.encrypt(&plain, &mut rng).unwrap().expand()
    };
    let inputs: Vec<_> = inputs.iter().map(encrypt).collect();
    let outputs = run(plan, &Evaluator::new(params), inputs, &keys).unwrap();
    let value = Decryptor::new(&secret).scalar(&outputs[0]).unwrap().into_residues();
    i128::from(value).rem_euclid(t)
}

#[test]
fn a_plan_whose_answer_nobody_could_read_is_refused_when_it_has_run() {
    use sotto_program::{PlanStep, Register, Step};
    let choice = choose::<Bfv>(&[program("x + y", 3.0)], &asked(Origin::SecretKey)).unwrap();
    let params = &choice.target.params;
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    let secret = SecretKey::<Bfv>::derive(&DeviceSecret::generate(&mut rng), params);
    let keys = secret.evaluation_keys(false, &[], &mut rng).unwrap();
    let plain = Bfv::encode_scalar(params, 3, params.top_level()).unwrap();
    let [x, y] = [(); 2].map(|()| secret.encrypt(&plain, &mut rng).unwrap().expand());
    let [a, b, c] = [0, 2, 3].map(Register);
    for steps in [
        vec![Step::Sub(a, a)],
        vec![Step::MultiplyScalar(a, 0)],
        vec![Step::Negate(a), Step::Add(a, b)],
        vec![Step::Sub(a, a), Step::AddPlain(b, sotto_program::ConstantId(0))],
    ] {
        let mut plan = choice.lowered[0].plan.clone();
        if steps.iter().any(|step| step.constant().is_some()) {
            let (level, power) = (params.top_level() as u8, 1);
            plan.constants.push(sotto_program::PlainConstant { coefficients: vec![1], level, power });
        }
        plan.outputs[0].register = if steps.len() == 1 { b } else { c };
        plan.steps = (2..).map(Register).zip(steps).map(|(output, step)| PlanStep { step, output }).collect();
        plan.keys = plan.keys_needed();
        let ran = run(&plan, &Evaluator::new(params), vec![x.clone(), y.clone()], &keys);
        assert!(matches!(ran, Err(RunError::Transparent { .. })), "{:?}: {:?}", plan.steps, ran.err());
    }
}

#[test]
fn constants_of_another_power_and_answers_of_zero_are_refused() {
    let choice = choose::<Ckks>(&[program("0.5*x + 0.25", 1.0)], &asked(Origin::SecretKey)).unwrap();
    let params = &choice.target.params;
    let fresh = sotto_rlwe::Shape::fresh(params, Origin::SecretKey, 1.0).unwrap();
    let keys = sotto_rlwe::EvaluationKeys::empty(params, sotto_rlwe::KeyId([0; 16]));
    let given = [(keys.key, fresh), (keys.key, fresh)];
    let mut plan = choice.lowered[0].plan.clone();
    assert!(check(&plan, params, &given, &keys, u64::MAX).is_ok());
    plan.constants[0].power = 2;
    assert!(matches!(check(&plan, params, &given, &keys, u64::MAX), Err(RunError::Constant { .. })));
    // A constant at the scale of power 1 cannot be added to a product that was not rescaled.
    let mut plan = choice.lowered[0].plan.clone();
    let level = plan.constants[0].level;
    plan.constants[1].level = level;
    plan.steps.truncate(1);
    let output = sotto_program::Register(3);
    let step = sotto_program::Step::AddPlain(sotto_program::Register(2), sotto_program::ConstantId(1));
    plan.steps.push(sotto_program::PlanStep { step, output });
    plan.outputs[0].register = output;
    plan.keys = plan.keys_needed();
    let refusal = check(&plan, params, &given, &keys, u64::MAX).unwrap_err();
    assert!(matches!(refusal, RunError::Step { .. }), "{refusal}");
    for text in ["x*0", "x - x", "x*x - x*x"] {
        let target = choose::<Bfv>(&[program("x*y", 3.0)], &asked(Origin::SecretKey)).unwrap().target;
        let refusal = target.lower_with_shapes(&program(text, 3.0)).unwrap_err();
        assert!(refusal.to_string().contains("zero whatever"), "{text}: {refusal}");
    }
}
