//! Decryption of a single value: timed, checked against the plan's shape, published, as a number.

use serde::Serialize;
use sotto_decrypt::{Decrypted, Decryptor};
use sotto_keys::SecretKey;
use sotto_rlwe::{Ciphertext, SlotValue};
use sotto_runtime::{Managed, Planned};

use crate::phases::Phases;

/// A number in printable form: whole numbers without a fraction, very large and very small ones with an exponent.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Number {
    Whole(i128),
    Real(f64),
}

/// A slot's value that the command line can show.
pub(crate) trait Shown: SlotValue + Into<Number> {
    /// Converts a number to a value. None if there is no such value.
    fn of(number: Number) -> Option<Self>;

    /// Returns the number and a bound on its error. Reals are rounded to as many bits as the noise bound allows.
    fn publish(value: Decrypted<Self>) -> anyhow::Result<(Self, f64)>;
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

impl Shown for i64 {
    fn of(number: Number) -> Option<Self> {
        match number {
            Number::Whole(value) => Self::try_from(value).ok(),
            Number::Real(_) => None,
        }
    }

    fn publish(value: Decrypted<Self>) -> anyhow::Result<(Self, f64)> {
        Ok((value.into_residues(), 0.0))
    }
}

impl Shown for f64 {
    fn of(number: Number) -> Option<Self> {
        Some(number.real())
    }

    fn publish(value: Decrypted<Self>) -> anyhow::Result<(Self, f64)> {
        let (bits, bound) = (value.publishable_bits(), value.published_error(value.publishable_bits()));
        Ok((value.publish(bits)?, bound))
    }
}

/// Decrypts an answer that holds a single value, with the bounds of the plan.
pub(crate) fn open_scalar<S: Managed<Value: Shown>>(
    key: &SecretKey<S>,
    answer: &Ciphertext<S>,
    planned: &Planned<S>,
    phases: &mut Phases,
) -> anyhow::Result<(Number, f64)> {
    let answer = answer.clone().expect(&planned.expected(key.params(), key.id()))?;
    let decryptor = Decryptor::new(key);
    let plaintext = phases.time("decrypt", || decryptor.decrypt(&answer))?;
    let value = phases.time("decode", || decryptor.decode_scalar(&plaintext, &planned.shape));
    let (value, bound) = S::Value::publish(value.within(planned.slot_error))?;
    Ok((value.into(), bound))
}
