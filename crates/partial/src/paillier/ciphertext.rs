//! Ciphertexts and their bytes.

use alloc::vec::Vec;

use crypto_bigint::Gcd;
use sotto_kernels::Residue;

use super::key::PublicKey;
use crate::error::PartialError;
use crate::key_id::KeyId;
use crate::number::{from_bytes, from_words, to_bytes, words};

/// A unit modulo n², in Montgomery form, so that an addition is one multiplication.
///
/// Example: [`PublicKey`]
#[derive(Clone)]
pub struct Ciphertext {
    pub(super) value: Residue,
    pub(super) key: KeyId,
}

impl Ciphertext {
    /// Returns the name of the ciphertext's key.
    pub fn key(&self) -> KeyId {
        self.key
    }
}

impl PublicKey {
    /// Writes a ciphertext big-endian, always [`ciphertext_bytes`](Self::ciphertext_bytes) long.
    pub fn write(&self, ciphertext: &Ciphertext) -> Vec<u8> {
        to_bytes(&self.number(ciphertext), self.ciphertext_bytes())
    }

    /// Returns the ciphertext as a number below n², least significant word first.
    pub fn number(&self, ciphertext: &Ciphertext) -> Vec<u64> {
        self.squared.leave(&ciphertext.value)
    }

    /// Reads the bytes of [`write`](Self::write).
    ///
    /// # Errors
    /// [`PartialError::Length`], [`PartialError::OutOfRange`] for zero or a number not below n²,
    /// [`PartialError::NoInverse`] for a number that shares a factor with n.
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

    /// Computes the inverse modulo n².
    pub(super) fn inverse(&self, ciphertext: &Ciphertext) -> Result<Residue, PartialError> {
        let modulus = self.n_squared.as_odd_vartime().ok_or(PartialError::Modulus)?;
        let number = from_words(&self.number(ciphertext));
        let inverse: Option<_> = number.invert_odd_mod_vartime(modulus).into();
        Ok(self.squared.enter(&words(&inverse.ok_or(PartialError::NoInverse)?)))
    }
}
