//! Vectors of one value, of a full ciphertext and of several ciphertexts.

use sotto::{Arithmetic, Bfv, Ckks, Context};

/// Lengths around one slot, a row, one ciphertext and two.
fn lengths<S: Arithmetic>(context: &Context<S>) -> Vec<usize> {
    let slots = context.slots();
    vec![1, 2, 3, slots / 2 - 1, slots / 2, slots / 2 + 1, slots - 1, slots, slots + 1, 2 * slots + 17]
}

#[test]
fn sums_count_every_value_once_and_no_padding() {
    let context = Context::<Bfv>::builder().results_within(1e9).depth(1).build().unwrap();
    let (secret, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    for len in lengths(&context) {
        let values: Vec<i64> = (0..len as i64).map(|i| i % 201 - 100).collect();
        let x = secret.encrypt(&values).unwrap();
        let shifted = (&(&x * 3).unwrap() + 7).unwrap();
        let expected: i64 = values.iter().map(|v| 3 * v + 7).sum();
        assert_eq!(secret.decrypt(&shifted.sum().unwrap()).unwrap().values(), [expected], "{len}");
        let back = secret.decrypt(&(&shifted - &x.sum().unwrap()).unwrap()).unwrap();
        let total: i64 = values.iter().sum();
        assert!(
            back.values().iter().eq(values.iter().map(|v| 3 * v + 7 - total).collect::<Vec<_>>().iter()),
            "{len}"
        );
    }
}

#[test]
fn what_a_scalar_leaves_in_the_padding_is_not_summed() {
    let context = Context::<Ckks>::builder().values_within(10.0).depth(2).build().unwrap();
    let (secret, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    for len in [3, 5, context.slots() - 1, context.slots() + 2] {
        let values: Vec<f64> = (0..len).map(|i| (i % 7) as f64).collect();
        let x = secret.encrypt(&values).unwrap();
        let mean = x.mean().unwrap();
        // The mean stands in every slot, also behind the values.
        let found = secret.decrypt(&(&x + &mean).unwrap().sum().unwrap()).unwrap();
        let expected = 2.0 * values.iter().sum::<f64>();
        assert!((found.value() - expected).abs() <= found.bound(), "{len}: {found} for {expected}");
        assert!(found.bound() < 0.01 * len as f64, "{len}: {found}");
    }
}

#[test]
fn plain_vectors_and_polynomials_keep_the_length() {
    let context = Context::<Ckks>::builder().values_within(2.0).depth(3).build().unwrap();
    let (secret, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    for len in [1, 6, context.slots() + 1] {
        let values: Vec<f64> = (0..len).map(|i| (i % 5) as f64 / 2.5 - 0.8).collect();
        let weights: Vec<f64> = (0..len).map(|i| (i % 3) as f64 - 0.7).collect();
        let x = secret.encrypt(&values).unwrap();
        let y = (&x.polynomial(&[2.0, -1.0, 0.0, 0.5]).unwrap() * weights.as_slice()).unwrap();
        let (each, total) = (secret.decrypt(&y).unwrap(), secret.decrypt(&y.sum().unwrap()).unwrap());
        let exact = |i: usize| (2.0 - values[i] + 0.5 * values[i].powi(3)) * weights[i];
        for (i, value) in each.values().iter().enumerate() {
            assert!((value - exact(i)).abs() <= each.bound(), "{len}: {i}");
        }
        let sum: f64 = (0..len).map(exact).sum();
        assert!((total.value() - sum).abs() <= total.bound() && each.values().len() == len, "{len}");
    }
}

#[test]
fn an_answer_keeps_the_bound_that_was_asked() {
    for asked in [0.1, 0.004, 3e-4] {
        let sum = |x: &[sotto::Encrypted<Ckks>]| (&x[0] * &vec![0.3; 50])?.square()?.sum();
        let context =
            Context::<Ckks>::builder().values_within(60.0).error_within(asked).build_for(&[50], sum).unwrap();
        let (secret, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
        let x = secret.encrypt(&[20.0; 50]).unwrap();
        let answer = secret.decrypt(&sum(&[x]).unwrap()).unwrap();
        assert!(
            answer.bound() <= asked && (answer.value() - 1800.0).abs() <= answer.bound(),
            "{asked}: {answer:>30}"
        );
    }
}

/// A difference of a value and a mean has the mean's unit, so its slots are large; their square must decrypt.
#[test]
fn squares_of_large_slots_decrypt() {
    let context = Context::<Ckks>::builder().values_within(4.0).depth(3).build().unwrap();
    let (secret, _) = context.keys(&mut sotto::secure_rng().unwrap()).unwrap();
    let values: Vec<f64> = (0..37).map(|i| f64::from(i) / 9.25).collect();
    let mean = values.iter().sum::<f64>() / 37.0;
    let x = secret.encrypt(&values).unwrap();
    let squares = (&x - &x.mean().unwrap()).unwrap().square().unwrap();
    let found = secret.decrypt(&squares).unwrap();
    for (found_value, value) in found.values().iter().zip(&values) {
        assert!((found_value - (value - mean).powi(2)).abs() <= found.bound());
    }
}
