//! A CKKS plaintext fits only the level and power that it was encoded for: other uses are refused, never slightly
//! wrong.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Addend, Bgv, Ckks, EvalError, Evaluator, Multiplier, Params, ScalePower, Scheme};

fn key<S: Scheme>(plain_modulus: u64) -> (Params<S>, SecretKey<S>, ChaCha20Rng) {
    let params = Params::<S>::default_chain(8192, plain_modulus).unwrap();
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    (params, secret, rng)
}

#[test]
fn another_level_or_scaling_is_refused() {
    let (params, secret, mut rng) = key::<Ckks>(0);
    let top = params.top_level();
    let evaluator = Evaluator::new(&params);
    let low = Ckks::encode_scalar(&params, 0.5, 0).unwrap();
    let mismatch = |error: EvalError| {
        matches!(error, EvalError::LevelMismatch { .. } | EvalError::ScalingMismatch { .. })
    };
    assert!(mismatch(secret.encrypt(&low, &mut rng).unwrap_err()));
    assert!(mismatch(secret.public_key(&mut rng).encrypt(&low, &mut rng).unwrap_err()));
    let one = Ckks::encode_scalar(&params, 1.0, top).unwrap();
    let x = secret.encrypt(&one, &mut rng).unwrap().expand();
    assert!(mismatch(evaluator.add_plain(&x, &Addend::new(&params, &low, top, ScalePower(1))).unwrap_err()));
    assert!(mismatch(evaluator.multiply_plain(&x, &Multiplier::new(&params, &low, top)).unwrap_err()));
    // Encoded at the first power, added to a product.
    let product = evaluator.multiply(&x, &x).unwrap();
    let addend = Addend::new(&params, &one, top, ScalePower(2));
    assert!(mismatch(evaluator.add_plain(&product, &addend).unwrap_err()));
}

#[test]
fn what_was_decrypted_has_its_size() {
    let (params, secret, mut rng) = key::<Bgv>(65_537);
    let top = params.top_level();
    let values: Vec<i64> = (0..8192).map(|i| i * 7 % 65_537 - 32_768).collect();
    let plaintext = Bgv::encode_slots(&params, &values, top).unwrap();
    let mut x = secret.encrypt(&plaintext, &mut rng).unwrap().expand();
    let opened = Decryptor::new(&secret).decrypt(&x).unwrap();
    let (evaluator, multiplier) = (Evaluator::new(&params), Multiplier::new(&params, &opened, top));
    // Refused before the result is wrong.
    let mut expected = values.clone();
    for _ in 0..20 {
        match evaluator.multiply_plain(&x, &multiplier) {
            Ok(product) => x = product,
            Err(error) => {
                assert!(matches!(error, EvalError::Noise { .. }));
                break;
            }
        }
        expected.iter_mut().zip(&values).for_each(|(e, v)| *e = *e * v % 65_537);
    }
    let found = Decryptor::new(&secret).slots(&x).unwrap().into_residues();
    assert!(found.iter().zip(&expected).all(|(a, b)| (a - b) % 65_537 == 0));

    let (params, secret, mut rng) = key::<Ckks>(0);
    let plaintext =
        Ckks::encode_scalar(&params, 900.0, params.top_level()).unwrap().declare_magnitude(1000.0);
    let x = secret.encrypt(&plaintext, &mut rng).unwrap().expand();
    let opened = Decryptor::new(&secret).decrypt(&x).unwrap();
    assert!(matches!(secret.encrypt(&opened, &mut rng).unwrap_err(), EvalError::Magnitude { .. }));
}
