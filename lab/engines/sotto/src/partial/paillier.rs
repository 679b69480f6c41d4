//! Paillier's scheme.

use chacha20::ChaCha20Rng;
use rand_core::Rng as _;
use sotto_decrypt::partial as opens;
use sotto_keys::partial as secrets;
use sotto_partial::paillier;

use super::Pair;
use crate::error::EngineError;

pub(super) struct Paillier {
    public: paillier::PublicKey,
    decryptor: opens::paillier::Decryptor,
}

impl Paillier {
    pub(super) fn new(bits: u32, rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        let masking = secrets::paillier::Masking::default();
        let secret = secrets::paillier::SecretKey::generate(bits, masking, rng)?;
        Ok(Self { public: secret.public_key()?, decryptor: opens::paillier::Decryptor::new(&secret)? })
    }
}

impl Pair for Paillier {
    type Ciphertext = paillier::Ciphertext;

    fn another(&self, rng: &mut ChaCha20Rng) -> Result<Self, EngineError> {
        Self::new(self.bits(), rng)
    }
    fn draw(rng: &mut ChaCha20Rng) -> i128 {
        const BITS: u32 = 60;
        i128::from(rng.next_u64() >> (u64::BITS - BITS) | 1 << (BITS - 1))
    }
    fn encrypt(&self, value: i128, rng: &mut ChaCha20Rng) -> Result<Self::Ciphertext, EngineError> {
        Ok(self.public.encrypt(&self.public.signed(value), rng)?)
    }
    fn decrypt(&self, ciphertext: &Self::Ciphertext) -> Result<i128, EngineError> {
        let plain = self.decryptor.decrypt(&self.public, ciphertext)?;
        plain.to_signed(&self.public).ok_or(EngineError::Wrong)
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
            "add_plain" => self.public.add_plain(a, &self.public.signed(plain))?,
            "multiply_plain" => self.public.multiply_plain(a, plain)?,
            _ => return Err(EngineError::Unsupported),
        })
    }
    fn bits(&self) -> u32 {
        self.public.bits()
    }
}
