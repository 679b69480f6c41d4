//! Files that SEAL wrote (conformance/vectors/seal): their content, computations on them, and writing them
//! again without loss.

use sotto_decrypt::Decryptor;
use sotto_keys::SecretKey;
use sotto_rlwe::{Bfv, Ckks, EvaluationKeys, Evaluator, Origin, Scheme};
use sotto_seal::*;

macro_rules! golden {
    ($name:literal) => {
        include_bytes!(concat!("../../../../conformance/vectors/seal/", $name)).as_slice()
    };
}

const FRESH: Claim = Claim::Fresh { origin: Origin::SecretKey, magnitude: 8.0 };
const EVERY: [Compression; 3] = [Compression::None, Compression::Zlib, Compression::Zstandard];

fn secret<S: Convention>(bytes: &[u8], chain: &Chain<S>) -> SecretKey<S> {
    let residues = read_unprotected_secret_key(bytes, chain).unwrap();
    SecretKey::from_unprotected_residues(chain.params(), &residues).unwrap()
}

fn integers(key: &SecretKey<Bfv>, ciphertext: &sotto_rlwe::Ciphertext<Bfv>) -> Vec<i64> {
    let t = key.params().plain_modulus() as i64;
    let slots = Decryptor::new(key).slots(ciphertext).unwrap().into_residues();
    slots.into_iter().map(|slot| slot.rem_euclid(t)).collect()
}

#[test]
fn one_prime_seeds_of_both_generators() {
    for (parameters, key, seeded) in [
        (golden!("bfv1024.parameters"), golden!("bfv1024.secret-key"), golden!("bfv1024.seeded")),
        (
            golden!("bfv1024shake.parameters"),
            golden!("bfv1024shake.secret-key"),
            golden!("bfv1024shake.seeded"),
        ),
    ] {
        let chain = Chain::<Bfv>::from_seal(&SealParameters::read(parameters).unwrap(), None).unwrap();
        let key = secret(key, &chain);
        let ciphertext = read_ciphertext(seeded, &chain, key.id(), FRESH).unwrap();
        let expected: Vec<i64> = (0..1024).collect();
        assert_eq!(integers(&key, &ciphertext), expected);
        for compression in EVERY {
            let writing = Writing { compression, seal_4_minor: None };
            let bytes = write_ciphertext(&ciphertext, &chain, writing).unwrap();
            let again = read_ciphertext(&bytes, &chain, key.id(), FRESH).unwrap();
            assert_eq!(again.components(), ciphertext.components(), "{compression:?}");
            let bytes = write_unprotected_secret_key(key.unprotected_residues(), &chain).unwrap();
            assert_eq!(secret(&bytes, &chain).id(), key.id(), "{compression:?}");
        }
    }
}

#[test]
fn plaintexts_and_public_keys() {
    let parameters = SealParameters::read(golden!("bfv1024.parameters")).unwrap();
    let chain = Chain::<Bfv>::from_seal(&parameters, None).unwrap();
    let params = chain.params();
    let expected: Vec<i64> = (0..1024).collect();
    let plaintext = read_plaintext(golden!("bfv1024.plaintext"), &chain).unwrap();
    let t = params.plain_modulus() as i64;
    let slots: Vec<i64> =
        Bfv::decode_slots(params, &plaintext).unwrap().into_iter().map(|s| s.rem_euclid(t)).collect();
    assert_eq!(slots, expected);
    let again = write_plaintext(&plaintext, &chain, Writing::default()).unwrap();
    assert_eq!(read_plaintext(&again, &chain).unwrap().coefficients(), plaintext.coefficients());

    let key = secret(golden!("bfv1024.secret-key"), &chain);
    let public = read_public_key(golden!("bfv1024.public-key"), &chain, key.id()).unwrap();
    // It encrypts zero, so the phase is SEAL's error.
    let mut error = public.mask().product(key.unprotected_residues());
    error.add_assign(public.body());
    let (error, q) = (error.into_coeff(), params.modulus(0));
    assert!(error.limb(0).iter().all(|x| q.centre(*x).abs() <= 21));
    let bytes = write_public_key(&public, &chain, Writing::default()).unwrap();
    let again = read_public_key(&bytes, &chain, key.id()).unwrap();
    assert_eq!((again.body(), again.mask()), (public.body(), public.mask()));
}

#[test]
fn keys_of_a_chain_relinearise_and_rotate() {
    let parameters = SealParameters::read(golden!("bfv128chain.parameters")).unwrap();
    assert!(matches!(Chain::<Bfv>::from_seal(&parameters, None), Err(SealError::Parameters(_))), "insecure");
    let chain = Chain::<Bfv>::insecure(&parameters, None).unwrap();
    let key = secret(golden!("bfv128chain.secret-key"), &chain);
    let mut keys = EvaluationKeys::empty(chain.params(), key.id());
    let relinearisation = read_relinearisation_key(golden!("bfv128chain.relinearisation"), &chain).unwrap();
    keys.relinearisation = Some(relinearisation);
    keys.galois = read_galois_keys(golden!("bfv128chain.galois"), &chain, 1).unwrap();
    let again = write_relinearisation_key(keys.relinearisation.as_ref().unwrap(), &chain, Writing::default());
    let again = read_relinearisation_key(&again.unwrap(), &chain).unwrap();
    assert_eq!(again.masks(), keys.relinearisation.as_ref().unwrap().masks());
    let again = write_galois_keys(&keys.galois, &chain, Writing::default()).unwrap();
    assert_eq!(read_galois_keys(&again, &chain, 1).unwrap().len(), 1);
    assert!(read_galois_keys(&again, &chain, 0).is_err(), "more than allowed");

    let a = read_ciphertext(golden!("bfv128chain.seeded"), &chain, key.id(), FRESH).unwrap();
    let evaluator = Evaluator::new(chain.params());
    let square = evaluator.relinearise(&evaluator.square(&a).unwrap(), &keys).unwrap();
    let expected: Vec<i64> = (0..128).map(|i| i * i % 257).collect();
    assert_eq!(integers(&key, &square), expected);
    let rotated = evaluator.rotate(&a, 1, &keys).unwrap();
    let expected: Vec<i64> = (0..128).map(|i| i / 64 * 64 + (i + 1) % 64).collect();
    assert_eq!(integers(&key, &rotated), expected);
}

#[test]
fn reals_keep_scale_and_level() {
    let parameters = SealParameters::read(golden!("ckks128chain.parameters")).unwrap();
    let chain = Chain::<Ckks>::insecure(&parameters, Some(30)).unwrap();
    let (params, key) = (chain.params(), secret(golden!("ckks128chain.secret-key"), &chain));
    let plaintext = read_plaintext(golden!("ckks128chain.plaintext"), &chain).unwrap();
    for (i, slot) in Ckks::decode_slots(params, &plaintext).unwrap().into_iter().enumerate() {
        assert!((slot - i as f64 / 8.0).abs() < 1e-6, "slot {i}: {slot}");
    }
    let again = write_plaintext(&plaintext, &chain, Writing::default()).unwrap();
    assert_eq!(read_plaintext(&again, &chain).unwrap().coefficients(), plaintext.coefficients());

    let a = read_ciphertext(golden!("ckks128chain.seeded"), &chain, key.id(), FRESH).unwrap();
    let mut keys = EvaluationKeys::empty(params, key.id());
    keys.relinearisation =
        Some(read_relinearisation_key(golden!("ckks128chain.relinearisation"), &chain).unwrap());
    keys.galois = read_galois_keys(golden!("ckks128chain.galois"), &chain, 1).unwrap();
    let evaluator = Evaluator::new(params);
    let square = evaluator.relinearise(&evaluator.square(&a).unwrap(), &keys).unwrap();
    let square = evaluator.rotate(&evaluator.drop_modulus(&square).unwrap(), 1, &keys).unwrap();
    let claim = Claim::Bounded(square.shape().noise);
    let bytes = write_ciphertext(&square, &chain, Writing::default()).unwrap();
    let read = read_ciphertext(&bytes, &chain, key.id(), claim).unwrap();
    assert_eq!((read.level(), read.components()), (0, square.components()));
    let slots = Decryptor::new(&key).slots(&read).unwrap();
    let bound = slots.error_bound();
    for (i, slot) in slots.raw_values_for_owner_only().iter().enumerate() {
        let expected = (((i + 1) % 64) as f64 / 8.0).powi(2);
        assert!((slot - expected).abs() <= bound, "slot {i}: {slot}, expected {expected} ± {bound}");
    }
    let other_scale = Chain::<Ckks>::insecure(&parameters, Some(29)).unwrap_or(chain.clone());
    if other_scale.params() != params {
        let refused = read_ciphertext(golden!("ckks128chain.seeded"), &other_scale, key.id(), FRESH);
        assert!(matches!(refused, Err(SealError::Scale { .. })));
    }
}

#[test]
fn files_say_what_they_are() {
    let bfv = SealParameters::read(golden!("bfv128chain.parameters")).unwrap();
    let say = |bytes, parameters| inspect(bytes, parameters, 1 << 30).unwrap();
    let kind = |bytes| (say(bytes, Some(&bfv)).kind, say(bytes, None).kind);
    assert_eq!(say(golden!("bfv128chain.parameters"), None).kind, Kind::Parameters);
    assert_eq!(kind(golden!("bfv128chain.secret-key")), (Kind::SecretKey, Kind::SecretKey));
    assert_eq!(kind(golden!("bfv128chain.seeded")), (Kind::Ciphertext, Kind::Ciphertext));
    let both = (Kind::RelinearisationKeys, Kind::RelinearisationKeys);
    assert_eq!(kind(golden!("bfv128chain.relinearisation")), both);
    assert_eq!(kind(golden!("bfv128chain.galois")), (Kind::GaloisKeys, Kind::GaloisKeys));
    assert_eq!(say(golden!("bfv1024.plaintext"), None).kind, Kind::Plaintext);
    let public = say(golden!("bfv1024.public-key"), None);
    assert_eq!(public.kind, Kind::CiphertextOrPublicKey);
    assert_eq!((public.inflated, public.seeded), (Some(16 + 73 + 24 + 8 * 1024 * 2), Some(false)));
    let single = SealParameters::read(golden!("bfv1024.parameters")).unwrap();
    assert_eq!(say(golden!("bfv1024.public-key"), Some(&single)).kind, Kind::PublicKey);
    let seeded = say(golden!("bfv128chain.seeded"), Some(&bfv));
    assert_eq!((seeded.level, seeded.seeded, seeded.primes), (Some(1), Some(true), Some(2)));
    assert_eq!(seeded.inflated, Some(113 + 8 * 128 * 2 + 81));
    let galois = say(golden!("bfv128chain.galois"), Some(&bfv));
    assert_eq!((galois.parts, galois.seeded, galois.primes), (Some(1), Some(true), Some(3)));
    let ckks = say(golden!("ckks128chain.seeded"), None);
    assert_eq!((ckks.scheme, ckks.scale), (Some(sotto_rlwe::SchemeId::Ckks), Some(2f64.powi(30))));
    let other = SealParameters::read(golden!("ckks128chain.parameters")).unwrap();
    assert_eq!(inspect(golden!("bfv128chain.seeded"), Some(&other), 1 << 30), Err(SealError::ParmsId));
}
