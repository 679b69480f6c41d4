//! Both directions: our objects in SEAL, and SEAL's objects in sotto.

use serde_json::json;
use sotto_decrypt::Decryptor;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_rlwe::{Ciphertext, EvaluationKeys, Evaluator, Origin, Params, Plaintext};
use sotto_seal::*;

use crate::seal::meaning::{MAGNITUDE, RESULTS, Spoken, check, encoded, meant};
use crate::seal::peer::{Exchange, Peer};

/// SEAL 4.1 reads its own minor version only; the wheel's SEAL reads any.
const WRITING: Writing = Writing { compression: Compression::None, seal_4_minor: Some(1) };

/// Converts a plaintext's slots to numbers.
fn numbers<S: Spoken>(params: &Params<S>, plaintext: &Plaintext<S>) -> Vec<f64> {
    let slots = S::decode_slots(params, plaintext).unwrap();
    // Integers below 2^53, or reals: Debug prints both.
    slots.iter().map(|slot| format!("{slot:?}").parse().unwrap()).collect()
}

fn open<S: Spoken>(key: &SecretKey<S>, ciphertext: &Ciphertext<S>) -> Vec<f64> {
    numbers(key.params(), &Decryptor::new(key).decrypt(ciphertext).unwrap())
}

/// Our parameters and keys: we write every object, SEAL computes and decrypts, and we read its results.
pub(crate) fn ours_to_seal<S: Spoken>(peer: &Peer, degree: usize) {
    let params = Params::<S>::default_chain(degree, S::PLAIN).unwrap();
    let chain = Chain::new(&params).unwrap();
    let [x, y] = S::operands(degree);
    let scale_bits = if S::PLAIN == 0 { params.spec().plain } else { 0 };
    let request = json!({
        "scheme": S::ID.name(), "degree": degree, "plain": S::PLAIN, "scale_bits": scale_bits, "bits": [],
        "primes": chain.seal().primes, "a": x, "b": y,
    });
    let Some(exchange) = peer.exchange(&integers_as_such::<S>(request)) else { return };
    let mut rng = sotto_ring::secure_rng().unwrap();
    let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
    let keys = key.evaluation_keys(true, &[1, 0], &mut rng).unwrap();
    let public = key.public_key(&mut rng);
    let a = key.encrypt(&encoded(&params, &x), &mut rng).unwrap().expand();
    let b = public.encrypt(&encoded(&params, &y), &mut rng).unwrap();

    exchange.write("parameters", &chain.seal().write(WRITING));
    let secret = write_unprotected_secret_key(key.unprotected_residues(), &chain).unwrap();
    exchange.write("secret-key", &secret);
    exchange.write("public-key", &write_public_key(&public, &chain, WRITING).unwrap());
    write_evaluation_keys(&exchange, &chain, &keys);
    exchange.write("a", &write_ciphertext(&a, &chain, WRITING).unwrap());
    exchange.write("b", &write_ciphertext(&b, &chain, WRITING).unwrap());

    let slots = exchange.run("compute", &[]);
    let evaluator = Evaluator::new(&params);
    for (name, slots) in &slots {
        let expected = meant::<S>(name, &x, &y);
        check(&format!("{}: SEAL opens {name}", S::ID), &params, slots, &expected);
        if !RESULTS.contains(&name.as_str()) {
            continue;
        }
        let like = S::compute(&evaluator, name, (&a, &b), &keys).unwrap();
        let bytes = exchange.read(&format!("out.{name}"));
        let result = read_ciphertext(&bytes, &chain, key.id(), S::claim(&like)).unwrap();
        assert_eq!(result.level(), like.level(), "{name}");
        check(&format!("{}: we open {name}", S::ID), &params, &open(&key, &result), &expected);
    }
    let fresh = Claim::Fresh { origin: Origin::PublicKey, magnitude: MAGNITUDE };
    let encrypted = read_ciphertext(&exchange.read("out.encrypted"), &chain, key.id(), fresh).unwrap();
    check(&format!("{}: SEAL encrypts", S::ID), &params, &open(&key, &encrypted), &x);
}

/// SEAL's parameters and keys: we read every object, compute and decrypt, and SEAL opens our results.
pub(crate) fn seal_to_ours<S: Spoken>(peer: &Peer, degree: usize, bits: &[u32]) {
    let [x, y] = S::operands(degree);
    let request = json!({
        "scheme": S::ID.name(), "degree": degree, "plain": S::PLAIN, "scale_bits": S::SCALE_BITS, "bits": bits,
        "a": x, "b": y,
    });
    let Some(exchange) = peer.exchange(&integers_as_such::<S>(request)) else { return };
    exchange.run("make", &[]);
    let parameters = SealParameters::read(&exchange.read("parameters")).unwrap();
    exchange.ask("primes", &json!(parameters.primes));
    let chain = Chain::<S>::from_seal(&parameters, S::SCALE_BITS).unwrap();
    let params = chain.params();
    let secret = read_unprotected_secret_key(&exchange.read("secret-key"), &chain).unwrap();
    let key = SecretKey::from_unprotected_residues(params, &secret).unwrap();
    let mut keys = EvaluationKeys::empty(params, key.id());
    keys.relinearisation = Some(read_relinearisation_key(&exchange.read("relinearisation"), &chain).unwrap());
    keys.galois = read_galois_keys(&exchange.read("galois"), &chain, 64).unwrap();
    let read = |name: &str, origin| {
        let claim = Claim::Fresh { origin, magnitude: MAGNITUDE };
        read_ciphertext(&exchange.read(name), &chain, key.id(), claim).unwrap()
    };
    // Pyfhel encrypts with the public key only.
    let (a, b) = (read("a", Origin::PublicKey), read("b", Origin::PublicKey));

    let evaluator = Evaluator::new(params);
    for name in RESULTS {
        let result = S::compute(&evaluator, name, (&a, &b), &keys).unwrap();
        let expected = meant::<S>(name, &x, &y);
        check(&format!("{}: we open {name}", S::ID), params, &open(&key, &result), &expected);
        exchange.write(name, &write_ciphertext(&result, &chain, WRITING).unwrap());
    }
    let mut rng = sotto_ring::secure_rng().unwrap();
    let public = read_public_key(&exchange.read("public-key"), &chain, key.id()).unwrap();
    let ours = public.encrypt(&encoded(params, &x), &mut rng).unwrap();
    exchange.write("encrypted", &write_ciphertext(&ours, &chain, WRITING).unwrap());
    let mut names = RESULTS.to_vec();
    names.push("encrypted");
    for (name, slots) in &exchange.run("open", &names) {
        check(&format!("{}: SEAL opens {name}", S::ID), params, slots, &meant::<S>(name, &x, &y));
    }
}

fn write_evaluation_keys<S: Spoken>(exchange: &Exchange, chain: &Chain<S>, keys: &EvaluationKeys<S>) {
    let relinearisation = keys.relinearisation.as_ref().unwrap();
    let bytes = write_relinearisation_key(relinearisation, chain, WRITING).unwrap();
    exchange.write("relinearisation", &bytes);
    exchange.write("galois", &write_galois_keys(&keys.galois, chain, WRITING).unwrap());
}

/// Prints integers without a decimal point, as Python expects them.
fn integers_as_such<S: Spoken>(mut request: serde_json::Value) -> serde_json::Value {
    if S::PLAIN != 0 {
        for name in ["a", "b"] {
            let numbers: Vec<f64> = serde_json::from_value(request[name].clone()).unwrap();
            request[name] = json!(numbers.iter().map(|number| *number as i64).collect::<Vec<_>>());
        }
    }
    request
}
