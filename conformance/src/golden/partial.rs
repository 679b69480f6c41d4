//! Keys and ciphertexts of the partially homomorphic schemes, at real lengths: even these are short.

use std::sync::{Arc, LazyLock};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_decrypt::partial::recryptor::LocalRecryptor;
use sotto_keys::partial::paillier::Masking;
use sotto_keys::partial::{RecryptorSecret, ristretto as ristretto_keys};
use sotto_keys::{DeviceSecret, Protection};
use sotto_partial::elgamal::{Group, GroupName};
use sotto_partial::encoding::Complement;
use sotto_partial::number::from_words;
use sotto_partial::recrypt::Request;
use sotto_partial::{elgamal, paillier, ristretto};
use sotto_wire::{
    BatchId, ExchangeKeys, write_elgamal_ciphertexts, write_elgamal_public_key, write_exchange_request,
    write_exchange_response, write_paillier_ciphertexts, write_paillier_public_key,
    write_ristretto_ciphertexts, write_ristretto_public_key,
};

use super::Golden;
use super::scheme::DEVICE_SECRET;

/// Numbers encrypted under Paillier's key and on Ristretto.
pub const SIGNED: [i64; 3] = [-5, 0, 7];
/// Numbers encrypted under ElGamal's key.
pub const POSITIVE: [u64; 3] = [1, 2, 1 << 40];
/// The name of the golden batch.
pub const BATCH: BatchId = BatchId([4; 16]);

/// The golden device's keys of these schemes, and their public halves.
pub struct PartialKeys {
    /// Paillier's secret key at 2,048 bits, ElGamal's in ffdhe2048.
    pub secret: RecryptorSecret,
    /// Paillier's public key.
    pub paillier: paillier::PublicKey,
    /// ElGamal's public key.
    pub elgamal: elgamal::PublicKey,
    /// ElGamal's secret key on Ristretto.
    pub ristretto_secret: ristretto_keys::SecretKey,
    /// ElGamal's public key on Ristretto.
    pub ristretto: ristretto::PublicKey,
}

impl PartialKeys {
    /// The public keys as a batch needs them.
    pub fn exchange(&self) -> ExchangeKeys<'_> {
        ExchangeKeys { paillier: &self.paillier, elgamal: Some(&self.elgamal) }
    }

    /// The group of ElGamal's key.
    pub fn group(&self) -> &Arc<Group> {
        self.elgamal.group()
    }
}

/// The keys of all golden files.
pub fn partial_keys() -> &'static PartialKeys {
    static KEYS: LazyLock<PartialKeys> = LazyLock::new(|| {
        let device = DeviceSecret::from_bytes(&DEVICE_SECRET);
        let secret = RecryptorSecret::derive(&device, 2048, Masking::HalfLength, Some(GroupName::Ffdhe2048));
        let secret = secret.expect("keys");
        let ristretto_secret = ristretto_keys::SecretKey::derive(&device);
        PartialKeys {
            paillier: secret.paillier.public_key().expect("a public key"),
            elgamal: secret.elgamal.as_ref().expect("both keys").public_key(),
            ristretto: ristretto_secret.public_key().expect("a public key"),
            secret,
            ristretto_secret,
        }
    });
    &KEYS
}

/// A re-encryption agent with these keys.
pub fn agent() -> LocalRecryptor {
    let bytes = super::read("recryptor.key");
    let secret = RecryptorSecret::parse(&bytes, "recryptor.key".as_ref(), None).expect("the golden keys");
    LocalRecryptor::new(&secret.paillier, secret.elgamal).expect("an agent")
}

/// Requests for a product of −5 and 7, and for both conversions of numbers of 16 bits: 7, and 2.
pub fn requests(paillier: &[paillier::Ciphertext], elgamal: &[elgamal::Ciphertext]) -> Vec<Request> {
    let encoding = Complement::new(16, 3, 2046).expect("an encoding");
    vec![
        Request::Product(paillier[0].clone(), paillier[2].clone()),
        Request::ToElGamal(paillier[2].clone(), encoding),
        Request::ToPaillier(elgamal[1].clone(), encoding),
    ]
}

pub(super) fn objects(all: &mut Vec<Golden>) {
    // A generator of its own keeps the inputs of other files unchanged.
    let rng = &mut ChaCha20Rng::from_seed([7; 32]);
    let mut add = |name: &str, bytes: Vec<u8>| all.push(Golden { name: name.into(), bytes });
    let keys = partial_keys();
    let sums: Vec<_> = SIGNED
        .iter()
        .map(|value| {
            let plain = keys.paillier.signed(i128::from(*value));
            keys.paillier.encrypt(&plain, rng).expect("encrypts")
        })
        .collect();
    add("paillier-public-key.bin", write_paillier_public_key(&keys.paillier).expect("a frame"));
    add("paillier-ciphertexts.bin", write_paillier_ciphertexts(&keys.paillier, &sums).expect("a frame"));
    let products: Vec<_> = POSITIVE
        .iter()
        .map(|value| keys.elgamal.encrypt(&from_words(&[*value]), rng).expect("encrypts"))
        .collect();
    add("elgamal-public-key.bin", write_elgamal_public_key(&keys.elgamal));
    add("elgamal-ciphertexts.bin", write_elgamal_ciphertexts(&keys.elgamal, &products).expect("a frame"));
    let points: Vec<_> =
        SIGNED.iter().map(|value| keys.ristretto.encrypt(*value, rng).expect("encrypts")).collect();
    add("ristretto-public-key.bin", write_ristretto_public_key(&keys.ristretto));
    add("ristretto-ciphertexts.bin", write_ristretto_ciphertexts(&keys.ristretto, &points).expect("a frame"));
    let requests = requests(&sums, &products);
    add("exchange-request.bin", write_exchange_request(BATCH, keys.exchange(), &requests).expect("a frame"));
    let secret = &keys.secret;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("recryptor.key");
    secret.write(&path, &Protection::FileMode, rng).expect("a key file");
    let file = std::fs::read(&path).expect("a key file");
    let read = RecryptorSecret::parse(&file, &path, None).expect("the same keys");
    let agent = LocalRecryptor::new(&read.paillier, read.elgamal).expect("an agent");
    let answers: Vec<_> =
        requests.iter().map(|request| agent.answer(request, rng).expect("answers")).collect();
    add("exchange-response.bin", write_exchange_response(BATCH, keys.exchange(), &answers).expect("a frame"));
    add("recryptor.key", file);
}
