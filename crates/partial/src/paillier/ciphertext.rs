//! Ciphertexts, and their bytes.

use crypto_bigint::Gcd;
use sotto_kernels::Residue;

use super::key::PublicKey;
use crate::error::PartialError;
use crate::key_id::KeyId;
use crate::number::{from_bytes, from_words, to_bytes, words};

/// A unit modulo n², in Montgomery's form, so that a sum is one multiplication.
#[derive(Clone)]
pub struct Ciphertext {
    pub(super) value: Residue,
    pub(super) key: KeyId,
}

impl Ciphertext {
    /// The key that it is under.
    pub fn key(&self) -> KeyId {
        self.key
    }
}

impl PublicKey {
    /// Big-endian, always [`ciphertext_bytes`](Self::ciphertext_bytes) long.
    pub fn write(&self, ciphertext: &Ciphertext) -> Vec<u8> {
        to_bytes(&self.number(ciphertext), self.ciphertext_bytes())
    }

    /// The number below n², least significant word first.
    pub fn number(&self, ciphertext: &Ciphertext) -> Vec<u64> {
        self.squared.leave(&ciphertext.value)
    }

    /// From [`write`](Self::write)'s bytes. Zero, n² and above, and what shares a factor with n are refused.
    pub fn read(&self, bytes: &[u8]) -> Result<Ciphertext, PartialError> {
        let expected = self.ciphertext_bytes();
        if bytes.len() != expected {
            return Err(PartialError::Length { found: bytes.len(), expected });
        }
        let value = from_bytes(bytes);
        if !bool::from(value.is_nonzero()) || value.cmp_vartime(&self.n_squared).is_ge() {
            return Err(PartialError::OutOfRange);
        }
        let rest = value.rem_vartime(&self.n);
        if !bool::from(rest.gcd_vartime(&self.n).is_one()) {
            return Err(PartialError::NoInverse);
        }
        Ok(Ciphertext { value: self.squared.enter(&words(&value)), key: self.id() })
    }

    /// The inverse modulo n².
    pub(super) fn inverse(&self, ciphertext: &Ciphertext) -> Result<Residue, PartialError> {
        let modulus = self.n_squared.as_odd_vartime().ok_or(PartialError::Modulus)?;
        let number = from_words(&self.number(ciphertext));
        let inverse: Option<_> = number.invert_odd_mod_vartime(modulus).into();
        Ok(self.squared.enter(&words(&inverse.ok_or(PartialError::NoInverse)?)))
    }
}
