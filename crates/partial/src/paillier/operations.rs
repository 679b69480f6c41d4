//! Encryption, and what can be done to ciphertexts.

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
    /// Encrypts.
    pub fn encrypt(
        &self,
        plaintext: &Plaintext,
        rng: &mut impl CryptoRng,
    ) -> Result<Ciphertext, PartialError> {
        self.encrypt_with(plaintext, self.mask(rng))
    }

    /// Encrypts with a mask made before.
    pub fn encrypt_with(&self, plaintext: &Plaintext, mask: Mask) -> Result<Ciphertext, PartialError> {
        let Mask { power, key } = mask;
        self.expect(key)?;
        let mut value = self.bare(plaintext)?;
        self.squared.multiply_assign(&mut value, &power);
        Ok(Ciphertext { value, key: self.id() })
    }

    /// E(a + b).
    pub fn add(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, PartialError> {
        self.expect(a.key)?;
        self.expect(b.key)?;
        Ok(self.ciphertext(self.squared.multiply(&a.value, &b.value)))
    }

    /// a becomes E(a + b).
    pub fn add_assign(&self, a: &mut Ciphertext, b: &Ciphertext) -> Result<(), PartialError> {
        *a = self.add(a, b)?;
        Ok(())
    }

    /// E(a + m). The mask stays: whoever knows a's ciphertext sees m.
    pub fn add_plain(&self, a: &Ciphertext, plaintext: &Plaintext) -> Result<Ciphertext, PartialError> {
        self.expect(a.key)?;
        Ok(self.ciphertext(self.squared.multiply(&a.value, &self.bare(plaintext)?)))
    }

    /// E(−a).
    pub fn negate(&self, a: &Ciphertext) -> Result<Ciphertext, PartialError> {
        self.expect(a.key)?;
        Ok(self.ciphertext(self.inverse(a)?))
    }

    /// E(a − b).
    pub fn subtract(&self, a: &Ciphertext, b: &Ciphertext) -> Result<Ciphertext, PartialError> {
        self.add(a, &self.negate(b)?)
    }

    /// E(a·k). Takes a time that shows the length and the sign of k, which is public.
    pub fn multiply_plain(&self, a: &Ciphertext, k: i128) -> Result<Ciphertext, PartialError> {
        self.expect(a.key)?;
        let size = k.unsigned_abs();
        let base = if k < 0 { self.inverse(a)? } else { a.value.clone() };
        let bits = u128::BITS - size.leading_zeros();
        Ok(self.ciphertext(self.squared.power(&base, &[size as u64, (size >> 64) as u64], bits)))
    }

    /// E(a·k) for a number below n, in a time that shows its length only.
    pub fn multiply_plaintext(&self, a: &Ciphertext, k: &Plaintext) -> Result<Ciphertext, PartialError> {
        self.multiply_plaintext_of(a, k, self.bits())
    }

    /// The same for a number of which the lowest `bits` bits count, in a time that shows that many and no more of it.
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

    /// The same message under a fresh mask: nobody without the key can tell that they belong together.
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

    /// 1 + m·n: an encryption without a mask.
    fn bare(&self, plaintext: &Plaintext) -> Result<Residue, PartialError> {
        self.expect_fitting(&plaintext.0)?;
        let product = Zeroizing::new(plaintext.value().concatenating_mul(&*self.n));
        let shifted = Zeroizing::new(product.wrapping_add(BoxedUint::one()));
        Ok(self.squared.enter(&words_of(&shifted, self.squared.words())))
    }
}
