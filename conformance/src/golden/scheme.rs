//! Parameters, keys and ciphertexts of one scheme.

use chacha20::ChaCha20Rng;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{
    Ciphertext, EvaluationKeys, Evaluator, KeySwitchKey, ParameterSpec, Params, PublicKey, Scheme, SchemeId,
};
use sotto_wire::{
    AnyCiphertext, read_evaluation_keys, read_public_key, write_evaluation_keys, write_parameters,
    write_public_key,
};

use super::{CiphertextValues, Golden, MOST_KEYS, Values, kept};
use crate::Testable;

/// The secret of the golden device.
pub const DEVICE_SECRET: [u8; 32] = [8; 32];

/// n = 16, three data primes, one special: no security, few bytes.
pub fn insecure_n16<S: Scheme>() -> Params<S> {
    // CKKS: the special and the first prime are above the scale, the others near it.
    let (bits, plain) = if S::ID == SchemeId::Ckks { (41, 40) } else { (40, 97) };
    let large = sotto_ring::primes::below(1 << bits, 16).take(2);
    let others = sotto_ring::primes::below(1 << 40, 16).skip(2).take(2);
    let primes: Vec<u64> = large.chain(others).collect();
    let (special, data) = (primes[..1].to_vec(), primes[1..].to_vec());
    Params::insecure(ParameterSpec { scheme: S::ID, degree: 16, special, data, digit_primes: 1, plain })
        .expect("toy parameters")
}

/// The secret key of all golden files.
pub fn secret<S: Scheme>(params: &Params<S>) -> SecretKey<S> {
    secret_from(DEVICE_SECRET, params)
}

/// Derives the key of a device from its 32 bytes.
pub fn secret_from<S: Scheme>(device: [u8; 32], params: &Params<S>) -> SecretKey<S> {
    SecretKey::derive(&DeviceSecret::from_bytes(&device), params)
}

/// Returns the slots of every encrypted message.
pub fn slots<S: Testable>(params: &Params<S>) -> Vec<i64> {
    let (rows, columns) = S::slot_shape(params).expect("toy parameters have slots");
    (0..(rows * columns) as i64).map(|i| i % 9 - 4).collect()
}

/// Adds the files of one scheme to the list and returns the description of their contents.
pub(super) fn objects<S: Testable>(all: &mut Vec<Golden>, rng: &mut ChaCha20Rng) -> Values {
    let params = insecure_n16::<S>();
    let key = secret(&params);
    let keys = evaluation_keys(&key, rng);
    let slots = slots(&params);
    let small: Vec<S::Value> = slots.iter().map(|x| S::small(*x)).collect();
    let plain = S::encode_slots(&params, &small, params.top_level()).expect("encodes").declare_magnitude(4.0);

    let seeded = key.encrypt(&plain, rng).expect("encrypts");
    let expanded = seeded.expand();
    let evaluator = Evaluator::new(&params);
    let tensor = evaluator.multiply(&expanded, &expanded).expect("multiplies");
    let lower = evaluator.relinearise(&tensor, &keys).expect("relinearises");
    let lower = evaluator.drop_modulus(&lower).expect("lowers");
    let squares: Vec<i64> = slots.iter().map(|x| x * x).collect();

    let file = |what: &str| format!("{}-{what}.bin", S::ID.name());
    let mut add = |what: &str, bytes: Vec<u8>| all.push(Golden { name: file(what), bytes });
    add("parameters", write_parameters(params.spec()));
    let public = key.public_key(rng);
    add("public-key", write_public_key(&public));
    add("evaluation-keys", write_evaluation_keys(&keys));
    // The kept keys without their seeds, in the form of keys from other libraries.
    let public = match kept(&file("public-key")) {
        Some(bytes) => read_public_key(&bytes, &params).expect("a golden key"),
        None => public,
    };
    let keys = match kept(&file("evaluation-keys")) {
        Some(bytes) => read_evaluation_keys(&bytes, &params, MOST_KEYS).expect("golden keys"),
        None => keys,
    };
    let pair = (public.body().clone(), public.mask().clone());
    add("public-key-written-out", write_public_key(&PublicKey::from_pair(&params, key.id(), pair.0, pair.1)));
    add("evaluation-keys-written-out", write_evaluation_keys(&relinearisation_written_out(&params, &keys)));
    add("seeded", AnyCiphertext::Seeded(seeded).write());
    add("expanded", AnyCiphertext::Expanded(expanded.clone()).write());
    add("tensor", AnyCiphertext::Expanded(tensor.clone()).write());
    add("lower", AnyCiphertext::Expanded(lower.clone()).write());

    let spec = params.spec();
    let ciphertexts = vec![
        values(file("seeded"), &expanded, &slots),
        values(file("expanded"), &expanded, &slots),
        values(file("tensor"), &tensor, &squares),
        values(file("lower"), &lower, &squares),
    ];
    Values {
        scheme: S::ID.name().to_owned(),
        degree: spec.degree,
        special: spec.special.clone(),
        data: spec.data.clone(),
        digit_primes: spec.digit_primes,
        plain: spec.plain,
        parameter_id: params.id().to_string(),
        key_id: key.id().to_string(),
        galois: keys.galois.iter().map(|(element, _)| element).collect(),
        transfers: keys.transfers.keys().map(ToString::to_string).collect(),
        ciphertexts,
    }
}

fn values<S: Scheme>(file: String, ciphertext: &Ciphertext<S>, slots: &[i64]) -> CiphertextValues {
    CiphertextValues {
        file,
        level: ciphertext.level(),
        components: ciphertext.components().len(),
        scaling: S::scaling_number(ciphertext.shape().scaling),
        slots: slots.to_vec(),
    }
}

/// The relinearisation key without its seed.
fn relinearisation_written_out<S: Scheme>(params: &Params<S>, keys: &EvaluationKeys<S>) -> EvaluationKeys<S> {
    let mut written_out = EvaluationKeys::empty(params, keys.key);
    let plain =
        |key: &KeySwitchKey| KeySwitchKey::from_pairs(params, key.bodies().to_vec(), key.masks().to_vec());
    written_out.relinearisation = keys.relinearisation.as_ref().map(plain);
    written_out
}

/// Keys for products, three rotations, and transfers from two other secret keys.
fn evaluation_keys<S: Scheme>(key: &SecretKey<S>, rng: &mut ChaCha20Rng) -> EvaluationKeys<S> {
    let mut keys = key.evaluation_keys(true, &[0, 1, -1], rng).expect("keys");
    for other in [1, 2] {
        let from = secret_from([other; 32], key.params());
        keys.transfers.insert(from.id(), key.transfer_key(&from, rng).expect("a transfer key"));
    }
    keys
}
