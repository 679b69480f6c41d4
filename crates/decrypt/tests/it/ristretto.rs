//! ElGamal on Ristretto, from key generation to decryption.

use chacha20::ChaCha20Rng;
use proptest::prelude::*;
use rand_core::SeedableRng;
use sotto_decrypt::partial::ristretto::decrypt_vartime;
use sotto_keys::partial::ristretto::SecretKey;
use sotto_partial::PartialError;
use sotto_partial::ristretto::{BabySteps, PublicKey};

fn pair() -> (SecretKey, PublicKey) {
    let secret = SecretKey::generate(&mut ChaCha20Rng::from_seed([5; 32]));
    let public = secret.public_key().unwrap();
    (secret, public)
}

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([6; 32])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20))]

    #[test]
    fn sums_are_those_of_integers(a in -50_000i64..50_000, b in -50_000i64..50_000, k in -20i64..20) {
        let (secret, key) = pair();
        let table = BabySteps::new(21).unwrap();
        let open = |c| decrypt_vartime(&secret, &c, &table, |_, _| {});
        let x = key.encrypt(a, &mut rng()).unwrap();
        let y = key.encrypt(b, &mut rng()).unwrap();
        prop_assert_eq!(open(key.add(&x, &y).unwrap()), Ok(a + b));
        prop_assert_eq!(open(key.subtract(&x, &y).unwrap()), Ok(a - b));
        prop_assert_eq!(open(key.multiply_plain(&x, k).unwrap()), Ok(a * k));
        prop_assert_eq!(open(key.read_ciphertext(&key.write_ciphertext(&x)).unwrap()), Ok(a));
        let again = key.rerandomise(&x, &mut rng()).unwrap();
        prop_assert_ne!(key.write_ciphertext(&again), key.write_ciphertext(&x));
        prop_assert_eq!(open(again), Ok(a));
    }
}

#[test]
fn the_ends_of_the_search() {
    let (secret, key) = pair();
    for bits in [0, 1, 2, 9, 16] {
        let table = BabySteps::new(bits).unwrap();
        let last = (1i64 << bits) - 1;
        let open = |m: i64| decrypt_vartime(&secret, &key.encrypt(m, &mut rng()).unwrap(), &table, |_, _| {});
        for m in [0, last, -last, last / 2, -last / 2] {
            assert_eq!(open(m), Ok(m), "{bits} bits");
        }
        for m in [last + 1, -last - 1, 5 * (last + 1)] {
            assert_eq!(open(m), Err(PartialError::NotFound { bits }));
        }
    }
    assert!(BabySteps::new(41).is_err());
}

#[test]
fn forty_bits_are_found_and_more_are_refused() {
    let (secret, key) = pair();
    let table = BabySteps::new(40).unwrap();
    let last = (1i64 << 40) - 1;
    for m in [last, -last, 1 << 39, -12_345_678_901] {
        let c = key.encrypt(m, &mut rng()).unwrap();
        let mut told = 0;
        assert_eq!(decrypt_vartime(&secret, &c, &table, |done, total| told = done * 100 / total), Ok(m));
        assert!(told <= 100);
    }
    assert_eq!(key.encrypt(last + 1, &mut rng()).err(), Some(PartialError::Message { bits: 40 }));
    assert!(key.encrypt(i64::MIN, &mut rng()).is_err());
}

#[test]
fn hostile_points_are_refused() {
    let (_, key) = pair();
    let good = key.write_ciphertext(&key.encrypt(1, &mut rng()).unwrap());
    let with_first = |first: [u8; 32]| [&first[..], &good[32..]].concat();
    // Tests the neutral element, a non-canonical encoding (the field's prime, from RFC 9496, A.2) and a
    // negative element.
    assert_eq!(key.read_ciphertext(&with_first([0; 32])).err(), Some(PartialError::OutsideGroup));
    let mut prime = [255; 32];
    (prime[0], prime[31]) = (0xed, 0x7f);
    assert_eq!(key.read_ciphertext(&with_first(prime)).err(), Some(PartialError::OutsideGroup));
    let mut one = [0; 32];
    one[0] = 1;
    assert_eq!(key.read_ciphertext(&with_first(one)).err(), Some(PartialError::OutsideGroup));
    assert!(key.read_ciphertext(&good[..63]).is_err());
    assert!(PublicKey::read(&[0; 32]).is_err() && PublicKey::read(&[0; 31]).is_err());
}
