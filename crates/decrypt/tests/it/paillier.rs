//! Paillier from key generation to decryption: at short insecure keys where they suffice, and once at each
//! real length.

use chacha20::ChaCha20Rng;
use proptest::prelude::*;
use rand_core::SeedableRng;
use sotto_decrypt::partial::paillier::Decryptor;
use sotto_kernels::Target;
use sotto_keys::DeviceSecret;
use sotto_keys::partial::paillier::{Masking, SecretKey};
use sotto_keys::partial::ristretto;
use sotto_partial::PartialError;
use sotto_partial::elgamal::{Group, GroupName};
use sotto_partial::number::{from_words, to_bytes, words};
use sotto_partial::paillier::{Packing, PublicKey, Randomness, Reserve};

const MASKINGS: [Masking; 3] = [Masking::HalfLength, Masking::Subgroup, Masking::Textbook];

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([7; 32])
}

/// Makes a short key on every kernel target.
fn short(masking: Masking) -> Vec<(PublicKey, Decryptor)> {
    let secret = SecretKey::insecure_generate(256, masking, &mut rng()).unwrap();
    let on = |target: &Target| {
        (secret.insecure_public_key(target).unwrap(), Decryptor::on(target, &secret).unwrap())
    };
    Target::available().iter().map(on).collect()
}

fn signed(key: &PublicKey, decryptor: &Decryptor, c: &sotto_partial::paillier::Ciphertext) -> Option<i128> {
    decryptor.decrypt(key, c).unwrap().to_signed(key)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn operations_are_those_on_integers(a in -(1i128 << 100)..1 << 100, b in -(1i128 << 100)..1 << 100, k in -1000i128..1000) {
        for masking in MASKINGS {
            for (key, decryptor) in short(masking) {
                let mut rng = rng();
                let open = |c| signed(&key, &decryptor, &c);
                let x = key.encrypt(&key.signed(a), &mut rng).unwrap();
                let y = key.encrypt(&key.signed(b), &mut rng).unwrap();
                prop_assert_eq!(open(x.clone()), Some(a));
                prop_assert_eq!(open(key.add(&x, &y).unwrap()), Some(a + b));
                prop_assert_eq!(open(key.subtract(&x, &y).unwrap()), Some(a - b));
                prop_assert_eq!(open(key.negate(&x).unwrap()), Some(-a));
                prop_assert_eq!(open(key.add_plain(&x, &key.signed(b)).unwrap()), Some(a + b));
                prop_assert_eq!(open(key.multiply_plain(&x, k).unwrap()), Some(a * k));
                prop_assert_eq!(open(key.multiply_plaintext_of(&x, &key.signed(k), key.bits()).unwrap()), Some(a * k));
                let again = key.rerandomise(&x, key.mask(&mut rng)).unwrap();
                prop_assert_ne!(key.write(&again), key.write(&x));
                prop_assert_eq!(open(again), Some(a));
                let read = key.read(&key.write(&x)).unwrap();
                prop_assert_eq!(open(read), Some(a));
            }
        }
    }

    #[test]
    fn packed_readings_add_slot_by_slot(values in prop::collection::vec(prop::collection::vec(-500i64..=400, 4), 1..6)) {
        for (key, decryptor) in short(Masking::HalfLength) {
            let packing = Packing::new(&key, -500, 400, 5).unwrap();
            let mut sum = key.encrypt(&packing.pack(&values[0]).unwrap(), &mut rng()).unwrap();
            for row in &values[1..] {
                let next = key.encrypt(&packing.pack(row).unwrap(), &mut rng()).unwrap();
                key.add_assign(&mut sum, &next).unwrap();
            }
            let unpacked = packing.unpack(&decryptor.decrypt(&key, &sum).unwrap(), values.len() as u64).unwrap();
            let expected = |slot: usize| values.iter().map(|row| i128::from(row[slot])).sum::<i128>();
            prop_assert_eq!(&unpacked[..4], &[0, 1, 2, 3].map(expected));
        }
    }
}

#[test]
fn the_ends_of_the_message_space() {
    for (key, decryptor) in short(Masking::HalfLength) {
        let n = key.modulus().clone();
        let last = n.wrapping_sub(from_words(&[1]));
        for value in [from_words(&[0]), from_words(&[1]), n.shr(1), last.clone()] {
            let c = key.encrypt(&key.plaintext(value.clone()).unwrap(), &mut rng()).unwrap();
            assert_eq!(*decryptor.decrypt(&key, &c).unwrap().value(), value);
        }
        assert!(matches!(key.plaintext(n), Err(PartialError::Message { .. })));
        for value in [i128::MAX, i128::MIN, -1, 0] {
            assert_eq!(key.signed(value).to_signed(&key), Some(value));
        }
        // n/2 does not fit into 128 bits.
        assert_eq!(key.plaintext(last.shr(1)).unwrap().to_signed(&key), None);
    }
}

/// From python-paillier 1.5.0, phe/tests/paillier_test.py, testRawEncryptDecryptRegression and testEncryptIsRandom.
#[test]
fn published_values() {
    let secret = SecretKey::insecure_from_primes(from_words(&[293]), from_words(&[433])).unwrap();
    for target in Target::available() {
        let key = secret.insecure_public_key(&target).unwrap();
        assert_eq!(words(key.modulus())[..], [126_869]);
        let decryptor = Decryptor::on(&target, &secret).unwrap();
        for (m, r, expected) in [(10_100, 74_384, 935_906_717), (1, 1, 126_870)] {
            let mask = key.insecure_mask(&from_words(&[r]));
            let c = key.encrypt_with(&key.signed(m), mask).unwrap();
            assert_eq!(key.number(&c), [expected]);
            assert_eq!(signed(&key, &decryptor, &c), Some(m));
        }
        for bytes in [126_869u64, 293, 0, 126_869 * 126_869].map(|c| to_bytes(&[c], key.ciphertext_bytes())) {
            assert!(key.read(&bytes).is_err());
        }
    }
}

#[test]
fn hostile_numbers_are_refused() {
    let secret = SecretKey::insecure_generate(256, Masking::HalfLength, &mut rng()).unwrap();
    let key = secret.insecure_public_key(Target::best()).unwrap();
    let read = |number: &[u64]| key.read(&to_bytes(number, key.ciphertext_bytes())).err();
    let n = key.modulus();
    let square = n.concatenating_mul_words();
    assert_eq!(read(&[0]), Some(PartialError::OutOfRange));
    assert_eq!(read(&words(n)), Some(PartialError::NoInverse));
    assert_eq!(read(&words(secret.expose_secret_primes().0)), Some(PartialError::NoInverse));
    assert_eq!(read(&square), Some(PartialError::OutOfRange));
    assert_eq!(read(&[u64::MAX; 8]), Some(PartialError::OutOfRange));
    assert_eq!(key.read(&[1; 63]).err(), Some(PartialError::Length { found: 63, expected: 64 }));
    assert!(read(&[1]).is_none());
    let other = SecretKey::insecure_generate(256, Masking::HalfLength, &mut ChaCha20Rng::from_seed([8; 32]));
    let other = other.unwrap().insecure_public_key(Target::best()).unwrap();
    let c = key.encrypt(&key.signed(1), &mut rng()).unwrap();
    assert_eq!(other.add(&c, &c).err(), Some(PartialError::OtherKey));
    assert_eq!(key.rerandomise(&c, other.mask(&mut rng())).err(), Some(PartialError::OtherKey));
}

/// Computes n², for the test above.
trait Square {
    fn concatenating_mul_words(&self) -> Vec<u64>;
}

impl Square for crypto_bigint::BoxedUint {
    fn concatenating_mul_words(&self) -> Vec<u64> {
        use crypto_bigint::ConcatenatingSquare;
        words(&self.concatenating_square()).to_vec()
    }
}

#[test]
fn keys_of_other_lengths_are_refused() {
    assert!(matches!(
        SecretKey::generate(1024, Masking::HalfLength, &mut rng()),
        Err(PartialError::KeyLength { bits: 1024 })
    ));
    assert!(matches!(
        SecretKey::generate(4096, Masking::Subgroup, &mut rng()),
        Err(PartialError::Subgroup { bits: 4096 })
    ));
    let seven = from_words(&[7]);
    assert!(SecretKey::insecure_from_primes(seven.clone(), seven.clone()).is_err());
    // 3 divides 7 − 1, so gcd(n, (p − 1)(q − 1)) ≠ 1.
    assert!(SecretKey::insecure_from_primes(from_words(&[3]), seven).is_err());
    assert!(SecretKey::insecure_from_primes(from_words(&[9]), from_words(&[11])).is_err());
}

#[test]
fn primes_of_unequal_length_are_refused() {
    // 2,048 + 1,024 bits: n has 3,072, like a key of 128 bits of security.
    let long = Group::new(GroupName::Ffdhe2048).unwrap().prime().clone();
    let secret = SecretKey::generate(2048, Masking::Textbook, &mut rng()).unwrap();
    let (p, q) = secret.expose_secret_primes();
    assert_eq!(SecretKey::from_primes(long.clone(), p.clone()).err(), Some(PartialError::Primes));
    assert_eq!(
        SecretKey::from_primes(from_words(&[3]), long).err(),
        Some(PartialError::KeyLength { bits: 2050 })
    );
    assert_eq!(SecretKey::from_primes(p.clone(), q.clone()).unwrap().modulus(), secret.modulus());
}

#[test]
fn masks_that_hide_nothing_are_refused() {
    let secret = SecretKey::generate(2048, Masking::Textbook, &mut rng()).unwrap();
    let n = secret.modulus();
    let one = from_words(&[1]);
    for h in [one.clone(), n.wrapping_sub(&one)] {
        for randomness in [Randomness::HalfLength { h: h.clone() }, Randomness::Subgroup { h }] {
            assert_eq!(PublicKey::new(n, randomness).err(), Some(PartialError::Masks));
        }
    }
}

#[test]
fn a_devices_key_is_always_the_same() {
    let device = |byte| DeviceSecret::from_bytes(&[byte; 32]);
    let id =
        |byte, masking| SecretKey::derive(&device(byte), 2048, masking).unwrap().public_key().unwrap().id();
    assert_eq!(id(1, Masking::HalfLength), id(1, Masking::HalfLength));
    assert_ne!(id(1, Masking::HalfLength), id(2, Masking::HalfLength));
    assert_ne!(id(1, Masking::HalfLength), id(1, Masking::Subgroup));
    let points = [1, 1, 2].map(|byte| ristretto::SecretKey::derive(&device(byte)).id());
    assert!(points[0] == points[1] && points[0] != points[2]);
}

#[test]
fn a_reserve_gives_each_mask_once() {
    let (key, decryptor) = short(Masking::HalfLength).remove(0);
    let mut reserve = Reserve::default();
    reserve.fill(&key, 3, &mut rng()).unwrap();
    let mut seen = Vec::new();
    while let Some(mask) = reserve.take() {
        let c = key.encrypt_with(&key.signed(-5), mask).unwrap();
        assert_eq!(signed(&key, &decryptor, &c), Some(-5));
        seen.push(key.write(&c));
    }
    seen.sort();
    seen.dedup();
    assert_eq!(seen.len(), 3);
}

#[test]
fn packing_counts_its_carry_room() {
    let (key, _) = short(Masking::HalfLength).remove(0);
    let packing = Packing::new(&key, -1, 2, 5).unwrap();
    // Sums have up to five summands of up to three: fifteen, four bits.
    assert_eq!((packing.width(), packing.slots()), (4, 63));
    let plain = packing.pack(&[-1, 2, 0]).unwrap();
    assert_eq!(packing.unpack(&plain, 1).unwrap()[..4], [-1, 2, 0, -1]);
    assert_eq!(packing.unpack(&plain, 6).err(), Some(PartialError::CarryRoom { found: 6, most: 5 }));
    assert!(packing.pack(&[3]).is_err() && packing.pack(&[-2]).is_err());
    assert!(matches!(packing.pack(&[0; 64]), Err(PartialError::Slots { found: 64, slots: 63 })));
    assert!(Packing::new(&key, i64::MIN, i64::MAX, u64::MAX).is_ok());
}

#[test]
fn slots_above_their_room_are_refused() {
    let (key, _) = short(Masking::HalfLength).remove(0);
    // Up to four times three: twelve of the sixteen values of four bits.
    let packing = Packing::new(&key, -1, 2, 4).unwrap();
    let unpack =
        |words: &[u64], summands| packing.unpack(&key.plaintext(from_words(words)).unwrap(), summands);
    assert_eq!(unpack(&[0xc3], 4).unwrap()[..3], [-1, 8, -4]);
    let outside = Some(PartialError::Overflow { bits: 4 });
    assert_eq!(unpack(&[0xd3], 4).err(), outside);
    assert_eq!(unpack(&[0x43], 1).err(), outside);
    // 63 slots of four bits take 252 bits: the bits above belong to no slot.
    assert_eq!(unpack(&[0, 0, 0, 1 << 60], 4).err(), outside);
    assert_eq!(packing.unpack(&key.signed(-1), 4).err(), outside);
}

#[test]
fn the_widest_slots_do_not_overflow() {
    let (key, _) = short(Masking::HalfLength).remove(0);
    let packing = Packing::new(&key, i64::MIN, i64::MAX, u64::MAX).unwrap();
    assert_eq!((packing.width(), packing.slots()), (128, 1));
    let most = u128::from(u64::MAX) * u128::from(u64::MAX);
    let unpack = |sum: u128| {
        let plain = key.plaintext(from_words(&[sum as u64, (sum >> 64) as u64])).unwrap();
        packing.unpack(&plain, u64::MAX)
    };
    let summands = i128::from(u64::MAX);
    assert_eq!(unpack(most), Ok(vec![i128::from(i64::MAX) * summands]));
    assert_eq!(unpack(0), Ok(vec![i128::from(i64::MIN) * summands]));
    for wrong in [most + 1, u128::MAX] {
        assert_eq!(unpack(wrong), Err(PartialError::Overflow { bits: 128 }));
    }
}

#[test]
fn real_lengths() {
    let mut rng = rng();
    for (bits, masking) in [
        (2048, Masking::HalfLength),
        (2048, Masking::Subgroup),
        (3072, Masking::HalfLength),
        (3072, Masking::Subgroup),
    ] {
        let secret = SecretKey::generate(bits, masking, &mut rng).unwrap();
        let key = secret.public_key().unwrap();
        assert_eq!(key.bits(), bits);
        let decryptor = Decryptor::new(&secret).unwrap();
        let c = key.encrypt(&key.signed(-1234), &mut rng).unwrap();
        assert_eq!(key.write(&c).len() as u32, bits / 4);
        let c = key.multiply_plain(&key.add(&c, &c).unwrap(), -3).unwrap();
        assert_eq!(signed(&key, &decryptor, &c), Some(7404));
        // A mask drawn with full exponents fits every key.
        let foreign = PublicKey::new(key.modulus(), Randomness::Textbook).unwrap();
        let c = foreign.encrypt(&foreign.signed(99), &mut rng).unwrap();
        assert_eq!(signed(&key, &decryptor, &c), Some(99));
    }
}
