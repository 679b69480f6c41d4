//! ElGamal in both groups, from key generation to decryption.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use crypto_bigint::BoxedUint;
use crypto_primes::{Flavor, is_prime};
use proptest::prelude::*;
use rand_core::SeedableRng;
use sotto_decrypt::partial::elgamal::decrypt;
use sotto_kernels::Target;
use sotto_keys::partial::elgamal::SecretKey;
use sotto_partial::PartialError;
use sotto_partial::elgamal::{Group, GroupName, PublicKey};
use sotto_partial::number::{from_words, to_bytes, words};

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([3; 32])
}

fn pair(target: &Target, name: GroupName) -> (SecretKey, PublicKey) {
    let group = Arc::new(Group::on(target, name).unwrap());
    let secret = SecretKey::generate(&group, &mut rng());
    let public = secret.public_key();
    (secret, public)
}

fn small(secret: &SecretKey, key: &PublicKey, c: &sotto_partial::elgamal::Ciphertext) -> u128 {
    let words = words(&decrypt(secret, key, c).unwrap()).to_vec();
    assert!(words[2..].iter().all(|word| *word == 0));
    u128::from(words[0]) | u128::from(words[1]) << 64
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn operations_are_those_on_integers(a in 1u64..=u64::MAX, b in 1u64..=u64::MAX, k in 1u32..30) {
        for target in Target::available() {
            let (secret, key) = pair(&target, GroupName::Ffdhe2048);
            let mut rng = rng();
            let mut encrypt = |m: u64| key.encrypt(&BoxedUint::from(m), &mut rng).unwrap();
            let (x, y) = (encrypt(a), encrypt(b));
            let product = key.multiply(&x, &y).unwrap();
            prop_assert_eq!(small(&secret, &key, &product), u128::from(a) * u128::from(b));
            prop_assert_eq!(small(&secret, &key, &key.divide(&product, &y).unwrap()), u128::from(a));
            let third = encrypt(3);
            prop_assert_eq!(small(&secret, &key, &key.power(&third, u64::from(k)).unwrap()), 3u128.pow(k));
            let read = key.read_ciphertext(&key.write_ciphertext(&x)).unwrap();
            prop_assert_eq!(small(&secret, &key, &read), u128::from(a));
        }
    }
}

#[test]
fn the_groups_are_those_of_the_standard() {
    for (name, tail) in
        [(GroupName::Ffdhe2048, 0x6128_5c97_ffff_ffffu64), (GroupName::Ffdhe3072, 0x66c6_2e37_ffff_ffff)]
    {
        let group = Group::new(name).unwrap();
        assert_eq!(group.prime().bits(), name.bits());
        let words = words(group.prime());
        assert_eq!(words[0], u64::MAX);
        assert_eq!(words[1] << 32 | words[0] >> 32, tail);
        assert!(is_prime(Flavor::Safe, group.prime()));
    }
}

#[test]
fn the_ends_of_the_message_space() {
    for name in [GroupName::Ffdhe2048, GroupName::Ffdhe3072] {
        let (secret, key) = pair(Target::best(), name);
        let q = key.group().prime().shr(1);
        for message in [from_words(&[1]), from_words(&[2]), q.clone(), q.wrapping_sub(from_words(&[1]))] {
            let c = key.encrypt(&message, &mut rng()).unwrap();
            assert_eq!(*decrypt(&secret, &key, &c).unwrap(), message);
            let again = key.rerandomise(&c, &mut rng()).unwrap();
            assert_ne!(key.write_ciphertext(&again), key.write_ciphertext(&c));
            assert_eq!(*decrypt(&secret, &key, &again).unwrap(), message);
        }
        let mut long = vec![0; 49];
        (long[0], long[48]) = (5, 1);
        let wrong = [from_words(&[0]), q.wrapping_add(from_words(&[1])), from_words(&long)];
        for wrong in wrong {
            assert!(matches!(key.encrypt(&wrong, &mut rng()), Err(PartialError::Message { .. })));
        }
    }
}

#[test]
fn a_secret_of_another_key_is_refused() {
    let (secret, key) = pair(Target::best(), GroupName::Ffdhe2048);
    let other = SecretKey::generate(key.group(), &mut ChaCha20Rng::from_seed([4; 32]));
    assert!(secret.id() == key.id() && other.id() == other.public_key().id() && other.id() != key.id());
    let c = key.encrypt(&from_words(&[7]), &mut rng()).unwrap();
    for (secret, key) in [(&other, &key), (&other, &other.public_key()), (&secret, &other.public_key())] {
        assert_eq!(decrypt(secret, key, &c).err(), Some(PartialError::OtherKey));
    }
}

#[test]
fn the_power_zero_is_refused() {
    let (secret, key) = pair(Target::best(), GroupName::Ffdhe2048);
    let c = key.encrypt(&from_words(&[7]), &mut rng()).unwrap();
    assert_eq!(key.power(&c, 0).err(), Some(PartialError::OutOfRange));
    let first = key.power(&c, 1).unwrap();
    assert_eq!(small(&secret, &key, &key.read_ciphertext(&key.write_ciphertext(&first)).unwrap()), 7);
}

#[test]
fn what_is_outside_the_group_is_refused() {
    let (_, key) = pair(Target::best(), GroupName::Ffdhe2048);
    let p = key.group().prime().clone();
    let half = key.group().bytes();
    let good = to_bytes(&[4], half);
    let read = |a: &[u8], b: &[u8]| key.read_ciphertext(&[a, b].concat()).err();
    assert_eq!(read(&good, &good), None);
    assert_eq!(read(&good, &to_bytes(&[1], half)), None);
    // One and p − 1 are the elements of small order; p − 4 is not a square.
    let minus = |x: u64| to_bytes(&words(&p.wrapping_sub(from_words(&[x]))), half);
    for a in [to_bytes(&[1], half), minus(1), minus(4)] {
        assert_eq!(read(&a, &good), Some(PartialError::OutsideGroup));
        assert!(PublicKey::read(key.group(), &a).is_err());
    }
    for a in [to_bytes(&[0], half), minus(0), vec![255; half]] {
        assert_eq!(read(&a, &good), Some(PartialError::OutOfRange));
        assert_eq!(read(&good, &a), Some(PartialError::OutOfRange));
    }
    assert!(matches!(key.read_ciphertext(&good), Err(PartialError::Length { .. })));
}
