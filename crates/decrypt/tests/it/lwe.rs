//! The LWE scheme of Aono and others, from key generation to decryption.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_decrypt::partial::lwe::{decrypt, decrypt_product};
use sotto_keys::partial::lwe::SecretKey;
use sotto_partial::PartialError;
use sotto_partial::lwe::{DIMENSION, PLAIN_MODULUS, PublicKey, decode};

fn centred(x: i64) -> i64 {
    let p = PLAIN_MODULUS as i64;
    (x + p / 2).rem_euclid(p) - p / 2
}

#[test]
fn sums_and_one_product() {
    let mut rng = ChaCha20Rng::from_seed([9; 32]);
    let (secret, key) = SecretKey::generate(3, &mut rng).unwrap();
    let ends = [[510, -510, 0], [1, -1, 510]];
    let random = [(); 2].map(|()| [(); 3].map(|()| (rng.next_u64() % 1021) as i64 - 510));
    for [a, b] in [ends, random] {
        let x = key.encrypt(&a, &mut rng).unwrap();
        let y = key.encrypt(&b, &mut rng).unwrap();
        assert_eq!(decrypt(&secret, &x).unwrap(), a);
        let sum = x.add(&y).unwrap();
        assert_eq!(decrypt(&secret, &sum).unwrap(), [0, 1, 2].map(|i| centred(a[i] + b[i])));
        let product = sum.multiply(&y).unwrap().add(&x.multiply(&x).unwrap()).unwrap();
        let outer = |i: usize| centred((a[i / 3] + b[i / 3]) * b[i % 3] + a[i / 3] * a[i % 3]);
        assert_eq!(decrypt_product(&secret, &product).unwrap(), (0..9).map(outer).collect::<Vec<_>>());
    }
}

#[test]
fn what_might_not_decrypt_is_refused() {
    let mut rng = ChaCha20Rng::from_seed([10; 32]);
    let (secret, key) = SecretKey::generate(1, &mut rng).unwrap();
    let mut sum = key.encrypt(&[1], &mut rng).unwrap();
    let mut doublings = 0;
    // Doubling is the worst sum: its errors are all the same.
    while let Ok(next) = sum.add(&sum) {
        (sum, doublings) = (next, doublings + 1);
    }
    assert!(doublings > 20);
    assert_eq!(decrypt(&secret, &sum).unwrap(), [centred((0..doublings).fold(1, |x, _| centred(2 * x)))]);
    assert_eq!(sum.multiply(&sum).err(), Some(PartialError::Noise));
    assert!(matches!(key.encrypt(&[511], &mut rng), Err(PartialError::Message { .. })));
    assert!(matches!(key.encrypt(&[1, 2], &mut rng), Err(PartialError::Slots { found: 2, slots: 1 })));
    assert!(SecretKey::generate(0, &mut rng).is_err() && SecretKey::generate(17, &mut rng).is_err());
    let outside = vec![1 << 52; DIMENSION];
    assert!(PublicKey::from_parts(*key.seed(), PublicKey::expand(key.seed()), outside, 1).is_err());
    let (_, other) = SecretKey::generate(1, &mut rng).unwrap();
    let foreign = other.encrypt(&[1], &mut rng).unwrap();
    assert_eq!(sum.add(&foreign).err(), Some(PartialError::OtherKey));
    assert_eq!(decrypt(&secret, &foreign).err(), Some(PartialError::OtherKey));
}

#[test]
fn phases_decode_at_both_ends() {
    assert_eq!([0, 510, 511, 1021, 1 << 51].map(decode)[..4], [0, 510, -510, 0]);
    assert_eq!(decode((1 << 52) - 1), -1);
}
