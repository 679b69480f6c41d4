//! Decryption as the command line does it: timed, held against the plan's shape, published, as numbers.

use anyhow::Context;
use sotto_decrypt::{Decrypted, Decryptor};
use sotto_keys::SecretKey;
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, Shape};
use sotto_runtime::Managed;

use crate::phases::Phases;

/// A scheme that the command line can show.
pub(crate) trait Shown: Managed {
    /// A value from a number; integers must be whole.
    fn value(number: f64) -> Self::Value;

    /// The number and a bound on its error. CKKS values are rounded to as many bits as the noise bound allows.
    fn publish_scalar(value: Decrypted<Self::Value>) -> anyhow::Result<(f64, f64)>;
}

macro_rules! exact {
    ($($scheme:ty),*) => {$(
        impl Shown for $scheme {
            fn value(number: f64) -> i64 {
                number as i64
            }
            fn publish_scalar(value: Decrypted<i64>) -> anyhow::Result<(f64, f64)> {
                Ok((value.into_exact() as f64, 0.0))
            }
        }
    )*};
}
exact!(Bfv, Bgv);

impl Shown for Ckks {
    fn value(number: f64) -> f64 {
        number
    }

    fn publish_scalar(value: Decrypted<f64>) -> anyhow::Result<(f64, f64)> {
        let (bits, bound) = (value.publishable_bits(), value.published_error(value.publishable_bits()));
        Ok((value.publish(bits)?, bound))
    }
}

/// Opens an answer that holds a single value. `predicted` is the shape that the plan promised: its noise bound is believed, and not
/// the one that came with the bytes.
pub(crate) fn open_scalar<S: Shown>(
    key: &SecretKey<S>,
    answer: &Ciphertext<S>,
    predicted: &Shape<S>,
    phases: &mut Phases,
) -> anyhow::Result<(f64, f64)> {
    let (decryptor, answer) = (Decryptor::new(key), believed(answer, predicted)?);
    let plaintext = phases.time("decrypt", || decryptor.decrypt(&answer))?;
    S::publish_scalar(phases.time("decode", || decryptor.decode_scalar(&plaintext, predicted)))
}

/// The ciphertext with the predicted shape; refused if level, components or scaling are not what the plan gives.
fn believed<S: Managed>(ciphertext: &Ciphertext<S>, predicted: &Shape<S>) -> anyhow::Result<Ciphertext<S>> {
    let found = ciphertext.shape();
    let same = (found.level, found.components) == (predicted.level, predicted.components)
        && found.scaling == predicted.scaling;
    same.then_some(()).context("the answer's level, components or scale are not what the plan gives")?;
    // The plan's bound includes what encoding constants rounded off, so it is never below the evaluator's.
    let bounded = found.noise.error.0 <= predicted.noise.error.0 + 1e-6;
    bounded
        .then_some(())
        .context("the answer's noise bound is larger than the plan's: was it made from other inputs?")?;
    let components = ciphertext.components().to_vec();
    Ok(Ciphertext::from_parts(ciphertext.params(), ciphertext.key(), *predicted, components))
}
