//! Weighted sums of vectors against the clear.

use sotto::{Bfv, Bgv, Ckks, Context, Encrypted, Error};

use super::expressions::{Party, Public1, party};

fn weighs<S: Public1>(party: &Party<S>, lengths: &[usize], weights: &[f64]) {
    let context = party.secret.context();
    let inputs: Vec<Vec<S::Value>> = lengths
        .iter()
        .enumerate()
        .map(|(v, len)| (0..*len).map(|i| S::value(((i * 29 + v * 13) % 101) as f64 - 50.0)).collect())
        .collect();
    let encrypted: Vec<_> = inputs.iter().map(|input| party.secret.encrypt(input).unwrap()).collect();
    let public: Vec<S::Value> = weights.iter().map(|weight| S::value(*weight)).collect();
    let work = |x: &[Encrypted<S>]| Encrypted::weighted_sum(&x.iter().collect::<Vec<_>>(), &public);
    let len = lengths.iter().copied().max().unwrap();
    let clear = |i: usize| -> f64 {
        inputs.iter().zip(&public).map(|(v, w)| S::real(v[i.min(v.len() - 1)]) * S::real(*w)).sum()
    };
    let plan = context.plan(lengths, work).unwrap();
    assert!(plan.rotations().is_empty() && !plan.needs_relinearisation());
    let here = party.secret.decrypt(&work(&encrypted).unwrap()).unwrap();
    let read =
        inputs.iter().map(|input| party.public.read(&party.secret.encrypt_to_bytes(input).unwrap()).unwrap());
    let bytes = work(&read.collect::<Vec<_>>()).unwrap().to_bytes().unwrap();
    let there = party.secret.decrypt_answer(&bytes, &plan).unwrap();
    for answer in [here, there] {
        assert_eq!(answer.values().len(), len);
        assert!(answer.bound() <= 1e-5 * plan.magnitude(), "{}", answer.bound());
        for (i, value) in answer.values().iter().enumerate() {
            assert!(
                (S::real(*value) - clear(i)).abs() <= answer.bound(),
                "{context} {lengths:?} {weights:?}: {i}"
            );
        }
    }
    // Padding that a value of length 1 leaves is not summed.
    let total = party.secret.decrypt(&work(&encrypted).unwrap().sum().unwrap()).unwrap();
    let exact: f64 = (0..len).map(clear).sum();
    assert!((S::real(total.value()) - exact).abs() <= total.bound(), "{context} {lengths:?} {weights:?}");
}

#[test]
fn sums_are_those_in_the_clear() {
    let real = Context::<Ckks>::builder().values_within(50.0).depth(2).build().unwrap();
    let long = 2 * real.slots() + 3;
    let real = party(&real);
    for weights in [[0.25, -1.5, 1e-3], [1.0, 1.0, 1.0], [1.0, 0.0, 1e6], [1.0, 1e-15, 0.3], [2.0, -3.0, 0.0]]
    {
        weighs(&real, &[7, 7, 7], &weights);
        weighs(&real, &[7, 1, 7], &weights);
        weighs(&real, &[1, long, long], &weights);
    }
    weighs(&real, &[5; 60], &[1.0 / 60.0; 60]);
    weighs(&real, &[1, 9], &[1.0, 0.0]);
    fn exact<S: Public1>() {
        let context =
            Context::<S>::builder().values_within(50.0).results_within(1e9).depth(1).build().unwrap();
        let long = context.slots() + 3;
        let party = party(&context);
        for weights in [[2.0, -1.0, 30.0], [1.0, 0.0, 500.0]] {
            weighs(&party, &[7, 7, 7], &weights);
            weighs(&party, &[long, 1, long], &weights);
        }
        weighs(&party, &[1, 9], &[4.0, 0.0]);
    }
    exact::<Bfv>();
    exact::<Bgv>();
}

#[test]
fn whole_ratios_take_no_level_and_others_one() {
    let context = Context::<Ckks>::for_depth(2).unwrap();
    let left = |weights: [f64; 2]| {
        context.plan(&[3, 3], |x| Encrypted::weighted_sum(&[&x[0], &x[1]], &weights)).unwrap().levels_left()
    };
    let top = context.params().top_level();
    assert_eq!((left([0.5, 0.5]), left([0.1, -0.1]), left([4.0, 1.0])), (top, top, top));
    assert_eq!((left([0.7, 0.3]), left([1.0, 1e7])), (top - 1, top - 1));
    // Units of products and of negated vectors go into the weights.
    let (secret, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let x = secret.encrypt(&[2.0, -3.0]).unwrap();
    let (square, negated) = (x.square().unwrap(), (-&x).unwrap());
    let sum = Encrypted::weighted_sum(&[&square, &negated, &x], &[0.5, 2.0, 1.0]).unwrap();
    let found = secret.decrypt(&sum).unwrap();
    for (value, exact) in found.values().iter().zip([0.0, 7.5]) {
        assert!((value - exact).abs() <= found.bound() && found.bound() < 1.0, "{found:?}");
    }
}

#[test]
fn refusals() {
    let context = Context::<Ckks>::for_depth(1).unwrap();
    let (secret, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let (x, y) = (secret.encrypt(&[1.0, 2.0]).unwrap(), secret.encrypt(&[1.0, 2.0, 3.0]).unwrap());
    assert!(matches!(Encrypted::<Ckks>::weighted_sum(&[], &[]), Err(Error::Circuit(_))));
    let error = Encrypted::weighted_sum(&[&x, &x], &[1.0]).unwrap_err();
    assert!(matches!(error, Error::Weights { vectors: 2, weights: 1 }), "{error}");
    assert!(matches!(
        Encrypted::weighted_sum(&[&x, &y], &[1.0, 0.0]),
        Err(Error::Length { left: 2, right: 3 })
    ));
    let zeros = secret.decrypt(&Encrypted::weighted_sum(&[&x], &[0.0]).unwrap()).unwrap();
    assert!(zeros.values() == [0.0, 0.0] && zeros.bound() == 0.0);
    assert!(matches!(
        Encrypted::weighted_sum(&[&x, &x], &[1.0, f64::NAN]),
        Err(Error::Value { index: 1, .. })
    ));
    let deeper = Context::<Ckks>::for_depth(3).unwrap();
    let (deep, _) = deeper.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let foreign = deep.encrypt(&[1.0, 2.0]).unwrap();
    assert!(matches!(Encrypted::weighted_sum(&[&x, &foreign], &[1.0, 1.0]), Err(Error::Mixed)));
    assert!(matches!(
        context.plan(&[2], |dry| Encrypted::weighted_sum(&[&dry[0], &x], &[1.0, 1.0])),
        Err(Error::Mixed)
    ));
}
