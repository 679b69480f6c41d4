//! Decryption reads a message from as few primes as determine it.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_decrypt::{DecryptError, Decryptor};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Bfv, Bgv, Ckks, EvalError, Evaluator, Params, Scheme};

const DEGREE: usize = 8192;

/// Doubles a ciphertext until it is refused. Passes the number of doublings, the slots and their error bound
/// to `check` each time. Returns the top level, and the level read each time.
fn doubled<S: Scheme>(
    plain_modulus: u64,
    values: &[S::Value],
    check: impl Fn(usize, &[S::Value], f64),
) -> (usize, Vec<usize>) {
    let params = Params::<S>::default_chain(DEGREE, plain_modulus).unwrap();
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let secret = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    let (evaluator, decryptor) = (Evaluator::new(&params), Decryptor::new(&secret));
    let plaintext = S::encode_slots(&params, values, params.top_level()).unwrap();
    let mut sum = secret.encrypt(&plaintext, &mut rng).unwrap().expand();
    let mut levels = Vec::new();
    for times in 0.. {
        let opened = match decryptor.decrypt(&sum) {
            Ok(opened) => opened,
            Err(DecryptError::TooLarge { .. }) => break,
            Err(error) => panic!("{error}"),
        };
        levels.push(S::recovered_level(&params, sum.level(), sum.shape().noise));
        let slots = S::decode_slots(&params, &opened).unwrap();
        check(times, &slots, sum.shape().slot_error(&params));
        sum = match evaluator.add(&sum, &sum) {
            Ok(sum) => sum,
            Err(EvalError::Noise { .. }) => break,
            Err(error) => panic!("{error}"),
        };
    }
    assert!(levels.is_sorted(), "more noise takes no fewer primes: {levels:?}");
    (params.top_level(), levels)
}

fn integers<S: Scheme<Value = i64>>() -> (usize, Vec<usize>) {
    let t = 65537;
    let values: Vec<i64> = (0..DEGREE as i64).map(|i| i - t / 2).filter(|x| *x <= t / 2).collect();
    doubled::<S>(t as u64, &values, |times, slots, _| {
        let factor = (0..times).fold(1, |factor, _| 2 * factor % t);
        for (value, slot) in values.iter().zip(slots) {
            assert_eq!((value * factor - slot).rem_euclid(t), 0, "doubled {times} times");
        }
    })
}

#[test]
fn integers_take_more_primes_as_their_noise_grows() {
    for (top, levels) in [integers::<Bfv>(), integers::<Bgv>()] {
        assert_eq!((levels[0], levels.last()), (0, Some(&top)), "{levels:?}");
    }
}

#[test]
fn ckks_takes_more_primes_as_its_message_grows() {
    let values: Vec<f64> = (0..DEGREE / 2).map(|i| (i as f64).sin()).collect();
    let (_, levels) = doubled::<Ckks>(0, &values, |times, slots, bound| {
        let factor = (times as f64).exp2();
        for (value, slot) in values.iter().zip(slots) {
            assert!((value * factor - slot).abs() <= bound, "doubled {times} times");
        }
    });
    assert_eq!((levels[0], levels.last()), (0, Some(&1)), "{levels:?}");
}
