//! Keys of other libraries are sent with their masks written out, compute like seeded keys, and are validated like
//! them.

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_ring::{Eval, Poly};
use sotto_rlwe::{
    Bfv, EvaluationKeys, Evaluator, KeySwitchKey, ParameterSpec, Params, PublicKey, Scheme, SchemeId,
};
use sotto_wire::*;

const MOST: EvaluationKeyCounts = EvaluationKeyCounts { relinearisation: true, galois: 2, transfers: 0 };

fn insecure_n16() -> Params<Bfv> {
    let primes: Vec<u64> = sotto_ring::primes::below(1 << 40, 16).take(3).collect();
    let (special, data) = (primes[..1].to_vec(), primes[1..].to_vec());
    let spec = ParameterSpec { scheme: SchemeId::Bfv, degree: 16, special, data, digit_primes: 1, plain: 97 };
    Params::insecure(spec).unwrap()
}

/// A key with a zero mask reveals its message, so it is refused.
#[test]
fn masks_of_zero_are_refused() {
    let params = insecure_n16();
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    let secret = SecretKey::derive(&DeviceSecret::from_bytes(&[8; 32]), &params);
    let zero = Poly::<Eval>::zero(params.ring(), params.key_limbs());
    let refused = WireError::Value("the key's mask is zero");

    let body = secret.public_key(&mut rng).body().clone();
    let public = PublicKey::from_pair(&params, secret.id(), body, zero.clone());
    assert_eq!(read_public_key(&write_public_key(&public), &params).err(), Some(refused.clone()));

    let keys: EvaluationKeys<Bfv> = secret.evaluation_keys(true, &[], &mut rng).unwrap();
    let key = keys.relinearisation.as_ref().unwrap();
    assert_eq!(key.masks().len(), 2);
    for at in 0..2 {
        let mut masks = key.masks().to_vec();
        masks[at] = zero.clone();
        let key = KeySwitchKey::from_pairs(&params, key.bodies().to_vec(), masks);
        let forged = EvaluationKeys { relinearisation: Some(key), ..keys.clone() };
        let read = read_evaluation_keys(&write_evaluation_keys(&forged), &params, MOST);
        assert_eq!(read.err(), Some(refused.clone()), "digit {at}");
    }
}

fn written_out(params: &Params<Bfv>, key: &KeySwitchKey) -> KeySwitchKey {
    KeySwitchKey::from_pairs(params, key.bodies().to_vec(), key.masks().to_vec())
}

#[test]
fn keys_round_trip_and_changes_are_refused() {
    let params = insecure_n16();
    let mut rng = ChaCha20Rng::from_seed([3; 32]);
    let secret = SecretKey::derive(&DeviceSecret::from_bytes(&[8; 32]), &params);
    let seeded = secret.public_key(&mut rng);
    let public = PublicKey::from_pair(&params, secret.id(), seeded.body().clone(), seeded.mask().clone());
    let bytes = write_public_key(&public);
    assert_eq!(frame_kind(&bytes), Ok(Kind::ExpandedPublicKey));
    let read = read_public_key(&bytes, &params).unwrap();
    assert_eq!((read.body(), read.mask(), read.seed()), (seeded.body(), seeded.mask(), None));
    assert_eq!(write_public_key(&read), bytes, "canonical");

    let mut keys: EvaluationKeys<Bfv> = secret.evaluation_keys(true, &[0, 1], &mut rng).unwrap();
    let relinearisation = keys.relinearisation.take().unwrap();
    // If one key has no seed, all are written out.
    keys.relinearisation = Some(written_out(&params, &relinearisation));
    let bytes_of_keys = write_evaluation_keys(&keys);
    assert_eq!(frame_kind(&bytes_of_keys), Ok(Kind::ExpandedEvaluationKeys));
    let read = read_evaluation_keys(&bytes_of_keys, &params, MOST).unwrap();
    assert_eq!(write_evaluation_keys(&read), bytes_of_keys, "canonical");
    assert_eq!(evaluation_keys_header(&bytes_of_keys, 1 << 20).unwrap(), (params.id(), secret.id()));

    let plain = Bfv::encode_scalar(&params, 5, params.top_level()).unwrap();
    let a = secret.encrypt(&plain, &mut rng).unwrap().expand();
    let evaluator = Evaluator::new(&params);
    let square = evaluator.square(&a).unwrap();
    let ours = EvaluationKeys { relinearisation: Some(relinearisation), ..keys };
    let expected = evaluator.relinearise(&square, &ours).unwrap();
    assert_eq!(evaluator.relinearise(&square, &read).unwrap().components(), expected.components());

    for (bytes, is_public) in [(bytes, true), (bytes_of_keys, false)] {
        let refused = |bytes: &[u8]| match is_public {
            true => read_public_key(bytes, &params).is_err(),
            false => read_evaluation_keys(bytes, &params, MOST).is_err(),
        };
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1;
            assert!(refused(&changed), "byte {at}");
            assert!(refused(&bytes[..at]), "cut at {at}");
        }
    }
}
