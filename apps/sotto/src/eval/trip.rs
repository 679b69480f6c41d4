//! One expression on one scheme, from keys to the decrypted answer.

use anyhow::Context;
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_program::Program;
use sotto_ring::secure_rng;
use sotto_rlwe::{EvaluationKeys, Evaluator, Origin, Params, PublicKey, Scheme};
use sotto_runtime::{Managed, Requirements, choose, run as run_plan};
use sotto_wire::AnyCiphertext;

use super::parameters::Parameters;
use crate::phases::Phases;
use crate::values::{Number, Shown, open_scalar};

/// The answer and its costs.
pub(super) struct Trip {
    /// The decrypted answer.
    pub(super) result: Number,
    /// A bound on its error; 0 for exact schemes.
    pub(super) bound: f64,
    pub(super) parameters: Parameters,
    /// None for CKKS.
    pub(super) plain_modulus: Option<u64>,
    pub(super) phases: Phases,
    /// Bytes of the frames of a fresh ciphertext, the answer, and the evaluation keys.
    pub(super) fresh_bytes: usize,
    pub(super) result_bytes: usize,
    pub(super) key_bytes: usize,
    pub(super) plan: String,
}

/// Makes keys, encrypts, runs the plan on ciphertexts, decrypts.
pub(super) fn run<S: Managed<Value: Shown>>(
    program: &Program,
    asked: &Requirements,
    inputs: &[Number],
) -> anyhow::Result<Trip> {
    let choice = choose::<S>(core::slice::from_ref(program), asked)?;
    let (params, lowered) = (choice.target.params, &choice.lowered[0]);
    let mut rng = secure_rng()?;
    let mut phases = Phases::default();
    let (secret, public, keys) = phases.time("key generation", || {
        let secret = SecretKey::<S>::derive(&DeviceSecret::generate(&mut rng), &params);
        let public = (asked.origin == Origin::PublicKey).then(|| secret.public_key(&mut rng));
        let needed = &lowered.plan.keys;
        let keys = if needed.is_empty() {
            Ok(EvaluationKeys::empty(&params, secret.id()))
        } else {
            secret.evaluation_keys(needed.relinearisation, &needed.rotations, &mut rng)
        };
        keys.map(|keys| (secret, public, keys))
    })?;
    let mut fresh_bytes = 0;
    let mut ciphertexts = Vec::with_capacity(inputs.len());
    for (number, declared) in inputs.iter().zip(program.inputs()) {
        let value = S::Value::of(*number).with_context(|| format!("{number} is beyond 64 bits"))?;
        let plaintext = phases.time("encode", || S::encode_scalar(&params, value, params.top_level()))?;
        let plaintext = plaintext.declare_magnitude(declared.magnitude);
        let encrypted = phases.time("encrypt", || encrypt(&secret, public.as_ref(), &plaintext, &mut rng))?;
        fresh_bytes = encrypted.write().len();
        ciphertexts.push(encrypted.expand());
    }
    let evaluator = Evaluator::new(&params);
    let outputs = phases.time("evaluate", || run_plan(&lowered.plan, &evaluator, ciphertexts, &keys))?;
    let (result, bound) = open_scalar(&secret, &outputs[0], &lowered.outputs[0], &mut phases)?;
    Ok(Trip {
        result,
        bound,
        parameters: Parameters::Lattice {
            n: params.degree(),
            log2_q: (params.spec().modulus_bits() * 100.0).round() / 100.0,
            plain_modulus: plain_modulus(&params),
            security_bits: 128,
        },
        plain_modulus: plain_modulus(&params),
        phases,
        fresh_bytes,
        result_bytes: AnyCiphertext::Expanded(outputs[0].clone()).write().len(),
        key_bytes: key_bytes(&keys),
        plan: lowered.plan.to_string(),
    })
}

fn encrypt<S: Managed<Value: Shown>>(
    secret: &SecretKey<S>,
    public: Option<&PublicKey<S>>,
    plaintext: &sotto_rlwe::Plaintext<S>,
    rng: &mut impl sotto_ring::SecretRng,
) -> Result<AnyCiphertext<S>, sotto_rlwe::EvalError> {
    match public {
        Some(public) => public.encrypt(plaintext, rng).map(AnyCiphertext::Expanded),
        None => secret.encrypt(plaintext, rng).map(AnyCiphertext::Seeded),
    }
}

fn key_bytes<S: Scheme>(keys: &EvaluationKeys<S>) -> usize {
    if keys.relinearisation.is_none() && keys.galois.is_empty() {
        return 0;
    }
    sotto_wire::evaluation_keys_bytes(&keys.params, sotto_wire::EvaluationKeyCounts::of(keys))
}

fn plain_modulus<S: Scheme>(params: &Params<S>) -> Option<u64> {
    S::EXACT.then(|| params.plain_modulus())
}
