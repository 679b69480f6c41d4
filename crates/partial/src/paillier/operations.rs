//! Encryption and operations on ciphertexts.

use crypto_bigint::{BoxedUint, ConcatenatingMul};
use rand_core::CryptoRng;
use sotto_kernels::Residue;
use zeroize::Zeroizing;

use super::ciphertext::Ciphertext;
use super::key::{Plaintext, PublicKey};
use super::mask::Mask;
use crate::error::PartialError;
use crate::key_id::KeyId;
use crate::number::words_of;

impl PublicKey {
    /// Encrypts with a new mask.
    ///
    /// # Errors
    /// [`PartialError::Message`] if the plaintext is not below n.
    pub fn encrypt(
        &self,
        plaintext: &Plaintext,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, PartialError> {
        self.encrypt_with(plaintext, self.mask(rng))
    }

    /// Encrypts with a mask drawn before.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] for another key's mask, [`PartialError::Message`] if the plaintext is not
    /// below n.
    pub fn encrypt_with(&self, plaintext: &Plaintext, mask: Mask) -> Result<Ciphertext, PartialError> {
        let Mask { power, key } = mask;
        self.expect(key)?;
        let mut value = self.bare(plaintext)?;
        self.squared.multiply_assign(&mut value, &power);
        Ok(Ciphertext { value, key: self.id() })
    }

    /// Computes E(a + b).
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if a ciphertext is under another key.
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, PartialError> {
        self.expect(a.key)?;
        self.expect(b.key)?;
        Ok(self.ciphertext(self.squared.multiply(&a.value, &b.value)))
    }

    /// Replaces a by E(a + b).
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if a ciphertext is under another key.
    pub fn add_assign(&self, a: &mut Ciphertext, b: &Ciphertext) -> Result<(), PartialError> {
        *a = self.add(a, b)?;
        Ok(())
    }

    /// Computes E(a + m). The mask does not change: anybody who has both ciphertexts can compute m.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] for another key, [`PartialError::Message`] if the plaintext is not below n.
    pub fn add_plain(&self, a: &Ciphertext, plaintext: &Plaintext) -> Result<Ciphertext, PartialError> {
        self.expect(a.key)?;
        Ok(self.ciphertext(self.squared.multiply(&a.value, &self.bare(plaintext)?)))
    }

    /// Computes E(−a).
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if the ciphertext is under another key.
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, PartialError> {
        self.expect(a.key)?;
        Ok(self.ciphertext(self.inverse(a)?))
    }

    /// Computes E(a − b).
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if a ciphertext is under another key.
    pub fn subtract(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, PartialError> {
        self.add(a, &self.negate(b)?)
    }

    /// Computes E(a·k) for a public k. Timing shows the length and the sign of k.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if the ciphertext is under another key.
    pub fn multiply_plain(&self, a: &Ciphertext, k: i128) -> Result<Ciphertext, PartialError> {
        self.expect(a.key)?;
        let size = k.unsigned_abs();
        let base = if k < 0 { self.inverse(a)? } else { a.value.clone() };
        let bits = u128::BITS - size.leading_zeros();
        Ok(self.ciphertext(self.squared.power(&base, &[size as u64, (size >> 64) as u64], bits)))
    }

    /// Computes E(a·k) for the lowest `bits` bits of a secret k. Timing shows only `bits`.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] for another key, [`PartialError::Message`] if k is not below n.
    pub fn multiply_plaintext_of(
        &self,
        a: &Ciphertext,
        k: &Plaintext,
        bits: u32,
    ) -> Result<Ciphertext, PartialError> {
        self.expect(a.key)?;
        self.expect_fitting(&k.0)?;
        let words = words_of(&k.0, self.n_words.len());
        Ok(self.ciphertext(self.squared.power(&a.value, &words, bits.min(self.bits()))))
    }

    /// Encrypts the same message under a further mask. Without the key, nobody can link the two ciphertexts.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if ciphertext or mask are under another key.
    pub fn rerandomise(&self, a: &Ciphertext, mask: Mask) -> Result<Ciphertext, PartialError> {
        let Mask { power, key } = mask;
        self.expect(a.key)?;
        self.expect(key)?;
        Ok(self.ciphertext(self.squared.multiply(&a.value, &power)))
    }

    fn ciphertext(&self, value: Residue) -> Ciphertext {
        Ciphertext { value, key: self.id() }
    }

    fn expect(&self, key: KeyId) -> Result<(), PartialError> {
        if key == self.id() { Ok(()) } else { Err(PartialError::OtherKey) }
    }

    /// Computes 1 + m·n: an encryption without a mask.
    fn bare(&self, plaintext: &Plaintext) -> Result<Residue, PartialError> {
        self.expect_fitting(&plaintext.0)?;
        let product = Zeroizing::new(plaintext.value().concatenating_mul(&*self.n));
        let shifted = Zeroizing::new(product.wrapping_add(BoxedUint::one()));
        Ok(self.squared.enter(&words_of(&shifted, self.squared.words())))
    }
}
