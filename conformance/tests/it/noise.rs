//! Measured noise is within the bound, operation by operation, for plain moduli at the ends of their range.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, Evaluator, Multiplier, Params, Scheme};

fn within<S: Scheme>(what: &str, secret: &SecretKey<S>, c: &Ciphertext<S>, message: Option<&[i64]>) {
    let bound = c.shape().noise.error.0;
    let measured = Decryptor::new(secret).measure_error_bits(c, message);
    let t = c.params().plain_modulus();
    println!(
        "{} n = {} t = {t} {what}: measured {measured:.1}, bound {bound:.1}",
        S::ID,
        c.params().degree()
    );
    assert!(measured <= bound, "{} t = {t} {what}: measured 2^{measured:.2}, bound 2^{bound:.2}", S::ID);
}

fn integers<S: Scheme<Value = i64>>(degree: usize, plain_modulus: u64, seed: u8) {
    let params = Params::<S>::default_chain(degree, plain_modulus).unwrap();
    let mut rng = ChaCha20Rng::from_seed([seed; 32]);
    let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    let keys = secret.evaluation_keys(true, &[1], &mut rng).unwrap();
    let public = secret.public_key(&mut rng);
    let top = params.top_level();
    let plain = S::encode_scalar(&params, (plain_modulus / 2) as i64, top).unwrap();
    let fresh = secret.encrypt(&plain, &mut rng).unwrap().expand();
    within("secret-key encryption", &secret, &fresh, None);
    within("public-key encryption", &secret, &public.encrypt(&plain, &mut rng).unwrap(), None);
    let e = Evaluator::new(&params);
    within("sum with itself", &secret, &e.add(&fresh, &fresh).unwrap(), None);
    within("rotation", &secret, &e.rotate(&fresh, 1, &keys).unwrap(), None);
    within("dropped prime", &secret, &e.drop_modulus(&fresh).unwrap(), None);
    let multiplier = Multiplier::new(&params, &plain, top);
    within("times plain", &secret, &e.multiply_plain(&fresh, &multiplier).unwrap(), None);
    let square = e.multiply(&fresh, &fresh).unwrap();
    within("square, three components", &secret, &square, None);
    within("square, a prime dropped", &secret, &e.drop_modulus(&square).unwrap(), None);
    let square = e.relinearise(&square, &keys).unwrap();
    within("square, relinearised", &secret, &square, None);
    let mut low = square;
    while let Ok(lower) = e.drop_modulus(&low) {
        within("dropped again", &secret, &lower, None);
        low = lower;
    }
}

#[test]
fn integer_schemes_stay_within_the_bound() {
    for (degree, t) in
        [(4096, 2), (4096, 4), (8192, 2), (8192, 4), (8192, 3), (8192, 786_433), (8192, 1 << 20)]
    {
        integers::<Bgv>(degree, t, t as u8);
        integers::<Bfv>(degree, t, t as u8);
    }
}

#[test]
fn ckks_stays_within_the_bound() {
    let params = Params::<Ckks>::default_chain(8192, 0).unwrap();
    let mut rng = ChaCha20Rng::from_seed([7; 32]);
    let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    let keys = secret.evaluation_keys(true, &[1], &mut rng).unwrap();
    let plain = Ckks::encode_scalar(&params, 0.75, params.top_level()).unwrap();
    let message = plain.coefficients().to_vec();
    let fresh = secret.public_key(&mut rng).encrypt(&plain, &mut rng).unwrap();
    within("public-key encryption", &secret, &fresh, Some(&message));
    let e = Evaluator::new(&params);
    within("rotation", &secret, &e.rotate(&fresh, 1, &keys).unwrap(), Some(&message));
    let doubled: Vec<i64> = message.iter().map(|m| 2 * m).collect();
    within("sum with itself", &secret, &e.add(&fresh, &fresh).unwrap(), Some(&doubled));
}
