//! ElGamal in the group of squares modulo a safe prime: products.

use std::sync::Arc;

use anyhow::bail;
use sotto_decrypt::partial::elgamal::decrypt;
use sotto_keys::partial::elgamal::SecretKey;
use sotto_partial::PartialError;
use sotto_partial::elgamal::{Ciphertext, Group, GroupName, PublicKey};
use sotto_partial::encoding::Complement;
use sotto_ring::secure_rng;

use super::super::parameters::Parameters;
use super::{Opened, PartialScheme, lacks};

/// Bits of a clear number; the first entry that leaves room for all factors is used.
const CLEAR_BITS: [u32; 3] = [64, 32, 16];

pub(super) struct ElGamal {
    secret: SecretKey,
    key: PublicKey,
    code: Complement,
    clear_bits: u32,
}

impl ElGamal {
    pub(super) fn new(bits: u32, factors: u32) -> anyhow::Result<Self> {
        let name = match bits {
            2048 => GroupName::Ffdhe2048,
            3072 => GroupName::Ffdhe3072,
            _ => bail!("elgamal has groups of 2048 and 3072 bits, not {bits}"),
        };
        let code = |clear_bits| Some((Complement::new(clear_bits, factors, bits - 2).ok()?, clear_bits));
        let Some((code, clear_bits)) = CLEAR_BITS.into_iter().find_map(code) else {
            bail!("a product of {factors} numbers does not fit: use --scheme bfv");
        };
        let secret = SecretKey::generate(&Arc::new(Group::new(name)?), &mut secure_rng()?);
        Ok(Self { key: secret.public_key(), secret, code, clear_bits })
    }
}

impl PartialScheme for ElGamal {
    type Ciphertext = Ciphertext;

    fn encrypt(&self, value: i64) -> anyhow::Result<Ciphertext> {
        Ok(self.key.encrypt(&*self.code.encode(value)?, &mut secure_rng()?)?)
    }

    fn add(&self, _: &Ciphertext, _: &Ciphertext) -> anyhow::Result<Ciphertext> {
        Err(lacks("elgamal", "add", "paillier for sums alone, paillier-blinded or bfv for both"))
    }

    fn subtract(&self, _: &Ciphertext, _: &Ciphertext) -> anyhow::Result<Ciphertext> {
        Err(lacks("elgamal", "subtract", "paillier for sums alone, paillier-blinded or bfv for both"))
    }

    fn negate(&self, a: &Ciphertext) -> anyhow::Result<Ciphertext> {
        self.multiply(a, &self.encrypt(-1)?)
    }

    fn multiply(&self, a: &Ciphertext, b: &Ciphertext) -> anyhow::Result<Ciphertext> {
        Ok(self.key.multiply(a, b)?)
    }

    fn open(&self, ciphertext: &Ciphertext) -> anyhow::Result<Opened> {
        let residue = decrypt(&self.secret, &self.key, ciphertext)?;
        match self.code.decode(&residue) {
            Ok(value) => Ok(Opened { value: i128::from(value), wrapped_in: None }),
            Err(PartialError::Overflow { .. }) => Ok(Opened {
                value: i128::from(self.code.decode_wrapping(&residue)),
                wrapped_in: Some(self.clear_bits),
            }),
            Err(other) => Err(other.into()),
        }
    }

    fn bytes(&self, ciphertext: &Ciphertext) -> usize {
        self.key.write_ciphertext(ciphertext).len()
    }

    fn parameters(&self) -> Parameters {
        let name = self.key.group().name();
        let security_bits = name.security_bits();
        Parameters::Partial { key_bits: name.bits(), message_bits: self.clear_bits - 1, security_bits }
    }
}
