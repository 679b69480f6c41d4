//! Claims on a ciphertext's noise are compared with its file.

use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Bgv, Ciphertext, Ckks, Origin, ParameterSpec, Params, Scheme, SchemeId};
use sotto_seal::*;

const MINOR: Writing = Writing { compression: Compression::None, seal_4_minor: Some(4) };

/// n = 16, two data primes, one special prime; CKKS with a scale of 2^20, so that its square has room.
fn insecure_n16<S: Scheme>() -> Params<S> {
    let plain = if S::ID == SchemeId::Ckks { 20 } else { 97 };
    let low: Vec<u64> = sotto_ring::primes::below(1 << 60, 16).take(2).collect();
    let last = sotto_ring::primes::below((1 << 20) + (1 << 12), 16).next().unwrap();
    let (special, data) = (low[..1].to_vec(), vec![low[1], last]);
    Params::insecure(ParameterSpec { scheme: S::ID, degree: 16, special, data, digit_primes: 1, plain })
        .unwrap()
}

fn fresh<S: Scheme>(params: &Params<S>, value: S::Value) -> Ciphertext<S> {
    let mut rng = sotto_ring::secure_rng().unwrap();
    let key = SecretKey::derive(&DeviceSecret::from_bytes(&[3; 32]), params);
    let plain = S::encode_scalar(params, value, params.top_level()).unwrap();
    key.encrypt(&plain, &mut rng).unwrap().expand()
}

/// Position of the scale in an uncompressed ciphertext; the correction factor follows.
const SCALE: usize = 16 + 32 + 1 + 3 * 8;

#[test]
fn a_fresh_ciphertext_has_a_fresh_scale() {
    let params = insecure_n16::<Ckks>();
    let chain = Chain::new(&params).unwrap();
    let ciphertext = fresh(&params, 1.0);
    let mut bytes = write_ciphertext(&ciphertext, &chain, Writing::default()).unwrap();
    let claim = Claim::Fresh { origin: Origin::SecretKey, magnitude: 1.0 };
    assert!(read_ciphertext(&bytes, &chain, ciphertext.key(), claim).is_ok());
    for power in 2..=3 {
        bytes[SCALE..SCALE + 8].copy_from_slice(&2f64.powi(20 * power).to_le_bytes());
        let refused = read_ciphertext(&bytes, &chain, ciphertext.key(), claim);
        assert!(matches!(refused, Err(SealError::Value(_))), "scale to the power {power}");
        let values = Claim::Values { magnitude: 1.0, error: 0.1 };
        assert!(read_ciphertext(&bytes, &chain, ciphertext.key(), values).is_ok(), "said as it is");
    }
}

#[test]
fn a_fresh_ciphertext_has_no_correction_factor() {
    let params = insecure_n16::<Bgv>();
    let chain = Chain::new(&params).unwrap();
    let ciphertext = fresh(&params, 5);
    let mut bytes = write_ciphertext(&ciphertext, &chain, MINOR).unwrap();
    let claim = Claim::Fresh { origin: Origin::SecretKey, magnitude: 1.0 };
    assert!(read_ciphertext(&bytes, &chain, ciphertext.key(), claim).is_ok());
    if bytes[3] == 4 {
        bytes[SCALE + 8] = 2;
        assert!(read_ciphertext(&bytes, &chain, ciphertext.key(), Claim::Decryptable).is_ok());
        let refused = read_ciphertext(&bytes, &chain, ciphertext.key(), claim);
        assert!(matches!(refused, Err(SealError::Value(_))));
    }
    assert_eq!(bytes[3], 4, "a version that has the factor");
}

#[test]
fn claimed_numbers_are_numbers() {
    let params = insecure_n16::<Ckks>();
    let chain = Chain::new(&params).unwrap();
    let ciphertext = fresh(&params, 1.0);
    let bytes = write_ciphertext(&ciphertext, &chain, Writing::default()).unwrap();
    let read = |claim| read_ciphertext(&bytes, &chain, ciphertext.key(), claim).map(|_| ());
    let values = |magnitude, error| Claim::Values { magnitude, error };
    assert_eq!(read(values(0.0, 0.1)), Ok(()), "zeros are values");
    for error in [0.0, -0.1, f64::NAN, f64::INFINITY] {
        assert!(matches!(read(values(1.0, error)), Err(SealError::Value(_))), "an error of {error}");
    }
    for magnitude in [-1.0, f64::NAN, f64::INFINITY] {
        assert!(matches!(read(values(magnitude, 0.1)), Err(SealError::Value(_))), "values of {magnitude}");
        let claim = Claim::Fresh { origin: Origin::PublicKey, magnitude };
        assert!(matches!(read(claim), Err(SealError::Value(_))), "fresh values of {magnitude}");
    }
}
