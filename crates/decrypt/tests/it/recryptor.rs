//! Answers and refusals of the re-encryption agent.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use proptest::prelude::*;
use rand_core::SeedableRng;
use sotto_decrypt::partial::paillier::Decryptor;
use sotto_decrypt::partial::recryptor::LocalRecryptor;
use sotto_kernels::Target;
use sotto_keys::partial::{elgamal, paillier};
use sotto_partial::PartialError;
use sotto_partial::elgamal::{Group, GroupName};
use sotto_partial::encoding::{Complement, wrap};
use sotto_partial::paillier::Ciphertext;
use sotto_partial::recrypt::{LARGEST_BATCH, Recrypt, RecryptError, Request, Response};

/// Makes a recryptor with a short Paillier key of 512 bits.
fn recryptor(seed: u8) -> (LocalRecryptor, Decryptor) {
    let mut rng = ChaCha20Rng::from_seed([seed; 32]);
    let secret =
        paillier::SecretKey::insecure_generate(512, paillier::Masking::HalfLength, &mut rng).unwrap();
    let public = secret.insecure_public_key(Target::best()).unwrap();
    let group = Arc::new(Group::new(GroupName::Ffdhe2048).unwrap());
    let multiplicative = elgamal::SecretKey::generate(&group, &mut rng);
    let decryptor = Decryptor::new(&secret).unwrap();
    (LocalRecryptor::with_public_key(&secret, public, Some(multiplicative)).unwrap(), decryptor)
}

fn encrypt(recryptor: &LocalRecryptor, value: i128) -> Ciphertext {
    let key = recryptor.paillier_key();
    key.encrypt(&key.signed(value), &mut ChaCha20Rng::from_seed([9; 32])).unwrap()
}

fn one(recryptor: &LocalRecryptor, request: Request) -> Response {
    let answers = recryptor.exchange(&[request]).unwrap();
    assert_eq!(answers.len(), 1);
    answers[0].clone()
}

fn number(recryptor: &LocalRecryptor, decryptor: &Decryptor, response: &Response) -> i128 {
    let Response::Paillier(ciphertext) = response else { panic!("not under Paillier") };
    let key = recryptor.paillier_key();
    decryptor.decrypt(key, ciphertext).unwrap().to_signed(key).unwrap()
}

/// Converts both numbers to ElGamal, multiplies there, and converts the product back.
fn through_elgamal(
    recryptor: &LocalRecryptor,
    decryptor: &Decryptor,
    code: Complement,
    x: i128,
    y: i128,
) -> i128 {
    let convert = |value| match one(recryptor, Request::ToElGamal(encrypt(recryptor, value), code)) {
        Response::ElGamal(ciphertext) => ciphertext,
        Response::Paillier(_) => panic!("not under ElGamal"),
    };
    let product = recryptor.elgamal_key().unwrap().multiply(&convert(x), &convert(y)).unwrap();
    number(recryptor, decryptor, &one(recryptor, Request::ToPaillier(product, code)))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn products_are_those_on_integers(x in any::<i64>(), y in any::<i64>()) {
        let (recryptor, decryptor) = recryptor(1);
        let (x, y) = (i128::from(x), i128::from(y));
        let asked = Request::Product(encrypt(&recryptor, x), encrypt(&recryptor, y));
        prop_assert_eq!(number(&recryptor, &decryptor, &one(&recryptor, asked)), x * y);
    }

    #[test]
    fn conversions_wrap_as_registers_do(x in any::<i32>(), y in any::<i32>(), bits in 2u32..=64) {
        let (recryptor, decryptor) = recryptor(1);
        let code = Complement::new(bits, 2, 2046).unwrap();
        let (x, y) = (i128::from(x), i128::from(y));
        prop_assert_eq!(through_elgamal(&recryptor, &decryptor, code, x, y), wrap(wrap(x, bits) * wrap(y, bits), bits));
    }
}

#[test]
fn the_ends_of_the_range_travel() {
    let (recryptor, decryptor) = recryptor(2);
    let code = Complement::new(64, 2, 2046).unwrap();
    let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX));
    for (x, y) in [(0, 0), (0, -5), (least, 1), (most, 1), (most, -1), (-1, -1), (1 << 31, -(1 << 31))] {
        assert_eq!(through_elgamal(&recryptor, &decryptor, code, x, y), x * y, "{x}·{y}");
    }
    // Far beyond 64 bits, the register's low bits remain.
    assert_eq!(through_elgamal(&recryptor, &decryptor, code, (1 << 100) + 7, -(1 << 90) - 1), -7);
}

#[test]
fn products_beyond_the_modulus_wrap_there() {
    let (recryptor, decryptor) = recryptor(3);
    let key = recryptor.paillier_key();
    // (n − 1)/2 doubled is n − 1, which represents −1.
    let half = key.plaintext(key.modulus().shr(1)).unwrap();
    let half = key.encrypt(&half, &mut ChaCha20Rng::from_seed([1; 32])).unwrap();
    let asked = Request::Product(half, encrypt(&recryptor, 2));
    assert_eq!(number(&recryptor, &decryptor, &one(&recryptor, asked)), -1);
}

#[test]
fn answers_are_encrypted_afresh() {
    let (recryptor, _) = recryptor(4);
    let code = Complement::new(32, 2, 2046).unwrap();
    let x = encrypt(&recryptor, 5);
    for asked in [Request::Product(x.clone(), x.clone()), Request::ToElGamal(x, code)] {
        let bytes = |response| match response {
            Response::Paillier(c) => recryptor.paillier_key().write(&c),
            Response::ElGamal(c) => recryptor.elgamal_key().unwrap().write_ciphertext(&c),
        };
        assert_ne!(bytes(one(&recryptor, asked.clone())), bytes(one(&recryptor, asked)));
    }
}

#[test]
fn hostile_values_do_not_reach_it() {
    let (recryptor, _) = recryptor(5);
    let (key, multiplicative) = (recryptor.paillier_key(), recryptor.elgamal_key().unwrap());
    let bytes = |number: &crypto_bigint::BoxedUint| {
        sotto_partial::number::to_bytes(&sotto_partial::number::words(number), key.ciphertext_bytes())
    };
    assert!(matches!(key.read(&vec![0; key.ciphertext_bytes()]), Err(PartialError::OutOfRange)));
    assert!(matches!(key.read(&bytes(key.modulus())), Err(PartialError::NoInverse)));
    assert!(matches!(key.read(&vec![0xff; key.ciphertext_bytes()]), Err(PartialError::OutOfRange)));
    // p − 1 has order two; 1 has order one.
    let prime = multiplicative.group().prime().wrapping_sub(crypto_bigint::BoxedUint::one());
    let length = multiplicative.group().bytes();
    let minus = sotto_partial::number::to_bytes(&sotto_partial::number::words(&prime), length);
    let mut unit = vec![0; length];
    unit[length - 1] = 1;
    for (a, b) in [(&minus, &unit), (&unit, &unit), (&vec![0; length], &unit)] {
        assert!(multiplicative.read_ciphertext(&[&a[..], &b[..]].concat()).is_err());
    }
}

#[test]
fn what_is_under_another_key_is_refused_with_its_place() {
    let ((ours, _), (theirs, _)) = (recryptor(6), recryptor(7));
    let code = Complement::new(32, 2, 2046).unwrap();
    let (x, foreign) = (encrypt(&ours, 1), encrypt(&theirs, 1));
    let Response::ElGamal(converted) = one(&theirs, Request::ToElGamal(foreign.clone(), code)) else {
        panic!()
    };
    for bad in [
        Request::Product(x.clone(), foreign.clone()),
        Request::ToElGamal(foreign, code),
        Request::ToPaillier(converted, code),
    ] {
        let batch = [Request::Product(x.clone(), x.clone()), bad];
        let refused = RecryptError::Refused { request: 1, reason: PartialError::OtherKey };
        assert_eq!(ours.exchange(&batch).err(), Some(refused));
    }
}

#[test]
fn an_encoding_that_the_group_does_not_hold_is_refused_whatever_the_number() {
    let (recryptor, _) = recryptor(8);
    let wide = Complement::new(64, 6, 3070).unwrap();
    for value in [0, 1, -1] {
        let answer = recryptor.exchange(&[Request::ToElGamal(encrypt(&recryptor, value), wide)]).err();
        assert_eq!(
            answer,
            Some(RecryptError::Refused { request: 0, reason: PartialError::Message { bits: 2046 } })
        );
    }
}

#[test]
fn without_elgamal_it_converts_nothing_and_a_batch_is_bounded() {
    let mut rng = ChaCha20Rng::from_seed([1; 32]);
    let secret = paillier::SecretKey::insecure_generate(512, paillier::Masking::Textbook, &mut rng).unwrap();
    let public = secret.insecure_public_key(Target::best()).unwrap();
    let recryptor = LocalRecryptor::with_public_key(&secret, public, None).unwrap();
    let x = encrypt(&recryptor, 3);
    let asked = Request::ToElGamal(x.clone(), Complement::new(32, 2, 2046).unwrap());
    assert!(matches!(recryptor.exchange(&[asked]), Err(RecryptError::Refused { request: 0, .. })));
    let many = vec![Request::Product(x.clone(), x); LARGEST_BATCH + 1];
    assert!(matches!(recryptor.exchange(&many), Err(RecryptError::Batch { .. })));
}
