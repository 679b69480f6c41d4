//! ElGamal's scheme on a group of residues.

use std::sync::Arc;

use chacha20::ChaCha20Rng;
use crypto_bigint::BoxedUint;
use sotto_decrypt::partial as opens;
use sotto_keys::partial as secrets;
use sotto_partial::elgamal::{self, Group, GroupName};

use super::Pair;
use crate::error::EngineError;

pub(super) struct ElGamal {
    secret: secrets::elgamal::SecretKey,
    public: elgamal::PublicKey,
}

impl ElGamal {
    /// Makes keys in the group of `bits` bits.
    pub(super) fn new(bits: u32, rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        let known = [GroupName::Ffdhe2048, GroupName::Ffdhe3072];
        let none = || EngineError::Request(format!("there is no group of {bits} bits: 2048 or 3072"));
        let name = known.into_iter().find(|name| name.bits() == bits).ok_or_else(none)?;
        Ok(Self::of(&Arc::new(Group::new(name)?), rng))
    }

    fn of(group: &Arc<Group>, rng: &mut ChaCha20Rng) -> Self {
        let secret = secrets::elgamal::SecretKey::generate(group, rng);
        Self { public: secret.public_key(), secret }
    }
}

impl Pair for ElGamal {
    type Ciphertext = elgamal::Ciphertext;

    fn another(&self, rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        Ok(Self::of(self.public.group(), rng))
    }
    fn encrypt(&self, value: i128, rng: &mut ChaCha20Rng) -> Result<Self::Ciphertext, EngineError> {
        let positive = u64::try_from(value).map_err(|_| EngineError::Wrong)?;
        Ok(self.public.encrypt(&BoxedUint::from(positive), rng)?)
    }
    fn decrypt(&self, ciphertext: &Self::Ciphertext) -> Result<i128, EngineError> {
        let found = opens::elgamal::decrypt(&self.secret, &self.public, ciphertext)?;
        let words = sotto_partial::number::words(&found);
        let (low, high) = words.split_first().ok_or(EngineError::Wrong)?;
        if high.iter().any(|word| *word != 0) { Err(EngineError::Wrong) } else { Ok(i128::from(*low)) }
    }
    fn apply(
        &self,
        operation: &str,
        a: &Self::Ciphertext,
        b: &Self::Ciphertext,
        _: i128,
    ) -> Result<Self::Ciphertext, EngineError> {
        if operation == "multiply" { Ok(self.public.multiply(a, b)?) } else { Err(EngineError::Unsupported) }
    }
    fn bits(&self) -> u32 {
        self.public.group().name().bits()
    }
}
