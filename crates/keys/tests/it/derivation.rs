//! Derived secret keys: their distribution, and how often a secret is drawn again.

use crate::statistics;

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::{Embedding, SmallPoly};
use sotto_rlwe::{Bfv, Norms, Params};
use statistics::{of_integers, of_uniform, verdict};

const DEGREE: usize = 1024;
const DEVICES: u64 = 2000;

fn params(plain_modulus: u64) -> Params<Bfv> {
    Params::default_chain(DEGREE, plain_modulus).unwrap()
}

/// Makes device secrets that differ in few bits.
fn device(number: u64) -> DeviceSecret {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&number.to_le_bytes());
    DeviceSecret::from_bytes(&bytes)
}

/// Returns the ternary coefficients of a device's key.
fn derived(number: u64, params: &Params<Bfv>) -> Vec<i64> {
    let key = SecretKey::derive(&device(number), params);
    let secret = key.expose_secret_eval().clone().into_coeff();
    let modulus = params.modulus(0);
    secret.limb(0).iter().map(|x| modulus.centre(*x)).collect()
}

fn norm(embedding: &Embedding, coefficients: &[i64]) -> f64 {
    let numbers: Vec<f64> = coefficients.iter().map(|x| *x as f64).collect();
    embedding.to_slots(&numbers).iter().map(|z| z.absolute()).fold(0.0, f64::max)
}

/// The stream of docs/math/conventions.md, "Secret keys".
fn stream(number: u64, params: &Params<Bfv>) -> ChaCha20Rng {
    let material = [device(number).expose_secret_bytes().as_slice(), &params.id().0].concat();
    ChaCha20Rng::from_seed(blake3::derive_key("sotto secret key v1", &material))
}

#[test]
fn derived_keys_are_ternary_and_independent() {
    let (one, other) = (params(3), params(5));
    let keys: Vec<Vec<i64>> = (0..DEVICES).map(|i| derived(i, &one)).collect();
    let all = keys.concat();
    // The limit on the norm excludes one key in a hundred: too few to change the distribution measurably.
    verdict(&of_integers(-1, &[1.0 / 3.0; 3], &all)).unwrap();
    // Compares neighbouring devices, and one device under two parameter sets. The product of two independent
    // ternary coefficients is −1, 0, 1 with probability 2/9, 5/9, 2/9.
    let law = [2.0 / 9.0, 5.0 / 9.0, 2.0 / 9.0];
    let products = |a: &[i64], b: &[i64]| a.iter().zip(b).map(|(x, y)| x * y).collect::<Vec<i64>>();
    verdict(&of_integers(-1, &law, &products(&all, &all[DEGREE..]))).unwrap();
    let others: Vec<i64> = (0..DEVICES).flat_map(|i| derived(i, &other)).collect();
    verdict(&of_integers(-1, &law, &products(&all, &others))).unwrap();
    // The test detects that one coefficient in a hundred is shared between two parameter sets.
    let shared: Vec<i64> =
        others.iter().zip(&all).enumerate().map(|(i, (x, y))| if i % 100 == 0 { *y } else { *x }).collect();
    assert!(verdict(&of_integers(-1, &law, &products(&all, &shared))).is_err());
}

#[test]
fn the_stream_is_uniform_and_a_slightly_wrong_one_is_not() {
    let params = params(3);
    let words: Vec<u64> = (0..DEVICES)
        .flat_map(|i| {
            let mut stream = stream(i, &params);
            (0..512).map(move |_| stream.next_u64()).collect::<Vec<u64>>()
        })
        .collect();
    let high = |words: &[u64]| words.iter().map(|w| *w as f64 / 2f64.powi(64)).collect::<Vec<f64>>();
    verdict(&of_uniform(1024, &high(&words))).unwrap();
    let low: Vec<f64> = words.iter().map(|w| ((w & 0xff) as f64 + 0.5) / 256.0).collect();
    verdict(&of_uniform(256, &low)).unwrap();
    // Clears the top bit of one word in a hundred.
    let biased: Vec<u64> =
        words.iter().enumerate().map(|(i, w)| if i % 100 == 0 { w & (u64::MAX >> 1) } else { *w }).collect();
    assert!(verdict(&of_uniform(1024, &high(&biased))).is_err());
}

/// A key is the first candidate of its stream within the limit.
#[test]
fn a_key_is_drawn_again_above_the_limit() {
    let params = params(3);
    let embedding = Embedding::new(DEGREE).unwrap();
    let limit = Norms::secret_limit(DEGREE);
    let mut again = 0;
    for i in 0..DEVICES {
        let mut stream = stream(i, &params);
        let mut candidate = SmallPoly::ternary(DEGREE, &mut stream);
        while norm(&embedding, candidate.coefficients()) > limit {
            again += 1;
            candidate = SmallPoly::ternary(DEGREE, &mut stream);
        }
        assert_eq!(derived(i, &params), candidate.coefficients(), "device {i}");
    }
    println!("{again} candidates drawn again for {DEVICES} keys");
    assert!(again > 0, "no device of this test shows it");
}

/// A value at a root is nearly a complex Gaussian, so that 1 − (1 − 1/(50·n))^(n/2), just under 1 %, exceed
/// the limit.
#[test]
fn about_one_candidate_in_a_hundred_passes_the_limit() {
    for (degree, draws) in [(1024, 20_000u32), (4096, 10_000)] {
        let embedding = Embedding::new(degree).unwrap();
        let limit = Norms::secret_limit(degree);
        let mut rng = ChaCha20Rng::from_seed([7; 32]);
        let passes =
            |rng: &mut ChaCha20Rng| norm(&embedding, SmallPoly::ternary(degree, rng).coefficients()) > limit;
        let passed = (0..draws).filter(|_| passes(&mut rng)).count() as f64;
        let (mean, spread) = (f64::from(draws) * 0.01, (f64::from(draws) * 0.01 * 0.99).sqrt());
        println!("n = {degree}: {passed} of {draws} pass, {:.2} %", passed / f64::from(draws) * 100.0);
        assert!(passed <= mean + 3.0 * spread, "more than 1 % at n = {degree}: {passed} of {draws}");
        // Fewer would mean that the limit, and with it every noise bound, is larger than stated.
        assert!(passed >= mean - 4.0 * spread, "fewer than expected at n = {degree}: {passed} of {draws}");
    }
}
