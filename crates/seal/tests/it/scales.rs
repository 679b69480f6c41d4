//! The scales written are SEAL's own: SEAL refuses to add operands whose scales differ.

use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Ckks, Evaluator, Params, Scheme};
use sotto_seal::*;

/// Returns SEAL's scale after a product and a rescale at each level down to `level`.
fn seals_scale(parameters: &SealParameters, bits: i32, level: usize) -> f64 {
    // The last prime is the special one; the others are dropped from the last on.
    let data = parameters.primes.len() - 1;
    let dropped = parameters.primes[level + 1..data].iter().rev();
    dropped.fold(2f64.powi(bits), |scale, q| scale * scale / *q as f64)
}

/// n = 16: a first prime of 50 bits, five primes near 2^40.
fn chain() -> Chain<Ckks> {
    let large: Vec<u64> = sotto_ring::primes::below(1 << 50, 16).take(2).collect();
    let near = sotto_ring::primes::below(1 << 40, 16).take(5);
    let primes = large[..1].iter().copied().chain(near).chain([large[1]]).collect();
    let parameters =
        SealParameters { scheme: sotto_rlwe::SchemeId::Ckks, degree: 16, primes, plain_modulus: 0 };
    Chain::insecure(&parameters, Some(40)).unwrap()
}

fn scale_in(bytes: &[u8]) -> f64 {
    f64::from_le_bytes(bytes[73..73 + 8].try_into().unwrap())
}

#[test]
fn scales_are_those_that_seal_comes_to() {
    let chain = chain();
    let params: &Params<Ckks> = chain.params();
    let key = SecretKey::derive(&DeviceSecret::from_bytes(&[3; 32]), params);
    let mut rng = sotto_ring::secure_rng().unwrap();
    let keys = key.evaluation_keys(true, &[], &mut rng).unwrap();
    let evaluator = Evaluator::new(params);
    let plain = Ckks::encode_scalar(params, 0.5, params.top_level()).unwrap();
    let mut power = key.encrypt(&plain, &mut rng).unwrap().expand();
    for rescales in 0..4 {
        let level = params.top_level() - rescales;
        let expected = seals_scale(chain.seal(), 40, level);
        let bytes = write_ciphertext(&power, &chain, Writing::default()).unwrap();
        assert_eq!(scale_in(&bytes).to_bits(), expected.to_bits(), "after {rescales} rescales");
        // The deviation from our own scale is far below the limit.
        let claim = Claim::Values { magnitude: 1.0, error: 1e-3 };
        let read = read_ciphertext(&bytes, &chain, key.id(), claim).unwrap();
        assert_eq!(read.shape().scaling, power.shape().scaling);
        let square = evaluator.relinearise(&evaluator.square(&power).unwrap(), &keys).unwrap();
        let bytes = write_ciphertext(&square, &chain, Writing::default()).unwrap();
        assert_eq!(scale_in(&bytes).to_bits(), (expected * expected).to_bits(), "a product, {rescales}");
        power = evaluator.drop_modulus(&square).unwrap();
    }
}

#[test]
fn plaintexts_have_the_scale_of_their_level() {
    let chain = chain();
    let params = chain.params();
    for level in 0..=params.top_level() {
        let plain = Ckks::encode_scalar(params, 0.5, level).unwrap();
        let bytes = write_plaintext(&plain, &chain, Writing::default()).unwrap();
        let scale = f64::from_le_bytes(bytes[16 + 40..16 + 48].try_into().unwrap());
        assert_eq!(scale.to_bits(), seals_scale(chain.seal(), 40, level).to_bits(), "level {level}");
    }
}
