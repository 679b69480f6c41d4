//! ElGamal's scheme on Ristretto, numbers in the exponent.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use sotto_decrypt::partial as opens;
use sotto_keys::partial as secrets;
use sotto_partial::ristretto::{self, BabySteps};

use super::{Pair, narrow};
use crate::error::EngineError;

/// Bits of the searched answers, which are sums and products of two-digit numbers.
const SEARCHED_BITS: u32 = 16;

pub(super) struct Ristretto {
    secret: secrets::ristretto::SecretKey,
    public: ristretto::PublicKey,
    table: Arc<BabySteps>,
}

impl Ristretto {
    pub(super) fn new(rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        Self::of(Arc::new(BabySteps::new(SEARCHED_BITS)?), rng)
    }

    fn of(table: Arc<BabySteps>, rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        let secret = secrets::ristretto::SecretKey::generate(rng);
        Ok(Self { public: secret.public_key()?, secret, table })
    }
}

impl Pair for Ristretto {
    type Ciphertext = ristretto::Ciphertext;

    fn another(&self, rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        Self::of(Arc::clone(&self.table), rng)
    }
    fn encrypt(&self, value: i128, rng: &mut ChaCha20Rng) -> Result<Self::Ciphertext, EngineError> {
        Ok(self.public.encrypt(narrow(value)?, rng)?)
    }
    fn decrypt(&self, ciphertext: &Self::Ciphertext) -> Result<i128, EngineError> {
        let found = opens::ristretto::decrypt_vartime(&self.secret, ciphertext, &self.table, |_, _| {})?;
        Ok(i128::from(found))
    }
    fn apply(
        &self,
        operation: &str,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        plain: i128,
    ) -> Result<Self::Ciphertext, EngineError> {
        Ok(match operation {
            "add" => self.public.add(a, b)?,
            "subtract" => self.public.subtract(a, b)?,
            "multiply_plain" => self.public.multiply_plain(a, narrow(plain)?)?,
            _ => return Err(EngineError::Unsupported),
        })
    }
    fn bits(&self) -> u32 {
        255
    }
}
