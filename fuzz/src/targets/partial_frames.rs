//! Frames of the partially homomorphic schemes, and the recryptor's key file. Accepted input is written again byte for
//! byte, and computed on.

use std::path::Path;

use sotto_conformance::golden::{self, agent, partial_keys};
use sotto_decrypt::partial::recryptor::LocalRecryptor;
use sotto_keys::partial::RecryptorSecret;
use sotto_partial::recrypt::Recrypt as _;
use sotto_wire::*;

use super::{Inputs, Target, as_frame, as_key_file, once};

const LIMIT: u64 = 1 << 20;

/// Memory: numbers, their Montgomery forms, and the computation.
fn numbers(bytes: &[u8]) -> usize {
    32 * bytes.len() + (1 << 20)
}

/// Memory of a key with its tables.
fn tables(bytes: &[u8]) -> usize {
    32 * bytes.len() + (4 << 20)
}

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "frame-paillier-public-key", run: paillier_key, inputs: Inputs::Kept(|| vec![golden::read("paillier-public-key.bin")]), memory: tables },
    Target { name: "frame-paillier-ciphertexts", run: paillier, inputs: Inputs::Kept(|| vec![golden::read("paillier-ciphertexts.bin")]), memory: numbers },
    Target { name: "frame-elgamal-public-key", run: elgamal_key, inputs: Inputs::Kept(|| vec![golden::read("elgamal-public-key.bin")]), memory: tables },
    Target { name: "frame-elgamal-ciphertexts", run: elgamal, inputs: Inputs::Kept(|| vec![golden::read("elgamal-ciphertexts.bin")]), memory: numbers },
    Target { name: "frame-ristretto-public-key", run: ristretto_key, inputs: Inputs::Kept(|| vec![golden::read("ristretto-public-key.bin")]), memory: tables },
    Target { name: "frame-ristretto-ciphertexts", run: ristretto, inputs: Inputs::Kept(|| vec![golden::read("ristretto-ciphertexts.bin")]), memory: numbers },
    Target { name: "exchange-request", run: request, inputs: Inputs::Kept(|| vec![golden::read("exchange-request.bin")]), memory: numbers },
    Target { name: "exchange-response", run: response, inputs: Inputs::Kept(|| vec![golden::read("exchange-response.bin")]), memory: numbers },
    Target { name: "recryptor-key", run: key_file, inputs: Inputs::Kept(|| vec![golden::read("recryptor.key")]), memory: tables },
];

/// Returns true for one input in 16, the same ones in each run; for decoders that take tens of milliseconds to accept.
fn one_in_16(bytes: &[u8]) -> bool {
    bytes.iter().fold(0u8, |sum, byte| sum.wrapping_add(*byte)).is_multiple_of(16)
}

fn paillier_key(bytes: &[u8]) -> bool {
    let read = |bytes: &[u8]| {
        let Ok(read) = read_paillier_public_key(bytes) else { return false };
        assert!(write_paillier_public_key(&read).expect("a frame") == bytes, "rewriting changes bytes");
        true
    };
    if one_in_16(bytes) { as_frame(bytes, read) } else { read(bytes) }
}

/// Reads ciphertexts, writes them again byte for byte, and computes on neighbouring ones.
fn ciphertexts<C, E, F: core::fmt::Debug, O, G: core::fmt::Debug>(
    bytes: &[u8],
    read: impl Fn(&[u8]) -> Result<Vec<C>, E>,
    write: impl Fn(&[C]) -> Result<Vec<u8>, F>,
    compute: impl Fn(&C, &C) -> Result<O, G>,
) -> bool {
    as_frame(bytes, |bytes| {
        let Ok(read) = read(bytes) else { return false };
        assert!(write(&read).expect("a frame") == bytes, "written otherwise");
        for pair in read.windows(2) {
            compute(&pair[0], &pair[1]).expect("of one key");
        }
        true
    })
}

fn paillier(bytes: &[u8]) -> bool {
    let key = &partial_keys().paillier;
    let read = |bytes: &[u8]| read_paillier_ciphertexts(bytes, LIMIT, key);
    ciphertexts(bytes, read, |all| write_paillier_ciphertexts(key, all), |a, b| key.add(a, b))
}

fn elgamal_key(bytes: &[u8]) -> bool {
    as_frame(bytes, |bytes| {
        let Ok(read) = read_elgamal_public_key(bytes, partial_keys().group()) else { return false };
        assert!(elgamal_group(bytes).is_ok_and(|name| name == read.group().name()));
        assert!(write_elgamal_public_key(&read) == bytes, "rewriting changes bytes");
        true
    })
}

fn elgamal(bytes: &[u8]) -> bool {
    let key = &partial_keys().elgamal;
    let read = |bytes: &[u8]| read_elgamal_ciphertexts(bytes, LIMIT, key);
    ciphertexts(bytes, read, |all| write_elgamal_ciphertexts(key, all), |a, b| key.multiply(a, b))
}

fn ristretto_key(bytes: &[u8]) -> bool {
    as_frame(bytes, |bytes| {
        let Ok(read) = read_ristretto_public_key(bytes) else { return false };
        assert!(write_ristretto_public_key(&read) == bytes, "rewriting changes bytes");
        true
    })
}

fn ristretto(bytes: &[u8]) -> bool {
    let key = &partial_keys().ristretto;
    let read = |bytes: &[u8]| read_ristretto_ciphertexts(bytes, LIMIT, key);
    ciphertexts(bytes, read, |all| write_ristretto_ciphertexts(key, all), |a, b| key.add(a, b))
}

/// Reads a request as the re-encryption agent does, which must answer every accepted request, whatever it contains.
fn request(bytes: &[u8]) -> bool {
    let keys = partial_keys().exchange();
    as_frame(bytes, |bytes| {
        let Ok((batch, read)) = read_exchange_request(bytes, LIMIT, keys) else { return false };
        assert!(batch_id(bytes, LIMIT) == Ok(batch));
        let written = write_exchange_request(batch, keys, &read).expect("a frame");
        assert!(written == bytes, "rewriting changes bytes");
        if one_in_16(bytes) {
            let answers = once!(LocalRecryptor, agent()).exchange(&read).expect("answers");
            write_exchange_response(batch, keys, &answers).expect("a frame");
        }
        true
    })
}

fn response(bytes: &[u8]) -> bool {
    let keys = partial_keys().exchange();
    as_frame(bytes, |bytes| {
        let Ok((batch, read)) = read_exchange_response(bytes, LIMIT, keys) else { return false };
        let written = write_exchange_response(batch, keys, &read).expect("a frame");
        assert!(written == bytes, "rewriting changes bytes");
        true
    })
}

/// Reads a key file unchanged, and with a correct digest, which leads to the test of its primes.
fn key_file(bytes: &[u8]) -> bool {
    let read = |bytes: &[u8]| {
        let Ok(read) = RecryptorSecret::parse(bytes, Path::new("key"), None) else { return false };
        assert!(read.paillier.modulus().bits() >= 2048);
        true
    };
    if one_in_16(bytes) { as_key_file(bytes, read) } else { read(bytes) }
}
