//! Frames of the partially homomorphic schemes round-trip; numbers that do not belong to the scheme are refused.

use std::sync::{Arc, LazyLock};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_keys::partial::{elgamal as elgamal_keys, paillier as paillier_keys, ristretto as ristretto_keys};
use sotto_partial::elgamal::{Group, GroupName};
use sotto_partial::encoding::Complement;
use sotto_partial::number::{from_words, to_bytes, words};
use sotto_partial::recrypt::{LARGEST_BATCH, Request, Response};
use sotto_partial::{PartialError, elgamal, paillier, ristretto};
use sotto_wire::*;

const LIMIT: u64 = 1 << 20;
const DIGEST: usize = 32;
/// Offset of a batch's first ciphertext: after the frame's header, the key's id, the length and the count.
const FIRST: usize = 16 + 16 + 2 + 4;

struct Keys {
    paillier: paillier::PublicKey,
    elgamal: elgamal::PublicKey,
    ristretto: ristretto::PublicKey,
}

impl Keys {
    fn exchange(&self) -> ExchangeKeys<'_> {
        ExchangeKeys { paillier: &self.paillier, elgamal: Some(&self.elgamal) }
    }
}

fn group() -> Arc<Group> {
    static GROUP: LazyLock<Arc<Group>> =
        LazyLock::new(|| Arc::new(Group::new(GroupName::Ffdhe2048).unwrap()));
    GROUP.clone()
}

fn made(seed: u8) -> Keys {
    let mut rng = ChaCha20Rng::from_seed([seed; 32]);
    let secret = paillier_keys::SecretKey::generate(2048, Default::default(), &mut rng).unwrap();
    Keys {
        paillier: secret.public_key().unwrap(),
        elgamal: elgamal_keys::SecretKey::generate(&group(), &mut rng).public_key(),
        ristretto: ristretto_keys::SecretKey::generate(&mut rng).public_key().unwrap(),
    }
}

fn keys() -> &'static Keys {
    static KEYS: LazyLock<Keys> = LazyLock::new(|| made(1));
    &KEYS
}

fn others() -> &'static Keys {
    static KEYS: LazyLock<Keys> = LazyLock::new(|| made(2));
    &KEYS
}

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([3; 32])
}

fn sums(keys: &Keys) -> Vec<paillier::Ciphertext> {
    let one = |value| keys.paillier.encrypt(&keys.paillier.signed(value), &mut rng()).unwrap();
    [-3, 4].map(one).to_vec()
}

fn products(keys: &Keys) -> Vec<elgamal::Ciphertext> {
    [3, 4].map(|value| keys.elgamal.encrypt(&from_words(&[value]), &mut rng()).unwrap()).to_vec()
}

fn points(keys: &Keys) -> Vec<ristretto::Ciphertext> {
    [-3, 4].map(|value| keys.ristretto.encrypt(value, &mut rng()).unwrap()).to_vec()
}

fn encoding() -> Complement {
    Complement::new(16, 3, 2046).unwrap()
}

fn requests(keys: &Keys) -> Vec<Request> {
    let (sums, products) = (sums(keys), products(keys));
    vec![
        Request::Product(sums[0].clone(), sums[1].clone()),
        Request::ToElGamal(sums[0].clone(), encoding()),
        Request::ToPaillier(products[1].clone(), encoding()),
    ]
}

/// Returns the frame with changed bytes and a valid digest.
fn changed(frame: &[u8], change: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    let mut body = frame[..frame.len() - DIGEST].to_vec();
    change(&mut body);
    let payload = (body.len() - 16) as u64;
    body[8..16].copy_from_slice(&payload.to_le_bytes());
    let digest = blake3::hash(&body);
    [body.as_slice(), digest.as_bytes()].concat()
}

/// Returns the frame with its first ciphertext, or the ciphertext's first half, replaced.
fn with_first(frame: &[u8], bytes: &[u8]) -> Vec<u8> {
    changed(frame, |body| body[FIRST..FIRST + bytes.len()].copy_from_slice(bytes))
}

#[test]
fn batches_are_read_as_they_were_written() {
    let keys = keys();
    let frame = write_paillier_ciphertexts(&keys.paillier, &sums(keys)).unwrap();
    let read = read_paillier_ciphertexts(&frame, LIMIT, &keys.paillier).unwrap();
    assert!(write_paillier_ciphertexts(&keys.paillier, &read).unwrap() == frame);
    let frame = write_elgamal_ciphertexts(&keys.elgamal, &products(keys)).unwrap();
    let read = read_elgamal_ciphertexts(&frame, LIMIT, &keys.elgamal).unwrap();
    assert!(write_elgamal_ciphertexts(&keys.elgamal, &read).unwrap() == frame);
    let frame = write_ristretto_ciphertexts(&keys.ristretto, &points(keys)).unwrap();
    let read = read_ristretto_ciphertexts(&frame, LIMIT, &keys.ristretto).unwrap();
    assert!(write_ristretto_ciphertexts(&keys.ristretto, &read).unwrap() == frame);
    let frame = write_paillier_ciphertexts(&keys.paillier, &[]).unwrap();
    assert!(read_paillier_ciphertexts(&frame, LIMIT, &keys.paillier).unwrap().is_empty());
}

#[test]
fn public_keys_are_read_as_they_were_written() {
    let keys = keys();
    let frame = write_paillier_public_key(&keys.paillier).unwrap();
    assert_eq!(read_paillier_public_key(&frame).unwrap().id(), keys.paillier.id());
    let textbook = paillier::PublicKey::new(keys.paillier.modulus(), paillier::Randomness::Textbook).unwrap();
    let frame = write_paillier_public_key(&textbook).unwrap();
    let read = read_paillier_public_key(&frame).unwrap();
    assert_eq!((read.id(), read.randomness()), (keys.paillier.id(), &paillier::Randomness::Textbook));
    let frame = write_elgamal_public_key(&keys.elgamal);
    assert_eq!(elgamal_group(&frame), Ok(GroupName::Ffdhe2048));
    assert_eq!(read_elgamal_public_key(&frame, &group()).unwrap().id(), keys.elgamal.id());
    let frame = write_ristretto_public_key(&keys.ristretto);
    assert_eq!(read_ristretto_public_key(&frame).unwrap().id(), keys.ristretto.id());
}

#[test]
fn public_keys_that_are_none_are_refused() {
    let keys = keys();
    let frame = write_paillier_public_key(&keys.paillier).unwrap();
    let refused = |change: &dyn Fn(&mut Vec<u8>)| read_paillier_public_key(&changed(&frame, change)).err();
    let (n, h) = (16 + 16 + 3, 16 + 16 + 3 + 256);
    assert!(matches!(refused(&|body| body[n + 9] ^= 1), Some(WireError::Key { .. })), "another n");
    assert!(matches!(refused(&|body| body[16] ^= 1), Some(WireError::Key { .. })), "another name");
    let partial = |error| Some(WireError::Partial(error));
    assert_eq!(refused(&|body| body[h..].fill(0)), partial(PartialError::OutOfRange), "h = 0");
    assert_eq!(refused(&|body| body[h..].fill(0xff)), partial(PartialError::OutOfRange), "h above n");
    let one = |body: &mut Vec<u8>| {
        body[h..].fill(0);
        *body.last_mut().unwrap() = 1;
    };
    assert_eq!(refused(&one), partial(PartialError::Masks), "h = 1");
    assert_eq!(
        refused(&|body| body[32..34].copy_from_slice(&1024u16.to_le_bytes())),
        partial(PartialError::KeyLength { bits: 1024 })
    );
    assert!(matches!(refused(&|body| body[34] = 0), Some(WireError::Length { .. })), "h without use");
    assert!(matches!(refused(&|body| body[34] = 3), Some(WireError::Value(_))), "masks of no sort");

    let frame = write_elgamal_public_key(&keys.elgamal);
    let h = |number: &[u8]| {
        let id = elgamal::PublicKey::id_of_bytes(GroupName::Ffdhe2048, number);
        changed(&frame, |body| {
            body[16..32].copy_from_slice(&id.0);
            body[34..].copy_from_slice(number);
        })
    };
    let p = to_bytes(&words(group().prime()), 256);
    let minus_one: Vec<u8> = p.iter().enumerate().map(|(i, byte)| byte - u8::from(i == 255)).collect();
    let small = |number| to_bytes(&[number], 256);
    for (what, number, error) in [
        ("zero", small(0), PartialError::OutOfRange),
        ("one", small(1), PartialError::OutsideGroup),
        ("p − 1", minus_one, PartialError::OutsideGroup),
        ("p", p, PartialError::OutOfRange),
    ] {
        assert_eq!(read_elgamal_public_key(&h(&number), &group()).err(), partial(error), "{what}");
    }
    assert!(matches!(
        read_elgamal_public_key(&changed(&frame, |body| body[200] ^= 1), &group()).err(),
        Some(WireError::Key { .. })
    ));

    let frame = write_ristretto_public_key(&keys.ristretto);
    let neutral = changed(&frame, |body| {
        body[32..].fill(0);
        let id = ristretto::PublicKey::id_of_bytes(&[0; 32]);
        body[16..32].copy_from_slice(&id.0);
    });
    assert_eq!(read_ristretto_public_key(&neutral).err(), partial(PartialError::OutsideGroup));
}

#[test]
fn numbers_that_are_no_ciphertexts_are_refused() {
    let keys = keys();
    let frame = write_paillier_ciphertexts(&keys.paillier, &sums(keys)).unwrap();
    let n = to_bytes(&words(keys.paillier.modulus()), 512);
    for (what, number, error) in [
        ("zero", vec![0; 512], PartialError::OutOfRange),
        ("n", n, PartialError::NoInverse),
        ("n² and above", vec![0xff; 512], PartialError::OutOfRange),
    ] {
        let read = read_paillier_ciphertexts(&with_first(&frame, &number), LIMIT, &keys.paillier);
        assert_eq!(read.err(), Some(WireError::Partial(error)), "{what}");
    }

    let frame = write_elgamal_ciphertexts(&keys.elgamal, &products(keys)).unwrap();
    let p = to_bytes(&words(group().prime()), 256);
    let minus_one: Vec<u8> = p.iter().enumerate().map(|(i, byte)| byte - u8::from(i == 255)).collect();
    for (what, number, error) in [
        ("zero", vec![0; 256], PartialError::OutOfRange),
        ("one", to_bytes(&[1], 256), PartialError::OutsideGroup),
        ("p − 1, of order two", minus_one, PartialError::OutsideGroup),
        ("p", p, PartialError::OutOfRange),
    ] {
        let read = read_elgamal_ciphertexts(&with_first(&frame, &number), LIMIT, &keys.elgamal);
        assert_eq!(read.err(), Some(WireError::Partial(error)), "{what}");
    }

    let frame = write_ristretto_ciphertexts(&keys.ristretto, &points(keys)).unwrap();
    for (what, point) in [("the neutral point", [0; 32]), ("no point", [0xff; 32])] {
        let read = read_ristretto_ciphertexts(&with_first(&frame, &point), LIMIT, &keys.ristretto);
        assert_eq!(read.err(), Some(WireError::Partial(PartialError::OutsideGroup)), "{what}");
    }
}

#[test]
fn keys_counts_and_lengths_are_checked_first() {
    let (keys, others) = (keys(), others());
    let frame = write_paillier_ciphertexts(&keys.paillier, &sums(keys)).unwrap();
    let read = |frame: &[u8]| read_paillier_ciphertexts(frame, LIMIT, &keys.paillier).err();
    assert!(matches!(read_paillier_ciphertexts(&frame, LIMIT, &others.paillier), Err(WireError::Key { .. })));
    assert!(matches!(write_paillier_ciphertexts(&others.paillier, &sums(keys)), Err(WireError::Key { .. })));
    let count = |count: u32| changed(&frame, |body| body[34..38].copy_from_slice(&count.to_le_bytes()));
    assert!(matches!(read(&count(1)), Some(WireError::Length { .. })));
    assert!(matches!(read(&count(3)), Some(WireError::Length { .. })));
    assert!(matches!(read(&count(u32::MAX)), Some(WireError::TooLarge { .. })));
    assert!(matches!(read(&changed(&frame, |body| body[32] = 1)), Some(WireError::Value(_))));
    assert!(matches!(
        read_paillier_ciphertexts(&frame, 100, &keys.paillier),
        Err(WireError::TooLarge { .. })
    ));
}

#[test]
fn batches_of_the_agent_have_one_form() {
    let keys = keys();
    let batch = BatchId([7; 16]);
    let frame = write_exchange_request(batch, keys.exchange(), &requests(keys)).unwrap();
    let (found, read) = read_exchange_request(&frame, LIMIT, keys.exchange()).unwrap();
    assert_eq!((found, batch_id(&frame, LIMIT).unwrap()), (batch, batch));
    assert!(write_exchange_request(batch, keys.exchange(), &read).unwrap() == frame);
    assert!(matches!(read[1], Request::ToElGamal(_, code) if code == encoding()));
    assert_eq!(batch.to_string(), "07".repeat(16));

    // Without a conversion the frame has no ElGamal fields, even if the agent has an ElGamal key.
    let only = ExchangeKeys { elgamal: None, ..keys.exchange() };
    let products = &requests(keys)[..1];
    let frame = write_exchange_request(batch, keys.exchange(), products).unwrap();
    assert!(write_exchange_request(batch, only, products).unwrap() == frame);
    for keys in [keys.exchange(), only] {
        assert_eq!(read_exchange_request(&frame, LIMIT, keys).unwrap().1.len(), 1);
    }

    let responses =
        [Response::Paillier(sums(keys)[0].clone()), Response::ElGamal(self::products(keys)[0].clone())];
    let frame = write_exchange_response(batch, keys.exchange(), &responses).unwrap();
    let (found, read) = read_exchange_response(&frame, LIMIT, keys.exchange()).unwrap();
    assert_eq!((found, batch_id(&frame, LIMIT).unwrap()), (batch, batch));
    assert!(write_exchange_response(batch, keys.exchange(), &read).unwrap() == frame);
    assert!(matches!(read_exchange_request(&frame, LIMIT, keys.exchange()), Err(WireError::Kind { .. })));
}

#[test]
fn batches_of_the_agent_that_are_none_are_refused() {
    let (keys, others) = (keys(), others());
    let batch = BatchId([7; 16]);
    let frame = write_exchange_request(batch, keys.exchange(), &requests(keys)).unwrap();
    let read = |frame: &[u8]| read_exchange_request(frame, LIMIT, keys.exchange()).err();
    for other in [
        ExchangeKeys { paillier: &others.paillier, ..keys.exchange() },
        ExchangeKeys { elgamal: Some(&others.elgamal), ..keys.exchange() },
    ] {
        let refused = read_exchange_request(&frame, LIMIT, other).err();
        assert!(matches!(refused, Some(WireError::Key { .. })));
        assert!(matches!(write_exchange_request(batch, other, &requests(keys)), Err(WireError::Key { .. })));
    }
    let only = ExchangeKeys { elgamal: None, ..keys.exchange() };
    assert!(matches!(read_exchange_request(&frame, LIMIT, only), Err(WireError::Value(_))));
    assert!(matches!(write_exchange_request(batch, only, &requests(keys)), Err(WireError::Value(_))));

    let (count, codes) = (16 + 16 + 36, 16 + 16 + 36 + 4);
    let bodies = codes + 3;
    assert!(matches!(read(&changed(&frame, |body| body[codes] = 4)), Some(WireError::Value(_))));
    assert!(matches!(read(&changed(&frame, |body| body[codes + 1] = 1)), Some(WireError::Length { .. })));
    assert!(matches!(read(&changed(&frame, |body| body[count] = 4)), Some(WireError::Value(_))));
    assert!(matches!(read(&changed(&frame, |body| body[count + 1] = 2)), Some(WireError::TooLarge { .. })));
    let zero = changed(&frame, |body| body[bodies..bodies + 512].fill(0));
    assert_eq!(read(&zero), Some(WireError::Partial(PartialError::OutOfRange)));
    let conversion = bodies + 1024;
    for (bits, factors) in [(0, 1), (16, 0), (65, 1), (16, 12), (255, 255)] {
        let frame =
            changed(&frame, |body| body[conversion..conversion + 2].copy_from_slice(&[bits, factors]));
        let refused = read(&frame);
        assert_eq!(
            refused,
            Some(WireError::Partial(PartialError::Message { bits: 2046 })),
            "{factors} of {bits} bits"
        );
    }
    let many = vec![requests(keys)[0].clone(); LARGEST_BATCH + 1];
    assert!(matches!(write_exchange_request(batch, keys.exchange(), &many), Err(WireError::TooLarge { .. })));
    assert!(write_exchange_request(batch, keys.exchange(), &many[1..]).is_ok());
}
