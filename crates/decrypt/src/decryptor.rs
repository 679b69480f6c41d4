//! Decryption.

use core::ops::Range;

use sotto_keys::SecretKey;
use sotto_ring::{Eval, Poly};
use sotto_rlwe::{
    Ciphertext, EncodeError, EvalError, Injection, KeyId, Params, Plaintext, Scheme, Selection, Shape,
};
use zeroize::Zeroizing;

use crate::decrypted::Decrypted;

/// The reason why a ciphertext is not decrypted.
///
/// ```
/// use sotto_decrypt::{DecryptError, Decryptor};
/// use sotto_keys::{DeviceSecret, SecretKey};
/// use sotto_rlwe::{Bfv, Params, Scheme};
///
/// let params = Params::<Bfv>::default_chain(4096, 65537)?;
/// let mut rng = sotto_ring::secure_rng()?;
/// let [boiler, pump] = [[1; 32], [2; 32]]
///     .map(|secret| SecretKey::derive(&DeviceSecret::from_bytes(&secret), &params));
/// let plaintext = Bfv::encode_slots(&params, &[71], params.top_level())?;
/// let of_boiler = boiler.encrypt(&plaintext, &mut rng)?.expand();
/// let refused = Decryptor::new(&pump).slots(&of_boiler).err();
/// assert_eq!(refused, Some(DecryptError::Key { expected: pump.id(), found: boiler.id() }));
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum DecryptError {
    /// The ciphertext is under another key.
    #[error("the ciphertext is under key {found}, this is key {expected}")]
    Key {
        /// The key here.
        expected: KeyId,
        /// The ciphertext's key.
        found: KeyId,
    },
    /// The ciphertext has other parameters than the key.
    #[error("the ciphertext has other parameters than the key")]
    Parameters,
    /// The noise bound exceeds the limit, so the answer might be wrong.
    #[error("the noise bound exceeds the decryption limit by {over:.1} bits: the answer might be wrong")]
    Noise {
        /// Bits by which the bound exceeds the limit.
        over: f64,
    },
    /// CKKS: the scaled message does not fit into 62 bits.
    #[error("the scaled message may take {bits:.0} bits, more than 62: rescale before decrypting")]
    TooLarge {
        /// Bits that the message may have.
        bits: f64,
    },
    /// The values cannot be decoded.
    #[error(transparent)]
    Decode(#[from] EncodeError),
    /// The parameters do not have these places.
    #[error(transparent)]
    Places(#[from] EvalError),
}

/// Decrypts with one secret key.
///
/// ```
/// use sotto_decrypt::Decryptor;
/// use sotto_keys::{DeviceSecret, SecretKey};
/// use sotto_rlwe::{Bgv, Params, Scheme};
///
/// let params = Params::<Bgv>::default_chain(4096, 65537)?;
/// let mut rng = sotto_ring::secure_rng()?;
/// let key = SecretKey::derive(&DeviceSecret::generate(&mut rng), &params);
/// let litres = Bgv::encode_slots(&params, &[12, 0, 7], params.top_level())?;
/// let ciphertext = key.encrypt(&litres, &mut rng)?.expand();
/// let decrypted = Decryptor::new(&key).slots(&ciphertext)?;
/// assert_eq!(decrypted.into_exact(100.0)?[..3], [12, 0, 7]);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
pub struct Decryptor<'k, S: Scheme> {
    key: &'k SecretKey<S>,
}

impl<'k, S: Scheme> Decryptor<'k, S> {
    /// Borrows the key, and computes nothing yet.
    pub fn new(key: &'k SecretKey<S>) -> Self {
        Self { key }
    }

    fn params(&self) -> &Params<S> {
        self.key.params()
    }

    /// Decrypts. The result is right with failure probability at most 2^-128, given the ciphertext's noise
    /// bound.
    ///
    /// The bound is trusted. A ciphertext that came as bytes is a `sotto_wire::Arrived`, whose bound is only
    /// the sender's claim; its `expect` returns the [`Ciphertext`] with the plan's bound.
    ///
    /// # Errors
    /// [`DecryptError::Parameters`], [`DecryptError::Key`], [`DecryptError::Noise`] or
    /// [`DecryptError::TooLarge`].
    pub fn decrypt(&self, ciphertext: &Ciphertext<S>) -> Result<Plaintext<S>, DecryptError> {
        self.decrypt_selected(ciphertext, Selection::ALL)
    }

    /// Decrypts the coefficients of a selection; the plaintext's other coefficients are zero. For a
    /// [`Reduced`](sotto_rlwe::Reduced) ciphertext that was lifted: its bounds hold only at the coefficients
    /// of its selection.
    ///
    /// # Errors
    /// [`DecryptError`], as for [`Decryptor::decrypt`].
    pub fn decrypt_selected(
        &self,
        ciphertext: &Ciphertext<S>,
        selection: Selection,
    ) -> Result<Plaintext<S>, DecryptError> {
        if ciphertext.params() != self.params() {
            return Err(DecryptError::Parameters);
        }
        if ciphertext.key() != self.key.id() {
            return Err(DecryptError::Key { expected: self.key.id(), found: ciphertext.key() });
        }
        let shape = ciphertext.shape();
        let room = shape.room(self.params());
        if room.is_nan() || room < 0.0 {
            return Err(DecryptError::Noise { over: -room });
        }
        if !S::EXACT {
            let bits = (shape.noise.message + shape.noise.error).0;
            if bits > 62.0 {
                return Err(DecryptError::TooLarge { bits });
            }
        }
        let level = S::recovered_level(self.params(), shape.level, shape.noise);
        let mut phase = self.phase_on(ciphertext, self.params().limbs(level));
        if selection != Selection::ALL {
            phase = self.selected(phase, selection);
        }
        Ok(S::recover(self.params(), &phase, shape.level, shape.scaling))
    }

    /// Keeps the coefficients of a selection; the others become zero. Secret.
    fn selected(&self, mut phase: Zeroizing<Poly<Eval>>, selection: Selection) -> Zeroizing<Poly<Eval>> {
        let (ring, degree) = (self.params().ring(), self.params().degree());
        let empty = Poly::zero(ring, phase.limbs().start..phase.limbs().start);
        let all = Zeroizing::new(core::mem::replace(&mut *phase, empty).into_coeff());
        let mut read = Poly::zero(ring, all.limbs());
        for limb in all.limbs() {
            for at in selection.exponents(degree) {
                read.limb_mut(limb)[at] = all.limb(limb)[at];
            }
        }
        Zeroizing::new(read.into_eval())
    }

    /// Computes the phase c0 + c1·s + c2·s². Secret.
    pub(crate) fn phase(&self, ciphertext: &Ciphertext<S>) -> Zeroizing<Poly<Eval>> {
        self.phase_on(ciphertext, self.params().limbs(ciphertext.level()))
    }

    /// Computes the phase on these limbs only. Secret.
    fn phase_on(&self, ciphertext: &Ciphertext<S>, limbs: Range<usize>) -> Zeroizing<Poly<Eval>> {
        let secret = self.key.expose_secret_eval();
        let mut phase = Zeroizing::new(Poly::unfilled(self.params().ring(), limbs));
        match ciphertext.components() {
            [c0, c1] => phase.set_product_sum(c1, secret, c0),
            [c0, c1, c2] => {
                phase.set_product_sum(c2, secret, c1);
                phase.multiply_assign(secret);
                phase.add_assign(c0);
            }
            _ => unreachable!("a ciphertext has two or three components"),
        }
        phase
    }

    /// Decodes the slots of a decrypted ciphertext of this shape.
    ///
    /// # Errors
    /// [`DecryptError::Decode`] if the parameters have no slots.
    pub fn decode_slots(
        &self,
        plaintext: &Plaintext<S>,
        shape: &Shape<S>,
    ) -> Result<Decrypted<Vec<S::Value>>, DecryptError> {
        let values = S::decode_slots(self.params(), plaintext)?;
        Ok(Decrypted::new(
            values,
            shape.slot_error(self.params()),
            self.params().plain_modulus(),
            self.key.id(),
        ))
    }

    /// Decodes messages that powers of X put beside each other in a ciphertext of this shape. Returns the
    /// `count` repeated values of each of the first `parts` messages, one message after another. See
    /// [`Plaintext::part`].
    ///
    /// # Errors
    /// [`DecryptError`] if the parameters have no place for `count` values and `parts` messages.
    pub fn decode_parts(
        &self,
        plaintext: &Plaintext<S>,
        shape: &Shape<S>,
        count: usize,
        parts: usize,
    ) -> Result<Decrypted<Vec<S::Value>>, DecryptError> {
        let mut values = Vec::with_capacity(parts * count);
        for part in 0..parts {
            let part = plaintext.part(count, part)?;
            values.extend(self.params().decode_repeated(&part, count)?);
        }
        let (error, plain) = (shape.slot_error(self.params()), self.params().plain_modulus());
        Ok(Decrypted::new(values, error, plain, self.key.id()))
    }

    /// Decodes the single value of a decrypted ciphertext of this shape.
    pub fn decode_scalar(&self, plaintext: &Plaintext<S>, shape: &Shape<S>) -> Decrypted<S::Value> {
        let value = S::decode_scalar(self.params(), plaintext);
        Decrypted::new(value, shape.slot_error(self.params()), self.params().plain_modulus(), self.key.id())
    }

    /// Decrypts and decodes slots.
    ///
    /// # Errors
    /// [`DecryptError`], as for [`Decryptor::decrypt`] and [`Decryptor::decode_slots`].
    pub fn slots(&self, ciphertext: &Ciphertext<S>) -> Result<Decrypted<Vec<S::Value>>, DecryptError> {
        self.decode_slots(&self.decrypt(ciphertext)?, ciphertext.shape())
    }

    /// Decrypts and decodes a single value.
    ///
    /// # Errors
    /// [`DecryptError`], as for [`Decryptor::decrypt`].
    pub fn scalar(&self, ciphertext: &Ciphertext<S>) -> Result<Decrypted<S::Value>, DecryptError> {
        Ok(self.decode_scalar(&self.decrypt(ciphertext)?, ciphertext.shape()))
    }

    /// Returns the phase of a ciphertext, and its message injected anew without noise. Their difference is
    /// the noise, see [`crate::Decryptor::measure_error_bits`].
    pub(crate) fn plaintext_phase(
        &self,
        ciphertext: &Ciphertext<S>,
    ) -> (Zeroizing<Poly<Eval>>, Zeroizing<Poly<Eval>>) {
        let phase = self.phase(ciphertext);
        let shape = ciphertext.shape();
        let plaintext = S::recover(self.params(), &phase, shape.level, shape.scaling);
        let message = Injection::of_message(self.params(), &plaintext, shape.level, shape.scaling);
        (phase, Zeroizing::new(message.polynomial(self.params(), shape.level).into_eval()))
    }
}
