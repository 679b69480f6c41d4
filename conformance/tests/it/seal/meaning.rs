//! The values that the operations of an exchange must give, and the allowed error of an answer.

use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, EvalError, EvaluationKeys, Evaluator, Params};
use sotto_seal::{Claim, Convention};

/// The results of an exchange, by name.
pub(crate) const RESULTS: [&str; 5] = ["sum", "product", "rotated", "swapped", "dropped"];

/// A scheme whose slots can be compared with numbers.
pub(crate) trait Spoken: Convention {
    /// t, or 0.
    const PLAIN: u64;
    /// The scale for parameters of SEAL that have none.
    const SCALE_BITS: Option<u32>;

    fn value(number: f64) -> Self::Value;
    /// Returns the difference of a slot from its expected value.
    fn error(params: &Params<Self>, found: f64, expected: f64) -> f64;
    /// Returns the shape to claim for a result that was computed elsewhere, given the shape of our own result.
    fn claim(like: &Ciphertext<Self>) -> Claim;

    /// Returns the number of slots of all rows.
    fn rows(degree: usize) -> usize {
        if Self::PLAIN == 0 { degree / 2 } else { degree }
    }

    /// Returns the operands: two vectors of small numbers.
    fn operands(degree: usize) -> [Vec<f64>; 2] {
        let step = if Self::PLAIN == 0 { 0.125 } else { 1.0 };
        [(7, 41), (11, 29)].map(|(factor, modulus): (usize, usize)| {
            (0..Self::rows(degree)).map(|i| (i * factor % modulus) as f64 * step).collect()
        })
    }

    /// Computes a result with sotto.
    fn compute(
        evaluator: &Evaluator<Self>,
        name: &str,
        (a, b): (&Ciphertext<Self>, &Ciphertext<Self>),
        keys: &EvaluationKeys<Self>,
    ) -> Result<Ciphertext<Self>, EvalError> {
        match name {
            "sum" => evaluator.add(a, b),
            "product" => {
                let product = evaluator.relinearise(&evaluator.multiply(a, b)?, keys)?;
                // In the peer's form: rescaled, or with a correction factor.
                if Self::ID == sotto_rlwe::SchemeId::Bfv {
                    Ok(product)
                } else {
                    evaluator.drop_modulus(&product)
                }
            }
            "rotated" => evaluator.rotate(a, 1, keys),
            "swapped" => evaluator.swap_rows(a, keys),
            _ => evaluator.lower(a, a.level() - 1),
        }
    }
}

/// Returns the expected slots of a result.
pub(crate) fn meant<S: Spoken>(name: &str, a: &[f64], b: &[f64]) -> Vec<f64> {
    let row = if S::PLAIN == 0 { a.len() } else { a.len() / 2 };
    let at = |i: usize| match name {
        "sum" => a[i] + b[i],
        "product" => a[i] * b[i],
        "rotated" => a[i / row * row + (i + 1) % row],
        // Conjugation does not change reals.
        "swapped" if S::PLAIN != 0 => a[(i + row) % a.len()],
        "b" => b[i],
        _ => a[i],
    };
    (0..a.len()).map(at).collect()
}

macro_rules! integers {
    ($($scheme:ty),*) => {$(
        impl Spoken for $scheme {
            const PLAIN: u64 = 65537;
            const SCALE_BITS: Option<u32> = None;

            fn value(number: f64) -> i64 {
                number as i64
            }

            fn error(params: &Params<Self>, found: f64, expected: f64) -> f64 {
                (found - expected).rem_euclid(params.plain_modulus() as f64)
            }

            fn claim(_like: &Ciphertext<Self>) -> Claim {
                Claim::Decryptable
            }
        }
    )*};
}
integers!(Bfv, Bgv);

impl Spoken for Ckks {
    const PLAIN: u64 = 0;
    const SCALE_BITS: Option<u32> = Some(40);

    fn value(number: f64) -> f64 {
        number
    }

    fn error(_params: &Params<Self>, found: f64, expected: f64) -> f64 {
        (found - expected).abs()
    }

    /// SEAL's noise from the same operations has the same size.
    fn claim(like: &Ciphertext<Self>) -> Claim {
        Claim::Bounded(like.shape().noise)
    }
}

/// Encodes operands.
pub(crate) fn encoded<S: Spoken>(params: &Params<S>, numbers: &[f64]) -> sotto_rlwe::Plaintext<S> {
    let values: Vec<S::Value> = numbers.iter().map(|number| S::value(*number)).collect();
    S::encode_slots(params, &values, params.top_level()).unwrap().declare_magnitude(MAGNITUDE)
}

/// Largest operand.
pub(crate) const MAGNITUDE: f64 = 64.0;
/// Largest accepted error of a real.
pub(crate) const CLOSE: f64 = 1e-4;

/// Panics unless the slots have their expected values.
pub(crate) fn check<S: Spoken>(what: &str, params: &Params<S>, found: &[f64], expected: &[f64]) {
    assert_eq!(found.len(), expected.len(), "{what}: slots");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        let error = S::error(params, *found, *expected);
        let close = if S::PLAIN == 0 { CLOSE } else { 0.0 };
        assert!(error <= close, "{what}, slot {i}: {found}, expected {expected}");
    }
}
