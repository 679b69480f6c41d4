//! Paillier: sums.

use anyhow::Context;
use sotto_decrypt::partial::paillier::Decryptor;
use sotto_keys::partial::paillier::{Masking, SecretKey};
use sotto_partial::paillier::{Ciphertext, PublicKey, security_bits};
use sotto_ring::secure_rng;

use super::super::parameters::Parameters;
use super::{Opened, PartialScheme, lacks};

pub(super) struct Paillier {
    key: PublicKey,
    decryptor: Decryptor,
}

impl Paillier {
    pub(super) fn new(bits: u32) -> anyhow::Result<Self> {
        let secret = SecretKey::generate(bits, Masking::HalfLength, &mut secure_rng()?)?;
        Ok(Self { key: secret.public_key()?, decryptor: Decryptor::new(&secret)? })
    }
}

impl PartialScheme for Paillier {
    type Ciphertext = Ciphertext;

    fn encrypt(&self, value: i64) -> anyhow::Result<Ciphertext> {
        Ok(self.key.encrypt(&self.key.signed(i128::from(value)), &mut secure_rng()?)?)
    }

    fn add(&self, a: &Ciphertext, b: &Ciphertext) -> anyhow::Result<Ciphertext> {
        Ok(self.key.add(a, b)?)
    }

    fn subtract(&self, a: &Ciphertext, b: &Ciphertext) -> anyhow::Result<Ciphertext> {
        Ok(self.key.subtract(a, b)?)
    }

    fn multiply(&self, _: &Ciphertext, _: &Ciphertext) -> anyhow::Result<Ciphertext> {
        Err(lacks("paillier", "multiply", "elgamal for products alone, paillier-blinded or bfv for both"))
    }

    fn open(&self, ciphertext: &Ciphertext) -> anyhow::Result<Opened> {
        let plaintext = self.decryptor.decrypt(&self.key, ciphertext)?;
        let value = plaintext.to_signed(&self.key).context("the answer is beyond 128 bits")?;
        Ok(Opened { value, wrapped_in: None })
    }

    fn bytes(&self, ciphertext: &Ciphertext) -> usize {
        self.key.write(ciphertext).len()
    }

    fn parameters(&self) -> Parameters {
        let key_bits = self.key.bits();
        let security_bits = security_bits(key_bits).unwrap_or(0);
        Parameters::Partial { key_bits, message_bits: key_bits - 2, security_bits }
    }
}
