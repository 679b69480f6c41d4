//! Inner products against the clear, and products of padding that a repeated value fills.

use sotto::{Bfv, Bgv, Ckks, Context, Encrypted, Error};

use super::expressions::{Party, Public1, party};

fn inputs<S: Public1>(lengths: [usize; 2], seed: usize) -> [Vec<S::Value>; 2] {
    let value = |v: usize, i: usize| S::value(((i * 29 + v * 13 + seed) % 101) as f64 - 50.0);
    [0, 1].map(|v| (0..lengths[v]).map(|i| value(v, i)).collect())
}

fn multiplies<S: Public1>(party: &Party<S>, lengths: [usize; 2]) {
    let context = party.secret.context();
    let [x, y] = inputs::<S>(lengths, 7);
    let len = lengths[0].max(lengths[1]);
    let exact: f64 = (0..len).map(|i| S::real(x[i.min(x.len() - 1)]) * S::real(y[i.min(y.len() - 1)])).sum();
    let plan = context.plan(&lengths, |v| v[0].dot(&v[1])).unwrap();
    let bytes = |values: &[S::Value]| party.secret.encrypt_to_bytes(values).unwrap();
    let read = |values: &[S::Value]| party.public.read(&bytes(values)).unwrap();
    let here = party.secret.encrypt(&x).unwrap().dot(&party.secret.encrypt(&y).unwrap()).unwrap();
    let there = read(&x).dot(&read(&y)).unwrap().to_bytes().unwrap();
    for answer in [party.secret.decrypt(&here).unwrap(), party.secret.decrypt_answer(&there, &plan).unwrap()]
    {
        assert!((S::real(answer.value()) - exact).abs() <= answer.bound(), "{context} {lengths:?}");
        assert!(answer.bound() <= 1e-4 * plan.magnitude(), "{context} {lengths:?}: {}", answer.bound());
    }
    // A square of a vector is its product with itself.
    let v = party.secret.encrypt(&x).unwrap();
    let found = party.secret.decrypt(&v.dot(&v).unwrap()).unwrap();
    let exact: f64 = x.iter().map(|value| S::real(*value).powi(2)).sum();
    assert!((S::real(found.value()) - exact).abs() <= found.bound(), "{context} {lengths:?}");
}

#[test]
fn inner_products_are_those_in_the_clear() {
    let real = Context::<Ckks>::builder().values_within(50.0).depth(1).build().unwrap();
    let exact = Context::<Bfv>::builder().values_within(50.0).results_within(1e9).depth(1).build().unwrap();
    let other = Context::<Bgv>::builder().values_within(50.0).results_within(1e9).depth(1).build().unwrap();
    let slots = real.slots();
    let party_of_reals = party(&real);
    for lengths in [[1, 1], [5, 5], [1, 6], [8, 8], [slots, slots], [3 * slots + 5; 2], [1, slots + 1]] {
        multiplies(&party_of_reals, lengths);
    }
    let slots = exact.slots();
    let (bfv, bgv) = (party(&exact), party(&other));
    for lengths in [[5, 5], [7, 1], [slots / 2 + 1; 2], [2 * slots + 3; 2]] {
        multiplies(&bfv, lengths);
        multiplies(&bgv, lengths);
    }
}

#[test]
fn one_relinearisation_for_any_length() {
    let context = Context::<Ckks>::for_depth(1).unwrap();
    let lengths = [20 * context.slots(); 2];
    let plan = context.plan(&lengths, |v| v[0].dot(&v[1])).unwrap();
    let apart = context.plan(&lengths, |v| v[0].dot(&v[1])?.for_answer()).unwrap();
    assert_eq!(plan.counts().0, 20);
    assert_eq!(plan.counts().2, context.slots().ilog2() as usize);
    assert!(apart.error_bound() <= 1.3 * plan.error_bound());
}

/// A repeated value stands in the slots of the padding too: x − m has no zeros there, and (x − m)·m none either.
#[test]
fn padding_that_a_repeated_value_fills_is_not_summed() {
    fn holds<S: Public1>(party: &Party<S>) {
        let [x, m] = inputs::<S>([5, 1], 3);
        let (hidden, mean) = (party.secret.encrypt(&x).unwrap(), party.secret.encrypt(&m).unwrap());
        let m = S::real(m[0]);
        let off = (&hidden - &mean).unwrap();
        let exact: f64 = x.iter().map(|value| (S::real(*value) - m) * m).sum();
        for sum in [off.dot(&mean), mean.dot(&off), (&off * &mean).and_then(|product| product.sum())] {
            let found = party.secret.decrypt(&sum.unwrap()).unwrap();
            assert!((S::real(found.value()) - exact).abs() <= found.bound(), "{found:?} {exact}");
        }
    }
    holds(&party(&Context::<Ckks>::builder().values_within(50.0).depth(2).build().unwrap()));
    holds(&party(&Context::<Bfv>::builder().values_within(50.0).depth(2).build().unwrap()));
}

#[test]
fn refusals() {
    let context = Context::<Ckks>::for_depth(1).unwrap();
    let (secret, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let (x, y) = (secret.encrypt(&[1.0, 2.0]).unwrap(), secret.encrypt(&[1.0, 2.0, 3.0]).unwrap());
    assert!(matches!(x.dot(&y), Err(Error::Length { left: 2, right: 3 })));
    let deeper = Context::<Ckks>::for_depth(3).unwrap();
    let (deep, _) = deeper.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    assert!(matches!(x.dot(&deep.encrypt(&[1.0, 2.0]).unwrap()), Err(Error::Mixed)));
    let spent = |v: &[Encrypted<Ckks>]| v[0].square()?.square()?.square()?.dot(&v[0]);
    assert!(matches!(context.plan(&[3], spent), Err(Error::Depth { .. })));
}

/// Weights that are zero over whole ciphertexts: the first, the last, all but one.
fn weighs_some_parts<S: Public1>(party: &Party<S>, len: usize, used: &[(usize, usize)]) {
    let context = party.secret.context();
    let [x, w] = inputs::<S>([len, len], 3);
    let shown = |i: usize| used.iter().any(|(start, end)| (*start..*end).contains(&i));
    let weights: Vec<S::Value> =
        w.iter().enumerate().map(|(i, w)| if shown(i) { *w } else { S::value(0.0) }).collect();
    let exact: f64 = x.iter().zip(&weights).map(|(x, w)| S::real(*x) * S::real(*w)).sum();
    let here = party.secret.encrypt(&x).unwrap().dot_plain(&weights).unwrap();
    let plan = context.plan(&[len], |v| v[0].dot_plain(&weights)).unwrap();
    let there = party.public.read(&party.secret.encrypt_to_bytes(&x).unwrap()).unwrap();
    let there = there.dot_plain(&weights).unwrap().to_bytes().unwrap();
    for answer in [party.secret.decrypt(&here).unwrap(), party.secret.decrypt_answer(&there, &plan).unwrap()]
    {
        assert!((S::real(answer.value()) - exact).abs() <= answer.bound(), "{context} {used:?}");
        assert!(answer.bound() <= 1e-4 * plan.magnitude(), "{context} {used:?}: {}", answer.bound());
    }
}

#[test]
fn weights_may_be_zero_over_whole_ciphertexts() {
    let real = Context::<Ckks>::builder().values_within(50.0).depth(1).build().unwrap();
    let exact = Context::<Bfv>::builder().values_within(50.0).results_within(1e9).depth(1).build().unwrap();
    fn both<S: Public1>(party: &Party<S>, slots: usize) {
        let len = 3 * slots + 5;
        for used in [
            vec![(0, 5)],
            vec![(len - 2, len)],
            vec![(slots + 1, slots + 3)],
            vec![(0, 1), (len - 1, len)],
            vec![(0, len)],
            vec![(slots - 1, slots + 1)],
        ] {
            weighs_some_parts(party, len, &used);
        }
        let x = party.secret.encrypt(&vec![S::value(1.0); len]).unwrap();
        let zero = party.secret.decrypt(&x.dot_plain(&vec![S::value(0.0); len]).unwrap()).unwrap();
        assert!(S::real(zero.value()) == 0.0 && zero.bound() == 0.0);
        assert!(matches!(x.dot_plain(&vec![S::value(1.0); len - 1]), Err(Error::Length { .. })));
    }
    both(&party(&real), real.slots());
    both(&party(&exact), exact.slots());
}
