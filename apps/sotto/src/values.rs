//! Values of a scheme and their decryption, as the command line sees them: numbers.

use anyhow::Context;
use sotto_decrypt::Decryptor;
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks, Shape};
use sotto_runtime::Managed;

/// A scheme that the command line can show.
pub(crate) trait Shown: Managed {
    /// A value from a number; integers must be whole.
    fn value(number: f64) -> Self::Value;

    /// Decrypts and decodes; CKKS values are published to `bits` or to as many as the noise bound allows. Gives the numbers and a
    /// bound on their error. `predicted` is the shape that the plan promised: its noise bound, and not the one that came with the
    /// bytes, is believed.
    fn open(
        decryptor: &Decryptor<'_, Self>,
        ciphertext: &Ciphertext<Self>,
        predicted: &Shape<Self>,
        scalar: bool,
    ) -> anyhow::Result<(Vec<f64>, f64)>;
}

macro_rules! exact {
    ($($scheme:ty),*) => {$(
        impl Shown for $scheme {
            fn value(number: f64) -> i64 {
                number as i64
            }
            fn open(
                decryptor: &Decryptor<'_, Self>,
                ciphertext: &Ciphertext<Self>,
                predicted: &Shape<Self>,
                scalar: bool,
            ) -> anyhow::Result<(Vec<f64>, f64)> {
                let ciphertext = believed(ciphertext, predicted)?;
                let values = if scalar {
                    vec![decryptor.scalar(&ciphertext)?.into_exact()]
                } else {
                    decryptor.slots(&ciphertext)?.into_exact()
                };
                Ok((values.into_iter().map(|v| v as f64).collect(), 0.0))
            }
        }
    )*};
}
exact!(Bfv, Bgv);

impl Shown for Ckks {
    fn value(number: f64) -> f64 {
        number
    }

    fn open(
        decryptor: &Decryptor<'_, Self>,
        ciphertext: &Ciphertext<Self>,
        predicted: &Shape<Self>,
        scalar: bool,
    ) -> anyhow::Result<(Vec<f64>, f64)> {
        let ciphertext = believed(ciphertext, predicted)?;
        if scalar {
            let value = decryptor.scalar(&ciphertext)?;
            let (bits, bound) = (value.publishable_bits(), value.published_error(value.publishable_bits()));
            return Ok((vec![value.publish(bits)?], bound));
        }
        let values = decryptor.slots(&ciphertext)?;
        let (bits, bound) = (values.publishable_bits(), values.published_error(values.publishable_bits()));
        Ok((values.publish(bits)?, bound))
    }
}

/// The ciphertext with the predicted shape; refused if level, components or scaling are not what the plan gives.
fn believed<S: Managed>(ciphertext: &Ciphertext<S>, predicted: &Shape<S>) -> anyhow::Result<Ciphertext<S>> {
    let found = ciphertext.shape();
    let same = (found.level, found.components) == (predicted.level, predicted.components)
        && found.scaling == predicted.scaling;
    same.then_some(()).context("the answer's level, components or scale are not what the plan gives")?;
    let components = ciphertext.components().to_vec();
    Ok(Ciphertext::from_parts(ciphertext.params(), ciphertext.key(), *predicted, components))
}
