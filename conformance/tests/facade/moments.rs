//! Sums as the last step: the same values as the sums that computations go on with, and more exact.

use sotto::{Bfv, Ckks, Context, Encrypted};

use super::expressions::{Party, Public1, party};

fn values<S: Public1>(len: usize, seed: usize) -> Vec<S::Value> {
    (0..len).map(|i| S::value(((i * 29 + seed) % 101) as f64 - 50.0)).collect()
}

fn sums<S: Public1>(party: &Party<S>, len: usize) {
    let context = party.secret.context();
    let (x, y) = (values::<S>(len, 7), values::<S>(len, 40));
    let exact: f64 = x.iter().map(|x| S::real(*x)).sum();
    let products: f64 = x.iter().zip(&y).map(|(x, y)| S::real(*x) * S::real(*y)).sum();
    let sum = |v: &[Encrypted<S>]| v[0].sum_for_answer();
    let dot = |v: &[Encrypted<S>]| v[0].dot_for_answer(&v[1]);
    // Padding that a public number fills is cleared first.
    let padded = |v: &[Encrypted<S>]| (&v[0] - &v[1].sum()?)?.sum_for_answer();
    let filled = exact - len as f64 * y.iter().map(|y| S::real(*y)).sum::<f64>();
    let encrypted = [party.secret.encrypt(&x).unwrap(), party.secret.encrypt(&y).unwrap()];
    let read = [&x, &y].map(|v| party.public.read(&party.secret.encrypt_to_bytes(v).unwrap()).unwrap());
    type Sum<'a, S> = &'a dyn Fn(&[Encrypted<S>]) -> sotto::Result<Encrypted<S>>;
    let cases: [(Sum<'_, S>, f64); 3] = [(&sum, exact), (&dot, products), (&padded, filled)];
    for (work, exact) in cases {
        let plan = context.plan(&[len, len], work).unwrap();
        let bytes = work(&read).unwrap().to_bytes().unwrap();
        let there = party.secret.decrypt_answer(&bytes, &plan).unwrap();
        let here = party.secret.decrypt(&work(&encrypted).unwrap()).unwrap();
        for answer in [here, there] {
            assert!((S::real(answer.value()) - exact).abs() <= answer.bound(), "{context} {len}");
            assert!(answer.bound() <= 1e-4 * plan.magnitude(), "{context} {len}: {}", answer.bound());
        }
    }
}

#[test]
fn sums_are_those_in_the_clear() {
    let real = Context::<Ckks>::builder().values_within(50.0).depth(2).build().unwrap();
    let slots = real.slots();
    let real = party(&real);
    for len in [1, 6, slots, 10 * slots + 3] {
        sums(&real, len);
    }
    let exact = Context::<Bfv>::builder().values_within(50.0).results_within(1e13).depth(1).build().unwrap();
    let exact = party(&exact);
    for len in [1, 6, 9000] {
        sums(&exact, len);
    }
}

#[test]
fn long_sums_keep_their_bits() {
    let context = Context::<Ckks>::builder().values_within(1.0).depth(1).build().unwrap();
    let lengths = [1_000_000, 1_000_000];
    let usual = context.plan(&lengths, |v| v[0].dot(&v[1])?.for_answer()).unwrap();
    let last = context.plan(&lengths, |v| v[0].dot_for_answer(&v[1])).unwrap();
    // A sum whose slots have room for a product, and which is lowered afterwards, loses up to two bits at this length.
    let close = |last: f64, usual: f64| assert!(last <= 1.7 * usual && usual <= 4.0 * last, "{last} {usual}");
    close(last.error_bound(), usual.error_bound());
    assert_eq!(last.counts().2, context.slots().ilog2() as usize);
    assert!(last.answer_bytes() <= usual.answer_bytes());
    let usual = context.plan(&lengths, |v| v[0].sum()?.for_answer()).unwrap();
    let last = context.plan(&lengths, |v| v[0].sum_for_answer()).unwrap();
    close(last.error_bound(), usual.error_bound());
    assert!(usual.error_bound() < 1e-11 * usual.magnitude(), "{}", usual.error_bound());
    // More rows than the primes have room for, at any level, are refused.
    let spent = context.plan(&[100, 100], |v| v[0].square()?.square()?.square()?.dot_for_answer(&v[1]));
    assert!(matches!(spent, Err(sotto::Error::Depth { .. })));
}
