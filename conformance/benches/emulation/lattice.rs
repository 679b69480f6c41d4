//! The same tasks on the lattice schemes, one value a ciphertext, for comparison: no re-encryption agent, no trips.
//! CKKS takes inputs divided by the largest one, as a user would (all answers are sums of products of two), and gives
//! three digits.

use std::time::Instant;

use sotto_decrypt::{Decrypted, Decryptor};
use sotto_harness::protocol::{Task, Values};
use sotto_keys::{DeviceSecret, SecretKey};
use sotto_program::Program;
use sotto_ring::secure_rng;
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, EvaluationKeys, Evaluator, Origin};
use sotto_runtime::{Encoding, Managed, Requirements, Threads, choose, run_on};

/// A scheme with single values as numbers.
pub(crate) trait Single: Managed {
    const NAME: &'static str;
    fn value(number: f64) -> Self::Value;
    fn number(value: Decrypted<Self::Value>) -> f64;
}

macro_rules! exact {
    ($($scheme:ty, $name:literal);*) => {$(
        impl Single for $scheme {
            const NAME: &'static str = $name;
            fn value(number: f64) -> i64 {
                number as i64
            }
            fn number(value: Decrypted<i64>) -> f64 {
                value.into_residues() as f64
            }
        }
    )*};
}
exact!(Bfv, "BFV"; Bgv, "BGV");

impl Single for Ckks {
    const NAME: &'static str = "CKKS";
    fn value(number: f64) -> f64 {
        number
    }
    fn number(value: Decrypted<f64>) -> f64 {
        let bits = value.publishable_bits();
        value.publish(bits).expect("publishes")
    }
}

/// Returns the least milliseconds of encryption (secret key) and of the run on all threads, and log2 n. Compares the
/// last outputs.
pub(crate) fn measure<S: Single>(task: &Task, rounds: usize) -> Option<(f64, f64, usize)> {
    let (program, inputs) = task.whole();
    let program = &sotto_engine::translate(&program, 1).ok()?.program;
    let whole = |values: &Values| values.integers().unwrap_or_default().to_vec();
    let inputs: Vec<i64> = inputs.iter().flat_map(whole).collect();
    let expected = whole(&task.answers);
    let largest = program.inputs().iter().fold(1.0, |most: f64, input| most.max(input.magnitude));
    let unit = if S::EXACT { 1.0 } else { largest };
    let mut parts = program.clone().into_parts();
    parts.inputs.iter_mut().for_each(|input| input.magnitude /= unit);
    let program = &Program::new(parts).ok()?;
    let expected: Vec<f64> = expected.iter().map(|value| *value as f64 / (unit * unit)).collect();
    let asked = Requirements {
        encoding: Encoding::Scalar,
        origin: Origin::SecretKey,
        plain_modulus: None,
        columns: 1,
        degree: None,
        largest_error: 1e-3 * expected.iter().fold(0.0, |most: f64, value| most.max(value.abs())),
    };
    let choice = choose::<S>(core::slice::from_ref(program), &asked).ok()?;
    let (params, lowered) = (choice.target.params, &choice.lowered[0]);
    let mut rng = secure_rng().expect("randomness");
    let secret = SecretKey::<S>::derive(&DeviceSecret::generate(&mut rng), &params);
    let needed = &lowered.plan.keys;
    let keys = if needed.is_empty() {
        EvaluationKeys::empty(&params, secret.id())
    } else {
        secret.evaluation_keys(needed.relinearisation, &needed.rotations, &mut rng).expect("keys")
    };
    let (evaluator, threads) = (Evaluator::new(&params), Threads::new(0).expect("threads"));
    let (mut encryption, mut run) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..rounds {
        let begin = Instant::now();
        let encrypted = inputs.iter().zip(program.inputs()).map(|(value, declared)| {
            let plaintext = S::encode_scalar(&params, S::value(*value as f64 / unit), params.top_level())
                .expect("encodes");
            let plaintext = plaintext.declare_magnitude(declared.magnitude);
            secret.encrypt(&plaintext, &mut rng).expect("encrypts").expand()
        });
        let encrypted: Vec<Ciphertext<S>> = encrypted.collect();
        encryption = encryption.min(begin.elapsed().as_secs_f64() * 1e3);
        let begin = Instant::now();
        let answers = run_on(&threads, &lowered.plan, &evaluator, encrypted, &keys, u64::MAX).expect("runs");
        run = run.min(begin.elapsed().as_secs_f64() * 1e3);
        let last = answers.len() - expected.len();
        for ((answer, planned), expected) in answers.iter().zip(&lowered.outputs).skip(last).zip(&expected) {
            let decryptor = Decryptor::new(&secret);
            let plaintext = decryptor.decrypt(answer).expect("decrypts");
            let found = S::number(decryptor.decode_scalar(&plaintext, &planned.shape));
            let allowed = if S::EXACT { 0.0 } else { asked.largest_error };
            assert!((found - expected).abs() <= allowed, "{found}, not {expected}");
        }
    }
    Some((encryption, run, params.degree()))
}
