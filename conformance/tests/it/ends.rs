//! Values, scalars and steps at the ends of their ranges give a correct answer or a refusal, never a wrong answer.

use proptest::prelude::*;
use sotto_circuits::{Encrypted, Machine};
use sotto_conformance::{Case, Fixture, Public, Subject, Testable};
use sotto_ring::{Scratch, primes};
use sotto_rlwe::{Bfv, Bgv, Ckks, EvalError, Params};

/// Plain moduli at the ends: 2, 3, a power of two, one with slots, and the largest prime below 2^60 (with slots).
fn plain_moduli(degree: usize) -> [u64; 5] {
    let largest = primes::below(1 << 60, degree).next().unwrap();
    [2, 3, 1 << 20, 786_433, largest]
}

/// The ends of the values modulo t.
fn ends(t: u64) -> Vec<i64> {
    let t = t as i64;
    let mut all = vec![0, 1, -1, t / 2, -(t / 2), t - 1, 1 - t];
    all.retain(|v| v.abs() < t);
    all
}

const CASES: [Case; 11] = [
    Case::Add,
    Case::AddToItself,
    Case::Subtract,
    Case::SubtractFromItself,
    Case::Negate,
    Case::AddConstant,
    Case::AddVector,
    Case::MultiplyConstant,
    Case::MultiplyVector,
    Case::Multiply,
    Case::Square,
];

/// Runs every case on these two vectors; returns the number of accepted cases. The outline predicts the refusals.
fn right_or_refused<S: Testable>(
    f: &mut Fixture<S>,
    x: &[S::Value],
    y: &[S::Value],
    constant: S::Value,
) -> usize {
    let (a, b) = (f.load(x, true), f.load(y, false));
    let public = Public { three: S::small(3), fraction: constant, vector: y.to_vec() };
    let clear = f.clear();
    let (x, y) = (clear.vector(x).unwrap(), clear.vector(y).unwrap());
    let mut done = 0;
    for case in CASES {
        let what = format!("{} t = {} {case:?}", S::ID, f.params.plain_modulus());
        let found = case.run(&mut Encrypted::new(&f.evaluator, &f.keys), &a, &b, &public);
        let outlined = f.outlined(case, &a, &b, &public).unwrap();
        assert_eq!(found.as_ref().err(), outlined.as_ref().err(), "{what}");
        let Ok(found) = found else { continue };
        let meaning = case.run(&mut f.clear(), &x, &y, &public).unwrap();
        Subject::check(f, &what, &found[0], &meaning[0]);
        done += 1;
    }
    done
}

fn integers<S: Testable<Value = i64>>(choice: &[usize]) -> Result<(), TestCaseError> {
    for t in plain_moduli(8192) {
        let mut f = Fixture::<S>::with_steps(Params::default_chain(8192, t).unwrap(), &[], 4);
        let slots = S::slot_shape(&f.params).map_or(1, |(rows, columns)| rows * columns);
        let ends = ends(t);
        let pick = |offset: usize| -> Vec<i64> {
            (0..slots).map(|i| ends[(choice[(i + offset) % choice.len()] + i / 64) % ends.len()]).collect()
        };
        let done = right_or_refused(&mut f, &pick(0), &pick(3), ends[choice[1] % ends.len()]);
        prop_assert!(done >= 7, "{} t = {t}: {done} done", S::ID);
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 6, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn integers_modulo_t(choice in prop::collection::vec(0usize..7, 8)) {
        integers::<Bfv>(&choice)?;
        integers::<Bgv>(&choice)?;
    }

    #[test]
    fn reals_at_the_declared_magnitude(
        exponent in prop::sample::select(vec![-20i32, -3, 0, 7]),
        choice in prop::collection::vec(0usize..7, 8),
    ) {
        let mut f = Fixture::<Ckks>::with_steps(Params::default_chain(8192, 0).unwrap(), &[], 5);
        let m = f64::from(exponent).exp2();
        let ends = [m, -m, 0.0, m * 1e-12, -m * 1e-12, m / 2.0, -m / 3.0];
        let pick = |offset: usize| -> Vec<f64> {
            (0..4096).map(|i| ends[(choice[(i + offset) % 8] + i / 64) % 7]).collect()
        };
        let done = right_or_refused(&mut f, &pick(0), &pick(3), ends[choice[0]]);
        prop_assert!(done >= 9, "2^{exponent}: {done} done");
        // A value above the declared magnitude by more than rounding is refused.
        let plain = f.encode(&pick(1), 3).declare_magnitude(m);
        prop_assert!(f.secret.encrypt(&plain, &mut f.rng).is_ok());
        let above = f.encode(&vec![m * 1.1; 4096], 3).declare_magnitude(m);
        let refused = f.secret.encrypt(&above, &mut f.rng);
        prop_assert_eq!(refused.unwrap_err(), EvalError::Magnitude { declared: m });
    }
}

const SCALARS: [i64; 11] =
    [i64::MIN, i64::MIN + 1, i64::MAX, -1, 0, 1, 1 << 31, -(1 << 31), 1 << 62, (1 << 62) + 1, -(1 << 60)];

fn scalars<S: Testable>(degree: usize, t: u64, expected: impl Fn(&Fixture<S>, S::Value, i64) -> S::Value) {
    let mut f = Fixture::<S>::with_steps(Params::default_chain(degree, t).unwrap(), &[], 6);
    let x = f.values();
    let a = f.encrypt(&x, true);
    let mut done = 0;
    for scalar in SCALARS {
        match f.evaluator.multiply_scalar(&a, scalar) {
            Ok(product) => {
                let meaning: Vec<_> = x.iter().map(|v| expected(&f, *v, scalar)).collect();
                Subject::check(&f, &format!("{} t = {t}: times {scalar}", S::ID), &product, &meaning);
                done += 1;
            }
            Err(refused) => assert!(matches!(refused, EvalError::Noise { .. }), "{refused}"),
        }
    }
    println!("{} n = {degree} t = {t}: {done} of {} scalars", S::ID, SCALARS.len());
    assert!(done >= 3);
}

fn integer_scalar<S: Testable<Value = i64>>(f: &Fixture<S>, value: i64, scalar: i64) -> i64 {
    let t = i128::from(f.params.plain_modulus());
    let product = (i128::from(value) * i128::from(scalar)).rem_euclid(t);
    (if 2 * product >= t { product - t } else { product }) as i64
}

#[test]
fn scalars_at_the_ends_of_i64() {
    for (degree, t) in [(4096, 2), (4096, 40_961), (8192, 3), (8192, 1 << 20), (8192, 786_433)] {
        scalars::<Bfv>(degree, t, integer_scalar);
        scalars::<Bgv>(degree, t, integer_scalar);
    }
    scalars::<Bfv>(16384, primes::below(1 << 60, 16384).next().unwrap(), integer_scalar);
    scalars::<Bgv>(16384, primes::below(1 << 60, 16384).next().unwrap(), integer_scalar);
    scalars::<Ckks>(4096, 0, |_, value, scalar| value * scalar as f64);
    scalars::<Ckks>(8192, 0, |_, value, scalar| value * scalar as f64);
}

fn rotations<S: Testable>() {
    let params = Params::<S>::default_chain(4096, S::plain_modulus(4096)).unwrap();
    let row = S::slot_shape(&params).unwrap().1 as i32;
    let mut steps = params.power_of_two_steps();
    steps.extend([row - 1, 1 - row, 1 - row / 2, -(row / 2)]);
    let mut f = Fixture::<S>::with_steps(params, &steps, 7);
    let x = f.values();
    let a = f.encrypt(&x, true);
    let mut scratch = Scratch::new();
    let hoisted = f.evaluator.hoist(&a, &mut scratch).unwrap();
    for step in steps {
        let meaning = match step {
            0 => f.clear().swap_rows(&x).unwrap(),
            _ => f.clear().rotate(&x, step).unwrap(),
        };
        let what = format!("{} rotated by {step}", S::ID);
        let mut machine = Encrypted::new(&f.evaluator, &f.keys);
        let turned = if step == 0 { machine.swap_rows(&a) } else { machine.rotate(&a, step) }.unwrap();
        f.check(&what, &turned, &meaning);
        let turned = f.evaluator.rotate_hoisted(&hoisted, step, &f.keys, &mut scratch).unwrap();
        f.check(&what, &turned, &meaning);
    }
    for step in [row, -row, i32::MAX, i32::MIN] {
        assert!(matches!(f.evaluator.rotate(&a, step, &f.keys), Err(EvalError::Step { .. })), "{step}");
    }
}

#[test]
fn rotations_by_powers_of_two_and_the_ends() {
    rotations::<Bfv>();
    rotations::<Bgv>();
    rotations::<Ckks>();
}
