//! Σx² of a compact window without slots: the constant coefficient of x(X)·x(X^-1), by one automorphism and one product.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_conformance::Testable;
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::Scratch;
use sotto_rlwe::{Bfv, Evaluator, Kept, Params};

/// Returns the coefficients of x(Y)·x(Y^-1) modulo Y^k + 1, where Y^-i = −Y^(k−i).
fn autocorrelation(x: &[i64]) -> Vec<i64> {
    let k = x.len();
    let mut out = vec![0; k];
    for (j, a) in x.iter().enumerate() {
        for (i, b) in x.iter().enumerate() {
            let (at, sign) = if j >= i { (j - i, 1) } else { (k + j - i, -1) };
            out[at] += sign * a * b;
        }
    }
    out
}

/// Returns readings of 12 bits in `places` places; the last third is missing, and zero.
fn squares_add_up(degree: usize, plain: u64, places: usize) {
    let params = Params::<Bfv>::default_chain(degree, plain).unwrap();
    let mut rng = ChaCha20Rng::from_seed([51; 32]);
    let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    let kept = Kept::Whole(places);
    // The conjugation key, besides the expansion's own keys.
    let mut steps = params.expansion_steps(kept).unwrap();
    steps.push(0);
    let keys = secret.evaluation_keys(true, &steps, &mut rng).unwrap();
    let (evaluator, mut scratch) = (Evaluator::new(&params), Scratch::new());

    let mut x: Vec<i64> = (0..places).map(|_| (rng.next_u64() % 8191) as i64 - 4095).collect();
    x[places - places / 3..].fill(0);
    let mut coefficients = vec![0; degree];
    coefficients.iter_mut().step_by(degree / places).zip(&x).for_each(|(to, value)| *to = *value);
    let plaintext = encode(&params, &coefficients);
    let compact = secret.encrypt(&plaintext, &mut rng).unwrap().compact(kept).unwrap();
    let window = evaluator.expand(&compact, &keys, &mut scratch).unwrap();

    let evaluator = Evaluator::new(&params);
    let mirrored = evaluator.swap_rows(&window, &keys).unwrap();
    let product = evaluator.multiply(&window, &mirrored).unwrap();
    let product = evaluator.relinearise(&product, &keys).unwrap();
    let ran = evaluator.counters().totals().into_iter().collect::<Vec<_>>();
    assert_eq!(ran, [("multiply", 1), ("relinearise", 1), ("swap-rows", 1)]);

    let decryptor = Decryptor::new(&secret);
    let found = decryptor.decrypt(&product).unwrap();
    let sum: i64 = x.iter().map(|value| value * value).sum();
    assert!(sum < plain as i64 / 2, "the plain modulus is too small for this test");
    assert_eq!(found.coefficients()[0], sum, "n = {degree}, {places} places");
    // The other coefficients are the window's correlation with itself, at every distance.
    let mut expected = vec![0; degree];
    let correlation = autocorrelation(&x);
    expected.iter_mut().step_by(degree / places).zip(correlation).for_each(|(to, value)| *to = value);
    assert!(found.coefficients() == expected, "n = {degree}, {places} places: other coefficients");

    let (measured, bound) = (decryptor.measure_error_bits(&product, None), product.shape().noise.error.0);
    println!(
        "n = {degree}, {places} places of {:.0} bits, t = {plain}: noise 2^{measured:.1}, bound 2^{bound:.1}, room {:.1} bits, {} keys",
        params.data_bits(params.top_level()),
        product.shape().room(&params),
        steps.len() + 1
    );
    assert!(measured <= bound, "2^{measured:.1} measured, bound 2^{bound:.1}");
}

fn encode<S: Testable>(params: &Params<S>, values: &[S::Value]) -> sotto_rlwe::Plaintext<S> {
    S::encode_coefficients(params, values, params.top_level()).unwrap()
}

#[test]
fn the_constant_coefficient_is_the_sum_of_squares() {
    // 12 bits squared, 16, 32 and 256 times; without slots any t will do.
    squares_add_up(8192, 1 << 30, 16);
    squares_add_up(8192, (1 << 30) + 3, 32);
    squares_add_up(16384, (1 << 33) + 1, 256);
}
