//! Decryption of other packings than one value a slot: coefficients, repeated values, complex numbers.

use sotto_rlwe::{Ciphertext, Scheme};

use crate::decrypted::Decrypted;
use crate::decryptor::{DecryptError, Decryptor};

impl<S: Scheme> Decryptor<'_, S> {
    /// Decrypts n coefficients. The error bound of a slot holds for each coefficient.
    ///
    /// # Errors
    /// [`DecryptError`], as for [`Decryptor::decrypt`].
    pub fn coefficients(&self, ciphertext: &Ciphertext<S>) -> Result<Decrypted<Vec<S::Value>>, DecryptError> {
        let plaintext = self.decrypt(ciphertext)?;
        let values = S::decode_coefficients(ciphertext.params(), &plaintext);
        Ok(self.decrypted(values, ciphertext))
    }

    /// Decrypts `count` values that are repeated to fill the slots (`count` is a power of two, at most n/2).
    ///
    /// # Errors
    /// [`DecryptError`], as for [`Decryptor::decrypt`]; [`DecryptError::Decode`] if `count` does not fit.
    pub fn repeated(
        &self,
        ciphertext: &Ciphertext<S>,
        count: usize,
    ) -> Result<Decrypted<Vec<S::Value>>, DecryptError> {
        let plaintext = self.decrypt(ciphertext)?;
        let values = ciphertext.params().decode_repeated(&plaintext, count)?;
        Ok(self.decrypted(values, ciphertext))
    }

    fn decrypted<T: zeroize::Zeroize>(&self, value: T, ciphertext: &Ciphertext<S>) -> Decrypted<T> {
        Decrypted::new(
            value,
            ciphertext.shape().slot_error(ciphertext.params()),
            ciphertext.params().plain_modulus(),
            ciphertext.key(),
        )
    }
}
