//! Every operation and circuit on every machine, compared with the machine in the clear: every scheme, level and kind
//! of encryption, several degrees and digit counts.

use sotto_circuits::Clear;
use sotto_conformance::{Case, DoNothing, Fixture, Public, Subject, Testable, hold, with_digits};
use sotto_rlwe::{Bfv, Bgv, Ckks, Params};

const STEPS: [i32; 6] = [0, 1, -1, 2, 4, 8];

fn all_cases() -> Vec<Case> {
    Case::LINEAR.into_iter().chain(Case::KEYED).collect()
}

/// Runs every case at every level; the cases in `needed` must be accepted at the top level.
fn at_every_level<T: Subject>(t: &mut T, cases: &[Case], needed: &[Case]) {
    let mut total = 0;
    for level in (0..=t.top()).rev() {
        let done = hold(t, cases, level);
        if level == t.top() {
            let refused: Vec<_> = needed.iter().filter(|case| !done.contains(case)).collect();
            assert!(refused.is_empty(), "{}: {refused:?} refused at the top", t.name());
        }
        total += done.len();
    }
    println!("{}: {total} of {} done", t.name(), cases.len() * (t.top() + 1));
}

fn default_chain<S: Testable>(degree: usize) -> Fixture<S> {
    let params = Params::default_chain(degree, S::plain_modulus(degree)).unwrap();
    Fixture::with_steps(params, &STEPS, 1)
}

/// Degrees with one data prime and no special primes; a plain modulus without slots leaves one value.
fn without_keys<S: Testable>(degree: usize, t: u64) {
    let mut f = Fixture::<S>::with_steps(Params::default_chain(degree, t).unwrap(), &[], 2);
    let cases: Vec<Case> = Case::LINEAR.into_iter().filter(|case| *case != Case::MultiplyVector).collect();
    at_every_level(&mut f, &cases, &[Case::Add, Case::SubtractFromItself, Case::Negate, Case::AddVector]);
    assert!(hold(&mut f, &[Case::Multiply, Case::SwapRows], 0).is_empty());
    if S::slot_shape(&f.params).is_some() {
        assert!(hold(&mut f, &[Case::Rotate(1), Case::RotateMany, Case::SumBlock(4)], 0).is_empty());
    }
}

#[test]
fn do_nothing_machines() {
    let public = |one: i64| Public { three: 3, fraction: -5, vector: (one..65).collect() };
    let mut integers = DoNothing::new(Clear::integers(65537, 2, 32), (0..64).collect(), public(1));
    at_every_level(&mut integers, &all_cases(), &all_cases());
    at_every_level(&mut integers, &[Case::SumRow, Case::SumAll], &[Case::SumRow, Case::SumAll]);
    let reals = |from: i32| (from..from + 64).map(|i| f64::from(i) / 8.0).collect::<Vec<f64>>();
    let public = Public { three: 3.0, fraction: 0.25, vector: reals(1) };
    let mut real = DoNothing::new(Clear::reals(64), reals(-20), public);
    at_every_level(&mut real, &all_cases(), &all_cases());
}

#[test]
fn one_prime() {
    without_keys::<Bfv>(1024, 17);
    without_keys::<Bgv>(1024, 17);
    without_keys::<Bfv>(2048, 12_289);
    without_keys::<Bgv>(2048, 12_289);
}

#[test]
fn smallest_with_products() {
    let linear = Case::LINEAR;
    at_every_level(&mut default_chain::<Bfv>(4096), &all_cases(), &linear);
    at_every_level(&mut default_chain::<Bgv>(4096), &all_cases(), &linear);
    at_every_level(&mut default_chain::<Ckks>(4096), &all_cases(), &linear);
}

fn digits<S: Testable>(degree: usize, chains: &[(usize, usize)]) {
    for (special, digit_primes) in chains {
        let params = with_digits(degree, *special, *digit_primes);
        let mut f = Fixture::<S>::with_steps(params, &STEPS, 3);
        let cases = [Case::Multiply, Case::Rotate(-1), Case::RotateMany, Case::SwapRows];
        at_every_level(&mut f, &cases, &cases);
    }
}

#[test]
fn bfv_every_level() {
    at_every_level(&mut default_chain::<Bfv>(8192), &all_cases(), &Case::LINEAR);
    at_every_level(&mut default_chain::<Bfv>(16384), &all_cases(), &all_cases());
}

#[test]
fn bgv_every_level() {
    at_every_level(&mut default_chain::<Bgv>(8192), &all_cases(), &Case::LINEAR);
    let mut f = default_chain::<Bgv>(16384);
    at_every_level(&mut f, &all_cases(), &all_cases());
    // One of the sums has operands with different factors.
    assert!(f.evaluator.counters().totals().contains_key("match-factor"));
}

#[test]
fn ckks_every_level() {
    at_every_level(&mut default_chain::<Ckks>(8192), &all_cases(), &all_cases());
    let mut f = default_chain::<Ckks>(16384);
    at_every_level(&mut f, &all_cases(), &all_cases());
    assert!(f.evaluator.counters().totals().contains_key("match-scale"));
}

#[test]
fn digits_at_8192() {
    let chains = [(1, 1), (2, 1), (2, 2)];
    digits::<Bfv>(8192, &chains);
    digits::<Bgv>(8192, &chains);
    digits::<Ckks>(8192, &chains);
}

/// Digits of one and of several primes, and keys whose noise nothing divides. A last digit alone switches no keys, and
/// reals need more exact ones.
#[test]
fn without_special_primes() {
    let chains = [(0, 1), (0, 2), (0, 3)];
    digits::<Bfv>(8192, &chains[..1]);
    digits::<Bgv>(8192, &chains[..1]);
    digits::<Bfv>(16384, &chains);
    digits::<Bgv>(16384, &chains);
    let mut f = Fixture::<Ckks>::with_steps(with_digits(16384, 0, 1), &STEPS, 3);
    at_every_level(&mut f, &all_cases(), &Case::LINEAR);
}

#[test]
fn digits_at_16384() {
    let chains = [(1, 1), (2, 1), (3, 3), (4, 4)];
    digits::<Bfv>(16384, &chains);
    digits::<Bgv>(16384, &chains);
    digits::<Ckks>(16384, &chains);
}
