//! The golden files of the partially homomorphic schemes: reading gives the original values, writing gives the same
//! bytes.

use std::path::Path;

use sotto_conformance::golden::{self, BATCH, POSITIVE, SIGNED, agent, partial_keys};
use sotto_decrypt::partial::paillier::Decryptor;
use sotto_decrypt::partial::{elgamal, ristretto};
use sotto_keys::Protection;
use sotto_keys::partial::RecryptorSecret;
use sotto_partial::number::words;
use sotto_partial::recrypt::{Recrypt, Response};
use sotto_partial::ristretto::BabySteps;
use sotto_ring::secure_rng;
use sotto_wire::*;

const LIMIT: u64 = 1 << 20;

fn signed(ciphertext: &sotto_partial::paillier::Ciphertext) -> i64 {
    let keys = partial_keys();
    let decryptor = Decryptor::new(&keys.secret.paillier).unwrap();
    let plain = decryptor.decrypt(&keys.paillier, ciphertext).unwrap();
    plain.to_signed(&keys.paillier).unwrap() as i64
}

fn positive(ciphertext: &sotto_partial::elgamal::Ciphertext) -> u64 {
    let keys = partial_keys();
    let message = elgamal::decrypt(keys.secret.elgamal.as_ref().unwrap(), &keys.elgamal, ciphertext).unwrap();
    words(&message)[0]
}

#[test]
fn paillier() {
    let keys = partial_keys();
    let bytes = golden::read("paillier-public-key.bin");
    let key = read_paillier_public_key(&bytes).unwrap();
    assert_eq!((key.id(), key.randomness()), (keys.paillier.id(), keys.paillier.randomness()));
    assert!(write_paillier_public_key(&key).unwrap() == bytes);

    let bytes = golden::read("paillier-ciphertexts.bin");
    let read = read_paillier_ciphertexts(&bytes, LIMIT, &key).unwrap();
    assert_eq!(read.iter().map(signed).collect::<Vec<_>>(), SIGNED);
    assert!(write_paillier_ciphertexts(&key, &read).unwrap() == bytes);
}

#[test]
fn elgamal_squares() {
    let keys = partial_keys();
    let bytes = golden::read("elgamal-public-key.bin");
    assert_eq!(elgamal_group(&bytes).unwrap(), keys.group().name());
    let key = read_elgamal_public_key(&bytes, keys.group()).unwrap();
    assert_eq!(key.id(), keys.elgamal.id());
    assert!(write_elgamal_public_key(&key) == bytes);

    let bytes = golden::read("elgamal-ciphertexts.bin");
    let read = read_elgamal_ciphertexts(&bytes, LIMIT, &key).unwrap();
    assert_eq!(read.iter().map(positive).collect::<Vec<_>>(), POSITIVE);
    assert!(write_elgamal_ciphertexts(&key, &read).unwrap() == bytes);
}

#[test]
fn elgamal_on_ristretto() {
    let keys = partial_keys();
    let bytes = golden::read("ristretto-public-key.bin");
    let key = read_ristretto_public_key(&bytes).unwrap();
    assert_eq!(key.id(), keys.ristretto.id());
    assert!(write_ristretto_public_key(&key) == bytes);

    let bytes = golden::read("ristretto-ciphertexts.bin");
    let read = read_ristretto_ciphertexts(&bytes, LIMIT, &key).unwrap();
    let table = BabySteps::new(8).unwrap();
    let message = |ciphertext| {
        ristretto::decrypt_vartime(&keys.ristretto_secret, ciphertext, &table, |_, _| {}).unwrap()
    };
    assert_eq!(read.iter().map(message).collect::<Vec<_>>(), SIGNED);
    assert!(write_ristretto_ciphertexts(&key, &read).unwrap() == bytes);
}

#[test]
fn batches_of_the_agent() {
    let keys = partial_keys();
    let bytes = golden::read("exchange-request.bin");
    let (batch, requests) = read_exchange_request(&bytes, LIMIT, keys.exchange()).unwrap();
    assert_eq!((batch, batch_id(&bytes, LIMIT).unwrap()), (BATCH, BATCH));
    assert!(write_exchange_request(batch, keys.exchange(), &requests).unwrap() == bytes);

    let bytes = golden::read("exchange-response.bin");
    let (batch, responses) = read_exchange_response(&bytes, LIMIT, keys.exchange()).unwrap();
    assert_eq!((batch, batch_id(&bytes, LIMIT).unwrap()), (BATCH, BATCH));
    assert!(write_exchange_response(batch, keys.exchange(), &responses).unwrap() == bytes);
    // A re-encryption agent with the golden keys gives the same answers.
    for responses in [responses, agent().exchange(&requests).unwrap()] {
        let [Response::Paillier(product), Response::ElGamal(converted), Response::Paillier(back)] =
            responses.as_slice()
        else {
            panic!("the responses of these requests");
        };
        assert_eq!((signed(product), positive(converted), signed(back)), (-35, 7, 2));
    }
}

#[test]
fn key_file_of_the_agent() {
    let bytes = golden::read("recryptor.key");
    let secret = RecryptorSecret::parse(&bytes, Path::new("recryptor.key"), None).unwrap();
    let keys = partial_keys();
    assert_eq!(secret.paillier.expose_secret_primes(), keys.secret.paillier.expose_secret_primes());
    assert_eq!(secret.paillier.randomness(), keys.paillier.randomness());
    assert_eq!(secret.elgamal.as_ref().unwrap().id(), keys.elgamal.id());
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("again.key");
    secret.write(&path, &Protection::FileMode, &mut secure_rng().unwrap()).unwrap();
    assert!(std::fs::read(path).unwrap() == bytes);
}
