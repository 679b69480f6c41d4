//! Objects of other parameters are not written under a chain's name.

use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Bfv, Ckks, ParameterSpec, Params, Scheme, SchemeId};
use sotto_seal::*;

/// n = 16: one prime of 50 bits, `count` primes below 2^40 after skipping `skipped`, one special prime.
fn insecure_n16<S: Scheme>(count: usize, skipped: usize) -> Params<S> {
    let plain = if S::ID == SchemeId::Ckks { 40 } else { 97 };
    let large: Vec<u64> = sotto_ring::primes::below(1 << 50, 16).take(2).collect();
    let near = sotto_ring::primes::below(1 << 40, 16).skip(skipped).take(count);
    let (special, data) = (large[..1].to_vec(), large[1..].iter().copied().chain(near).collect());
    Params::insecure(ParameterSpec { scheme: S::ID, degree: 16, special, data, digit_primes: 1, plain })
        .unwrap()
}

fn key<S: Scheme>(params: &Params<S>) -> SecretKey<S> {
    SecretKey::derive(&DeviceSecret::from_bytes(&[3; 32]), params)
}

#[test]
fn plaintexts_of_other_chains() {
    let chain = Chain::new(&insecure_n16::<Ckks>(2, 0)).unwrap();
    for other in [insecure_n16::<Ckks>(3, 0), insecure_n16::<Ckks>(2, 1)] {
        let plain = Ckks::encode_scalar(&other, 0.5, other.top_level()).unwrap();
        assert_eq!(write_plaintext(&plain, &chain, Writing::default()).err(), Some(SealError::ParmsId));
    }
    let chain = Chain::new(&insecure_n16::<Bfv>(2, 0)).unwrap();
    let other = insecure_n16::<Bfv>(2, 1);
    let plain = Bfv::encode_scalar(&other, 5, other.top_level()).unwrap();
    assert_eq!(write_plaintext(&plain, &chain, Writing::default()).err(), Some(SealError::ParmsId));
}

#[test]
fn keys_of_other_chains() {
    let chain = Chain::new(&insecure_n16::<Bfv>(2, 0)).unwrap();
    // The same number of primes, but one or all of them differ; then one prime more.
    for other in [insecure_n16::<Bfv>(2, 1), insecure_n16::<Bfv>(2, 5), insecure_n16::<Bfv>(3, 0)] {
        let (key, mut rng) = (key(&other), sotto_ring::secure_rng().unwrap());
        let secret = write_unprotected_secret_key(key.unprotected_residues(), &chain);
        assert_eq!(secret.err(), Some(SealError::ParmsId));
        let keys = key.evaluation_keys(true, &[1], &mut rng).unwrap();
        let relinearisation = keys.relinearisation.as_ref().unwrap();
        let written = write_relinearisation_key(relinearisation, &chain, Writing::default());
        assert_eq!(written.err(), Some(SealError::ParmsId));
        let written = write_galois_keys(&keys.galois, &chain, Writing::default());
        assert_eq!(written.err(), Some(SealError::ParmsId));
        let public = key.public_key(&mut rng);
        assert_eq!(write_public_key(&public, &chain, Writing::default()).err(), Some(SealError::ParmsId));
    }
}
