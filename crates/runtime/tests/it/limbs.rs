//! Operations whose loops over limbs are shared by threads return the same bits for any number of threads.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_program::{InputDeclaration, ParseOptions, parse};
use sotto_ring::{Eval, Poly, Scratch, parallel};
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, Evaluator, Origin, Params, Scheme};
use sotto_runtime::{Encoding, Requirements, Threads, choose, run_on};

/// A degree from which limbs are shared.
const DEGREE: usize = parallel::LONG;

fn components<S: Scheme>(ciphertext: &Ciphertext<S>) -> Vec<Poly<Eval>> {
    ciphertext.components().to_vec()
}

fn is_the_same_at_any_number<S: Scheme>(plain_modulus: u64, value: S::Value) {
    let params = Params::<S>::default_chain(DEGREE, plain_modulus).unwrap();
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    let secret = SecretKey::<S>::derive(&DeviceSecret::generate(&mut rng), &params);
    let keys = secret.evaluation_keys(true, &[1], &mut rng).unwrap();
    let plain = S::encode_slots(&params, &[value; 16], params.top_level()).unwrap();
    let a = secret.encrypt(&plain, &mut rng).unwrap().expand();
    let b = secret.encrypt(&plain, &mut rng).unwrap().expand();
    let evaluator = Evaluator::new(&params);
    let compute = |()| {
        let mut scratch = Scratch::new();
        let product = evaluator.multiply(&a, &b).unwrap();
        let square = evaluator.square(&a).unwrap();
        let mut relinearised = evaluator.copy_with(&product, &mut scratch);
        evaluator.relinearise_assign(&mut relinearised, &keys, &mut scratch).unwrap();
        let lower = evaluator.drop_modulus(&relinearised).unwrap();
        let rotated = evaluator.rotate(&a, 1, &keys).unwrap();
        let hoisted = evaluator.hoist(&a, &mut scratch).unwrap();
        let again = evaluator.rotate_hoisted(&hoisted, 1, &keys, &mut scratch).unwrap();
        (
            parallel::workers(DEGREE),
            [product, square, relinearised, lower, rotated, again].map(|c| components(&c)),
        )
    };
    let (alone, expected) = compute(());
    assert_eq!(alone, 1);
    for count in [2, 3, 7] {
        let [(workers, found)] = &Threads::new(count).unwrap().map(vec![()], compute)[..] else {
            panic!("one answer")
        };
        assert_eq!(*workers, count, "the loops were shared");
        assert!(*found == expected, "{count} threads");
    }
}

#[test]
fn many_long_steps_do_not_nest() {
    // Enough steps to overflow a thread's stack if a waiting thread kept starting whole steps.
    let text = (0..200).map(|i| format!("(x+{i})*(y-{i})")).collect::<Vec<_>>().join(" + ");
    let inputs = ["x", "y"].map(|name| InputDeclaration::new(name, 3.0)).to_vec();
    let program = parse(&text, &ParseOptions { inputs, ..ParseOptions::default() }).unwrap().program;
    let asked = Requirements {
        encoding: Encoding::Slots,
        origin: Origin::SecretKey,
        plain_modulus: None,
        columns: 16,
        degree: Some(DEGREE),
        largest_error: 0.5,
    };
    let choice = choose::<Bgv>(&[program], &asked).unwrap();
    let (params, plan) = (&choice.target.params, &choice.lowered[0].plan);
    let mut rng = ChaCha20Rng::from_seed([4; 32]);
    let secret = SecretKey::<Bgv>::derive(&DeviceSecret::generate(&mut rng), params);
    let keys = secret.evaluation_keys(plan.keys.relinearisation, &plan.keys.rotations, &mut rng).unwrap();
    let plain = Bgv::encode_slots(params, &[2; 16], params.top_level()).unwrap().declare_magnitude(3.0);
    let inputs: Vec<_> = (0..2).map(|_| secret.encrypt(&plain, &mut rng).unwrap().expand()).collect();
    let evaluator = Evaluator::new(params);
    let of = |threads| {
        let outputs = run_on(&threads, plan, &evaluator, inputs.clone(), &keys, u64::MAX).unwrap();
        outputs.iter().map(components).collect::<Vec<_>>()
    };
    assert!(of(Threads::new(3).unwrap()) == of(Threads::one()));
}

#[test]
fn bfv() {
    is_the_same_at_any_number::<Bfv>(786_433, 5);
}

#[test]
fn bgv() {
    is_the_same_at_any_number::<Bgv>(786_433, 5);
}

#[test]
fn ckks() {
    is_the_same_at_any_number::<Ckks>(0, 0.5);
}
