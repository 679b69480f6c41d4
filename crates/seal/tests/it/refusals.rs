//! Refusals: changed, cut and made-up bytes, decompression bombs, and objects that SEAL could not read.

use chacha20::ChaCha20Rng;
use rand_core::{Rng, SeedableRng};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Bfv, Bgv, Ckks, Evaluator, KeyId, Origin, ParameterSpec, Params, Scheme, SchemeId};
use sotto_seal::*;

const FRESH: Claim = Claim::Fresh { origin: Origin::SecretKey, magnitude: 8.0 };
const ID: KeyId = KeyId([7; 16]);

/// n = 16, two data primes, one special prime.
fn insecure_n16<S: Scheme>() -> Params<S> {
    let plain = if S::ID == SchemeId::Ckks { 40 } else { 97 };
    let large = sotto_ring::primes::below(1 << 41, 16).take(2);
    let primes: Vec<u64> = large.chain(sotto_ring::primes::below(1 << 40, 16).take(1)).collect();
    let (special, data) = (primes[..1].to_vec(), primes[1..].to_vec());
    Params::insecure(ParameterSpec { scheme: S::ID, degree: 16, special, data, digit_primes: 1, plain })
        .unwrap()
}

type Object = (&'static str, Vec<u8>, Box<dyn Fn(&[u8]) -> Result<(), SealError>>);

/// Makes one object of each kind, with its reader.
fn objects<S: Convention>(value: S::Value, compression: Compression) -> Vec<Object> {
    let (params, writing) = (insecure_n16::<S>(), Writing { compression, seal_4_minor: Some(4) });
    let chain = Chain::new(&params).unwrap();
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let key = SecretKey::derive(&DeviceSecret::from_bytes(&[3; 32]), &params);
    let plain = S::encode_scalar(&params, value, params.top_level()).unwrap();
    let plain = plain.declare_magnitude(8.0);
    let ciphertext = key.encrypt(&plain, &mut rng).unwrap().expand();
    let keys = key.evaluation_keys(true, &[0, 1], &mut rng).unwrap();
    let reader = |read: fn(&[u8], &Chain<S>) -> Result<(), SealError>| {
        let chain = chain.clone();
        Box::new(move |bytes: &[u8]| read(bytes, &chain)) as Box<dyn Fn(&[u8]) -> Result<(), SealError>>
    };
    let relinearisation = keys.relinearisation.as_ref().unwrap();
    vec![
        (
            "parameters",
            chain.seal().write(writing),
            reader(|bytes, _| SealParameters::read(bytes).map(|_| ())),
        ),
        (
            "plaintext",
            write_plaintext(&plain, &chain, writing).unwrap().to_vec(),
            reader(|bytes, chain| read_plaintext(bytes, chain).map(|_| ())),
        ),
        (
            "ciphertext",
            write_ciphertext(&ciphertext, &chain, writing).unwrap(),
            reader(|bytes, chain| read_ciphertext(bytes, chain, ID, FRESH).map(|_| ())),
        ),
        (
            "public key",
            write_public_key(&key.public_key(&mut rng), &chain, writing).unwrap(),
            reader(|bytes, chain| read_public_key(bytes, chain, ID).map(|_| ())),
        ),
        (
            "relinearisation key",
            write_relinearisation_key(relinearisation, &chain, writing).unwrap(),
            reader(|bytes, chain| read_relinearisation_key(bytes, chain).map(|_| ())),
        ),
        (
            "Galois keys",
            write_galois_keys(&keys.galois, &chain, writing).unwrap(),
            reader(|bytes, chain| read_galois_keys(bytes, chain, 2).map(|_| ())),
        ),
        (
            "secret key",
            write_unprotected_secret_key(key.unprotected_residues(), &chain).unwrap().to_vec(),
            reader(|bytes, chain| read_unprotected_secret_key(bytes, chain).map(|_| ())),
        ),
    ]
}

fn mutants<S: Convention>(value: S::Value) {
    for compression in [Compression::None, Compression::Zlib, Compression::Zstandard] {
        let mut rng = ChaCha20Rng::from_seed([9; 32]);
        let all = objects::<S>(value, compression);
        for (what, bytes, read) in &all {
            let what = format!("{} {what}, {compression:?}", S::ID);
            assert_eq!(read(bytes), Ok(()), "{what}");
            for end in 0..bytes.len() {
                assert!(read(&bytes[..end]).is_err(), "{what} cut at {end}");
            }
            let mut longer = bytes.clone();
            longer.push(0);
            assert!(read(&longer).is_err(), "{what} with a byte more");
            for bit in 0..8 * bytes.len().min(200) {
                let mut changed = bytes.clone();
                changed[bit / 8] ^= 1 << (bit % 8);
                // May give another valid object or a refusal, but never a panic.
                let _ = (read(&changed), inspect(&changed, None, 1 << 20));
            }
            for _ in 0..200 {
                let mut changed = bytes.clone();
                let at = rng.next_u32() as usize % changed.len();
                let end = (at + 8).min(changed.len());
                rng.fill_bytes(&mut changed[at..end]);
                let _ = (read(&changed), inspect(&changed, None, 1 << 20));
            }
            for (other, _, wrong) in &all {
                assert!(what.contains(other) || wrong(bytes).is_err(), "{what} read as {other}");
            }
        }
    }
}

#[test]
fn mutants_are_refused_or_another_object_bfv() {
    mutants::<Bfv>(5);
}

#[test]
fn mutants_are_refused_or_another_object_bgv() {
    mutants::<Bgv>(5);
}

#[test]
fn mutants_are_refused_or_another_object_ckks() {
    mutants::<Ckks>(1.5);
}

#[test]
fn bombs_stop_at_the_limit() {
    let params = insecure_n16::<Bfv>();
    let chain = Chain::new(&params).unwrap();
    // A megabyte of zeros as members, where these parameters allow a few hundred bytes.
    let zeros = vec![0; 1 << 20];
    let zlib = {
        use std::io::Write;
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        encoder.write_all(&zeros).unwrap();
        encoder.finish().unwrap()
    };
    let zstandard =
        ruzstd::encoding::compress_to_vec(zeros.as_slice(), ruzstd::encoding::CompressionLevel::Fastest);
    for (mode, members) in [(1u8, zlib), (2, zstandard)] {
        assert!(members.len() < zeros.len() / 100, "a bomb");
        let mut bytes = vec![0x5e, 0xa1, 0x10, 4, 3, mode, 0, 0];
        bytes.extend_from_slice(&(16 + members.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&members);
        let refused = |error| matches!(error, Err(SealError::TooLarge { .. }));
        assert!(refused(read_ciphertext(&bytes, &chain, ID, FRESH).map(|_| ())), "{mode}");
        assert!(refused(read_plaintext(&bytes, &chain).map(|_| ())), "{mode}");
        let galois = read_galois_keys(&bytes, &chain, 2).map(|_| ());
        assert_eq!(
            galois,
            Err(SealError::ParmsId),
            "{mode}: its first bytes are looked at before the others"
        );
        assert!(refused(SealParameters::read(&bytes).map(|_| ())), "{mode}");
        assert!(refused(read_unprotected_secret_key(&bytes, &chain).map(|_| ())), "{mode}");
    }
}

#[test]
fn bombs_behind_a_good_head_stop_at_the_limit() {
    let chain = Chain::new(&insecure_n16::<Bfv>()).unwrap();
    for (slots, refused) in [(1, "larger than"), (17, "the number 17")] {
        let mut members = chain.key_parms_id().0.to_vec();
        members.extend_from_slice(&u64::to_le_bytes(slots));
        members.resize(1 << 20, 0);
        let packed = ruzstd::encoding::compress_to_vec(
            members.as_slice(),
            ruzstd::encoding::CompressionLevel::Fastest,
        );
        let mut bytes = vec![0x5e, 0xa1, 0x10, 4, 3, 2, 0, 0];
        bytes.extend_from_slice(&(16 + packed.len() as u64).to_le_bytes());
        bytes.extend_from_slice(&packed);
        let why = read_galois_keys(&bytes, &chain, 2).unwrap_err().to_string();
        assert!(why.contains(refused), "{slots} slots: {why}");
    }
}

#[test]
fn what_seal_has_nothing_like_is_not_written() {
    let default = |degree| Params::<Bfv>::default_chain(degree, 65537).unwrap();
    assert!(Chain::new(&default(8192)).is_ok());
    let refused = Chain::new(&default(16384)).unwrap_err();
    assert!(refused.to_string().contains("one special prime"), "{refused}");
    let spec = ParameterSpec { digit_primes: 2, ..default(8192).spec().clone() };
    let refused = SealParameters::of(&spec).unwrap_err();
    assert!(refused.to_string().contains("one prime a digit"), "{refused}");
    let spec = ParameterSpec { special: vec![], ..default(8192).spec().clone() };
    assert!(matches!(SealParameters::of(&spec), Err(SealError::Unwritable(_))));
}

#[test]
fn bgv_ciphertexts_need_a_version() {
    let params = insecure_n16::<Bgv>();
    let chain = Chain::new(&params).unwrap();
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let key = SecretKey::derive(&DeviceSecret::from_bytes(&[3; 32]), &params);
    let plain = Bgv::encode_scalar(&params, 5, params.top_level()).unwrap();
    let fresh = key.encrypt(&plain, &mut rng).unwrap().expand();
    let lower = Evaluator::new(&params).drop_modulus(&fresh).unwrap();
    assert_ne!(lower.shape().scaling, 1, "a factor");
    // SEAL 4.0 stores coefficients, and reads a file of version 3.6 as if it held them.
    for ciphertext in [&fresh, &lower] {
        for (seal_4_minor, way_out) in [(None, "which minor version"), (Some(0), "SEAL 4.1")] {
            let writing = Writing { seal_4_minor, ..Writing::default() };
            let refused = write_ciphertext(ciphertext, &chain, writing).unwrap_err();
            assert!(matches!(refused, SealError::Unwritable(_)) && refused.to_string().contains(way_out));
        }
    }
    let writing = Writing { seal_4_minor: Some(1), ..Writing::default() };
    assert_eq!(write_ciphertext(&fresh, &chain, writing).unwrap()[3..5], [4, 1]);
    let bytes = write_ciphertext(&lower, &chain, writing).unwrap();
    assert_eq!(bytes[3..5], [4, 1]);
    let again = read_ciphertext(&bytes, &chain, key.id(), Claim::Decryptable).unwrap();
    assert_eq!((again.components(), again.shape().scaling), (lower.components(), lower.shape().scaling));
}

#[test]
fn claims_bound_what_may_follow() {
    let params = insecure_n16::<Bfv>();
    let chain = Chain::new(&params).unwrap();
    let mut rng = ChaCha20Rng::from_seed([5; 32]);
    let key = SecretKey::derive(&DeviceSecret::from_bytes(&[3; 32]), &params);
    let plain = Bfv::encode_scalar(&params, 5, params.top_level()).unwrap();
    let fresh = key.encrypt(&plain, &mut rng).unwrap().expand();
    let bytes = write_ciphertext(&fresh, &chain, Writing::default()).unwrap();
    let evaluator = Evaluator::new(&params);
    let unknown = read_ciphertext(&bytes, &chain, key.id(), Claim::Decryptable).unwrap();
    assert!(sotto_decrypt::Decryptor::new(&key).slots(&unknown).is_ok());
    assert!(evaluator.multiply(&unknown, &unknown).is_err(), "no room is left");
    let fresh = read_ciphertext(&bytes, &chain, key.id(), FRESH).unwrap();
    assert!(evaluator.multiply(&fresh, &fresh).is_ok());
    let values = Claim::Values { magnitude: 1.0, error: 0.1 };
    assert!(read_ciphertext(&bytes, &chain, key.id(), values).is_err(), "only CKKS");
}

#[test]
fn other_versions_are_told_apart() {
    let mut bytes = Chain::new(&insecure_n16::<Bfv>()).unwrap().seal().write(Writing::default());
    for (major, minor, read) in
        [(3, 6, true), (3, 7, true), (4, 0, true), (4, 9, true), (3, 5, false), (5, 0, false)]
    {
        (bytes[3], bytes[4]) = (major, minor);
        assert_eq!(SealParameters::read(&bytes).is_ok(), read, "{major}.{minor}");
    }
}

#[test]
fn ckks_parameters_with_a_plain_modulus_are_refused_as_by_seal() {
    let ckks = Chain::new(&insecure_n16::<Ckks>()).unwrap().seal().clone();
    let odd = SealParameters { plain_modulus: 65537, ..ckks.clone() };
    assert_ne!(odd.parms_id(3), ckks.parms_id(3), "SEAL hashes the plain modulus of any scheme");
    for compression in [Compression::None, Compression::Zlib, Compression::Zstandard] {
        let file = odd.write(Writing { compression, ..Writing::default() });
        let refused = SealParameters::read(&file).unwrap_err();
        assert_eq!(refused, SealError::PlainModulus(65537));
        assert!(refused.to_string().contains("plain modulus 65537"), "{refused}");
        assert_eq!(inspect(&file, None, 1 << 20), Err(refused), "not an unknown object");
    }
    // Made by hand, not read.
    let refused = Chain::<Ckks>::insecure(&odd, Some(30)).unwrap_err();
    assert_eq!(refused, SealError::PlainModulus(65537), "not a chain of other names");
}
