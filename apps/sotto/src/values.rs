//! Decryption of a single value: timed, checked against the plan's shape, published, as a number.

use serde::Serialize;
use sotto_decrypt::{Decrypted, Decryptor};
use sotto_keys::SecretKey;
use sotto_rlwe::{Bfv, Bgv, Ciphertext, Ckks};
use sotto_runtime::{Managed, Planned};

use crate::phases::Phases;

/// A number in printable form: whole numbers without a fraction, very large and very small ones with an exponent.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Number {
    Whole(i128),
    Real(f64),
}

/// A scheme that the command line can show.
pub(crate) trait Shown: Managed<Value: Into<Number>> {
    /// Converts a number to a value. None if the scheme has no such number.
    fn value(number: Number) -> Option<Self::Value>;

    /// Returns the number and a bound on its error. CKKS values are rounded to as many bits as the noise bound allows.
    fn publish_scalar(value: Decrypted<Self::Value>) -> anyhow::Result<(Self::Value, f64)>;
}

impl Number {
    /// Returns the nearest f64.
    pub(crate) fn real(self) -> f64 {
        match self {
            Self::Whole(value) => value as f64,
            Self::Real(value) => value,
        }
    }
}

impl From<f64> for Number {
    fn from(value: f64) -> Self {
        let whole = value.fract() == 0.0 && value.abs() < (1u64 << 53) as f64;
        if whole { Self::Whole(value as i128) } else { Self::Real(value) }
    }
}

impl From<i64> for Number {
    fn from(value: i64) -> Self {
        Self::Whole(value.into())
    }
}

impl From<i128> for Number {
    fn from(value: i128) -> Self {
        Self::Whole(value)
    }
}

impl std::fmt::Display for Number {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Whole(value) => value.fmt(f),
            Self::Real(value) if value != 0.0 && !(1e-6..1e15).contains(&value.abs()) => {
                write!(f, "{value:e}")
            }
            Self::Real(value) => value.fmt(f),
        }
    }
}

macro_rules! exact {
    ($($scheme:ty),*) => {$(
        impl Shown for $scheme {
            fn value(number: Number) -> Option<i64> {
                match number {
                    Number::Whole(value) => i64::try_from(value).ok(),
                    Number::Real(_) => None,
                }
            }
            fn publish_scalar(value: Decrypted<i64>) -> anyhow::Result<(i64, f64)> {
                Ok((value.into_residues(), 0.0))
            }
        }
    )*};
}
exact!(Bfv, Bgv);

impl Shown for Ckks {
    fn value(number: Number) -> Option<f64> {
        Some(number.real())
    }

    fn publish_scalar(value: Decrypted<f64>) -> anyhow::Result<(f64, f64)> {
        let (bits, bound) = (value.publishable_bits(), value.published_error(value.publishable_bits()));
        Ok((value.publish(bits)?, bound))
    }
}

/// Decrypts an answer that holds a single value, with the bounds of the plan.
pub(crate) fn open_scalar<S: Shown>(
    key: &SecretKey<S>,
    answer: &Ciphertext<S>,
    planned: &Planned<S>,
    phases: &mut Phases,
) -> anyhow::Result<(Number, f64)> {
    let answer = answer.clone().expect(&planned.expected(key.params(), key.id()))?;
    let decryptor = Decryptor::new(key);
    let plaintext = phases.time("decrypt", || decryptor.decrypt(&answer))?;
    let value = phases.time("decode", || decryptor.decode_scalar(&plaintext, &planned.shape));
    let (value, bound) = S::publish_scalar(value.within(planned.slot_error))?;
    Ok((value.into(), bound))
}
