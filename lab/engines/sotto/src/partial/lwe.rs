//! The scheme of Aono and others, on learning with errors.

use chacha20::ChaCha20Rng;
use sotto_decrypt::partial as opens;
use sotto_keys::partial as secrets;
use sotto_partial::lwe;

use super::{Pair, narrow};
use crate::error::EngineError;

pub(super) struct Lwe {
    secret: secrets::lwe::SecretKey,
    public: lwe::PublicKey,
}

impl Lwe {
    pub(super) fn new(rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        let (secret, public) = secrets::lwe::SecretKey::generate(1, rng)?;
        Ok(Self { secret, public })
    }
}

/// A ciphertext, or the scheme's product, which is of another type.
pub(super) enum LweCiphertext {
    Vector(lwe::Ciphertext),
    Matrix(lwe::Product),
}

impl Pair for Lwe {
    type Ciphertext = LweCiphertext;

    fn another(&self, rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        Self::new(rng)
    }
    fn encrypt(&self, value: i128, rng: &mut ChaCha20Rng) -> Result<Self::Ciphertext, EngineError> {
        Ok(LweCiphertext::Vector(self.public.encrypt(&[narrow(value)?], rng)?))
    }
    fn decrypt(&self, ciphertext: &Self::Ciphertext) -> Result<i128, EngineError> {
        let found = match ciphertext {
            LweCiphertext::Vector(vector) => opens::lwe::decrypt(&self.secret, vector)?,
            LweCiphertext::Matrix(matrix) => opens::lwe::decrypt_product(&self.secret, matrix)?,
        };
        found.first().map(|value| i128::from(*value)).ok_or(EngineError::Wrong)
    }
    fn apply(
        &self,
        operation: &str,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        _: i128,
    ) -> Result<Self::Ciphertext, EngineError> {
        match (operation, a, b) {
            ("add", LweCiphertext::Vector(a), LweCiphertext::Vector(b)) => {
                Ok(LweCiphertext::Vector(a.add(b)?))
            }
            ("multiply", LweCiphertext::Vector(a), LweCiphertext::Vector(b)) => {
                Ok(LweCiphertext::Matrix(a.multiply(b)?))
            }
            _ => Err(EngineError::Unsupported),
        }
    }
    fn said(value: i128) -> i128 {
        let p = i128::from(lwe::PLAIN_MODULUS);
        (value + p / 2).rem_euclid(p) - p / 2
    }
    fn bits(&self) -> u32 {
        lwe::LOG2_Q
    }
}
