//! Programs over inputs under different secret keys: lowered, run, compared with the clear backend, refused.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_program::{InputDeclaration, KeyNumber, ParseOptions, Program, clear, parse};
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, EvaluationKeys, Evaluator, Log2, Origin, Scheme, Shape};
use sotto_runtime::{Choice, Encoding, Managed, Requirements, RunError, check, choose, run};

/// x and v are under the answer's key, y and z under a second one, w under a third.
const INPUTS: [(&str, u16); 5] = [("x", 0), ("y", 1), ("z", 1), ("w", 2), ("v", 0)];

fn program(text: &str, magnitude: f64) -> Program {
    let input = |(name, key): (&str, u16)| InputDeclaration::new(name, magnitude).under(KeyNumber(key));
    let options =
        ParseOptions { inputs: INPUTS.map(input).to_vec(), sum_width: Some(16), ..ParseOptions::default() };
    parse(text, &options).unwrap_or_else(|error| panic!("{error}")).program
}

fn chosen<S: Managed>(text: &str, magnitude: f64) -> Choice<S> {
    let asked = Requirements {
        encoding: Encoding::Slots,
        origin: Origin::PublicKey,
        plain_modulus: None,
        columns: 64,
        degree: None,
        largest_error: 0.02,
    };
    choose::<S>(&[program(text, magnitude)], &asked).unwrap_or_else(|error| panic!("{text}: {error}"))
}

/// Three secret keys, the answer's first, and the answer's evaluation keys for a plan.
struct Keys<S: Scheme> {
    secrets: [SecretKey<S>; 3],
    evaluation: EvaluationKeys<S>,
    rng: ChaCha20Rng,
}

fn keys<S: Managed>(choice: &Choice<S>) -> Keys<S> {
    let mut rng = ChaCha20Rng::from_seed([21; 32]);
    let secrets =
        [(); 3].map(|()| SecretKey::derive(&DeviceSecret::generate(&mut rng), &choice.target.params));
    let needed = &choice.lowered[0].plan.keys;
    let mut evaluation =
        secrets[0].evaluation_keys(needed.relinearisation, &needed.rotations, &mut rng).unwrap();
    for from in &needed.transfers {
        let from = &secrets[from.index()];
        evaluation.transfers.insert(from.id(), secrets[0].transfer_key(from, &mut rng).unwrap());
    }
    Keys { secrets, evaluation, rng }
}

/// Runs a question. Returns the choice, the answer, and the bound on its error.
fn ran<S: Managed>(
    text: &str,
    magnitude: f64,
    value: impl Fn(usize) -> S::Value,
) -> (Choice<S>, Vec<S::Value>, f64) {
    let choice = chosen::<S>(text, magnitude);
    let (params, plan) = (&choice.target.params, &choice.lowered[0].plan);
    let Keys { secrets, evaluation, mut rng } = keys(&choice);
    let encrypt = |(at, (_, key)): (usize, &(&str, u16))| -> Ciphertext<S> {
        let values: Vec<S::Value> = (0..64).map(|i| value(i + 7 * at)).collect();
        let plain = S::encode_slots(params, &values, params.top_level()).unwrap();
        let plain = plain.declare_magnitude(magnitude.max(1.0));
        secrets[usize::from(*key)].encrypt(&plain, &mut rng).unwrap().expand()
    };
    let inputs = INPUTS.iter().enumerate().map(encrypt).collect();
    let evaluator = Evaluator::new(params);
    let outputs = run(plan, &evaluator, inputs, &evaluation).unwrap_or_else(|e| panic!("{text}: {e}"));
    assert_eq!(evaluator.counters().totals(), plan.counts(), "the evaluator did what the plan says: {text}");
    assert_eq!(outputs[0].key(), secrets[0].id(), "{text}");
    let planned = choice.lowered[0].outputs[0];
    assert!(outputs[0].shape().noise.error <= planned.shape.noise.error + Log2(-30.0));
    let plaintext = Decryptor::new(&secrets[0]).decrypt(&outputs[0]).unwrap();
    assert!(Decryptor::new(&secrets[1]).decrypt(&outputs[0]).is_err(), "the other key does not decrypt");
    let bound = planned.slot_error;
    let values = S::decode_slots(params, &plaintext).unwrap();
    (choice, values, bound)
}

/// Questions, each with its number of key switches.
const QUESTIONS: [(&str, u64); 10] = [
    ("sum(x + y)", 1),
    ("sum(x) - sum(y)", 1),
    ("x + (3*y + z)", 1),
    ("x + 3*y + z", 2),
    ("y + z", 1),
    ("x*y + w", 2),
    ("y*z + y*y", 2),
    ("sum(y*w)", 2),
    ("3*y + x - 5*y", 2),
    ("[1, 2, 3] * y + [4, 5] - v", 1),
];

fn exact<S: Managed + Scheme<Value = i64>>() {
    for (text, switches) in QUESTIONS {
        let value = |i: usize| (i as i64 * 37) % 101 - 50;
        let (choice, found, _) = ran::<S>(text, 51.0, value);
        let shape = choice.target.slot_shape().unwrap();
        let inputs: Vec<Vec<i128>> =
            (0..5).map(|at| (0..64).map(|i| i128::from(value(i + 7 * at))).collect()).collect();
        let clear = clear::run_integer(&program(text, 51.0), &inputs, shape, None).unwrap();
        let found: Vec<i128> = found.into_iter().map(i128::from).collect();
        assert_eq!(found, clear[0], "{} {text}", S::ID);
        assert_eq!(choice.lowered[0].plan.counts()["switch-key"], switches, "{} {text}", S::ID);
    }
}

#[test]
fn bfv_answers_over_several_keys_are_exact() {
    exact::<Bfv>();
}

#[test]
fn bgv_answers_over_several_keys_are_exact() {
    exact::<Bgv>();
}

#[test]
fn ckks_answers_over_several_keys_are_within_their_bound() {
    for text in
        QUESTIONS.map(|(text, _)| text).iter().chain(&["0.6*x + 0.4*y", "sum([0.1, 0.2] * y + 0.3*x)"])
    {
        let value = |i: usize| ((i * 37) % 101) as f64 / 50.0 - 1.0;
        let (choice, found, bound) = ran::<Ckks>(text, 1.02, value);
        let shape = choice.target.slot_shape().unwrap();
        let inputs: Vec<Vec<f64>> = (0..5).map(|at| (0..64).map(|i| value(i + 7 * at)).collect()).collect();
        let clear = clear::run_real(&program(text, 1.02), &inputs, shape).unwrap();
        let worst = found.iter().zip(&clear[0]).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        println!("{text}: off by {worst:.2e}, bound {bound:.2e}");
        assert!(worst <= bound, "{text}: off by {worst:e}, bound {bound:e}");
        assert!(bound < 0.05, "{text}: the bound {bound:e} says nothing");
    }
}

#[test]
fn inputs_are_under_the_keys_that_the_plan_says() {
    let choice = chosen::<Bfv>("sum(x + 2*y + 3*z + v)", 10.0);
    let (params, plan) = (&choice.target.params, &choice.lowered[0].plan);
    let Keys { secrets, evaluation, .. } = keys(&choice);
    let fresh = Shape::fresh(params, Origin::PublicKey, 1.0).unwrap();
    let checked = |keys: &EvaluationKeys<Bfv>, of: [usize; 5]| {
        check(plan, params, &of.map(|key| (secrets[key].id(), fresh)), keys, u64::MAX)
    };
    assert!(checked(&evaluation, [0, 1, 1, 2, 0]).is_ok());
    // The same plan serves other devices in place of the second and the third key.
    let mut other = evaluation.clone();
    let key = other.transfers.remove(&secrets[1].id()).unwrap();
    other.transfers.insert(secrets[2].id(), key);
    assert!(checked(&other, [0, 2, 2, 1, 0]).is_ok());

    let missing = checked(&other, [0, 1, 1, 2, 0]).unwrap_err().to_string();
    let names = format!("transfer key from {} to {} is missing", secrets[1].id(), secrets[0].id());
    assert!(missing.contains(&names) && missing.contains("the owner has to upload it"), "{missing}");
    let mixed = checked(&evaluation, [0, 1, 2, 2, 0]).unwrap_err();
    assert!(matches!(&mixed, RunError::MixedKeys { input, .. } if input == "z"), "{mixed}");
    let mixed = checked(&evaluation, [0, 1, 1, 2, 1]).unwrap_err();
    assert!(matches!(&mixed, RunError::MixedKeys { input, .. } if input == "v"), "{mixed}");
    assert!(mixed.to_string().contains("no switch-key step"), "{mixed}");
    let same = checked(&evaluation, [0, 0, 0, 2, 0]).unwrap_err();
    assert!(matches!(&same, RunError::SameKey { input, .. } if input == "y"), "{same}");
    let same = checked(&evaluation, [0, 1, 1, 1, 0]).unwrap_err();
    assert!(matches!(&same, RunError::SameKey { input, .. } if input == "w"), "{same}");
}
