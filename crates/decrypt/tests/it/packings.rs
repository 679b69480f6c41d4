//! Values in other packings than one a slot decrypt within their error bound.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Bfv, Bgv, Params, Scheme};

fn key<S: Scheme>(degree: usize, plain_modulus: u64) -> (Params<S>, SecretKey<S>, ChaCha20Rng) {
    let params = Params::<S>::default_chain(degree, plain_modulus).unwrap();
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    (params, secret, rng)
}

fn integers<S: Scheme<Value = i64>>() {
    // A plain modulus of 1000 has no slots, only coefficients.
    let (params, secret, mut rng) = key::<S>(2048, 1000);
    let values = [499, -500, 0, 7];
    let plaintext = S::encode_coefficients(&params, &values, params.top_level()).unwrap();
    let ciphertext = secret.encrypt(&plaintext, &mut rng).unwrap().expand();
    let found = Decryptor::new(&secret).coefficients(&ciphertext).unwrap().into_residues();
    assert_eq!(found[..4], values);
    assert!(found[4..].iter().all(|x| *x == 0));

    let (params, secret, mut rng) = key::<S>(2048, 12_289);
    let values: Vec<i64> = (0..16).map(|i| i * i - 100).collect();
    let plaintext = params.encode_repeated(&values, params.top_level()).unwrap();
    let ciphertext = secret.encrypt(&plaintext, &mut rng).unwrap().expand();
    assert_eq!(Decryptor::new(&secret).repeated(&ciphertext, 16).unwrap().into_residues(), values);
    assert!(Decryptor::new(&secret).repeated(&ciphertext, 3).is_err(), "3 is no power of two");
}

#[test]
fn integers_come_back() {
    integers::<Bfv>();
    integers::<Bgv>();
}
