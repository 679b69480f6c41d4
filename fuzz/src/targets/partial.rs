//! Keys and ciphertexts of the partially homomorphic schemes: numbers and points of fixed length. Accepted input is
//! written again unchanged, and computed on. Paillier's key is short and insecure, ElGamal's group the smaller one.
//! There is no target for ElGamal's public key: it is a number like those of its ciphertexts, and its table takes
//! longer than everything else.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng as _;
use sotto_keys::partial::{elgamal as elgamal_keys, paillier as paillier_keys, ristretto as ristretto_keys};
use sotto_partial::elgamal::{Group, GroupName};
use sotto_partial::number::from_words;
use sotto_partial::{elgamal, paillier, ristretto};

use super::{Inputs, Target, once};

/// Memory: numbers, their Montgomery forms, and the computation.
fn numbers(bytes: &[u8]) -> usize {
    16 * bytes.len() + (1 << 20)
}

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "paillier-ciphertext", run: paillier_ciphertext, inputs: Inputs::MadeAnew(paillier_ciphertexts), memory: numbers },
    Target { name: "elgamal-ciphertext", run: elgamal_ciphertext, inputs: Inputs::MadeAnew(elgamal_ciphertexts), memory: numbers },
    Target { name: "ristretto-public-key", run: ristretto_key, inputs: Inputs::MadeAnew(|| vec![ristretto_public().write().to_vec()]), memory: numbers },
    Target { name: "ristretto-ciphertext", run: ristretto_ciphertext, inputs: Inputs::MadeAnew(ristretto_ciphertexts), memory: numbers },
];

fn rng() -> ChaCha20Rng {
    ChaCha20Rng::from_seed([8; 32])
}

fn paillier_public() -> &'static paillier::PublicKey {
    once!(paillier::PublicKey, {
        let masking = paillier_keys::Masking::HalfLength;
        let secret = paillier_keys::SecretKey::insecure_generate(256, masking, &mut rng()).expect("a key");
        secret.insecure_public_key(sotto_kernels::Target::best()).expect("its public half")
    })
}

fn group() -> &'static Arc<Group> {
    once!(
        Arc<Group>,
        Arc::new(Group::on(sotto_kernels::Target::best(), GroupName::Ffdhe2048).expect("a group"))
    )
}

fn elgamal_public() -> &'static elgamal::PublicKey {
    once!(elgamal::PublicKey, elgamal_keys::SecretKey::generate(group(), &mut rng()).public_key())
}

fn ristretto_public() -> &'static ristretto::PublicKey {
    once!(
        ristretto::PublicKey,
        ristretto_keys::SecretKey::generate(&mut rng()).public_key().expect("a public key")
    )
}

fn paillier_ciphertexts() -> Vec<Vec<u8>> {
    let key = paillier_public();
    let encrypted = key.encrypt(&key.signed(-5), &mut rng()).expect("encrypts");
    vec![key.write(&encrypted)]
}

fn paillier_ciphertext(bytes: &[u8]) -> bool {
    let key = paillier_public();
    let Ok(read) = key.read(bytes) else { return false };
    assert!(key.write(&read) == bytes, "written otherwise");
    let sum = key.add(&read, &read).expect("of one key");
    assert!(key.read(&key.write(&sum)).is_ok(), "a sum is a ciphertext");
    true
}

fn elgamal_ciphertexts() -> Vec<Vec<u8>> {
    let key = elgamal_public();
    let encrypted = key.encrypt(&from_words(&[5]), &mut rng()).expect("encrypts");
    vec![key.write_ciphertext(&encrypted)]
}

fn elgamal_ciphertext(bytes: &[u8]) -> bool {
    let key = elgamal_public();
    let Ok(read) = key.read_ciphertext(bytes) else { return false };
    assert!(key.write_ciphertext(&read) == bytes, "written otherwise");
    key.multiply(&read, &read).expect("of one key");
    true
}

fn ristretto_key(bytes: &[u8]) -> bool {
    let Ok(read) = ristretto::PublicKey::read(bytes) else { return false };
    assert!(read.write() == bytes, "written otherwise");
    true
}

fn ristretto_ciphertexts() -> Vec<Vec<u8>> {
    let key = ristretto_public();
    vec![key.write_ciphertext(&key.encrypt(-5, &mut rng()).expect("encrypts")).to_vec()]
}

fn ristretto_ciphertext(bytes: &[u8]) -> bool {
    let key = ristretto_public();
    let Ok(read) = key.read_ciphertext(bytes) else { return false };
    assert!(key.write_ciphertext(&read) == bytes, "written otherwise");
    key.add(&read, &read).expect("of one key");
    true
}
