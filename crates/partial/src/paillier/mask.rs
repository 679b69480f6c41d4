//! Masks: random n-th powers, each used once.

use alloc::vec::Vec;

use crypto_bigint::{BoxedUint, RandomBits};
use rand_core::CryptoRng;
use sotto_kernels::Residue;
use zeroize::Zeroizing;

use super::key::{Masks, PublicKey};
use crate::error::PartialError;
use crate::key_id::KeyId;
use crate::number::words;

/// A random n-th power. Encryption consumes it, so that no mask is used twice; wiped on drop.
///
/// Example: [`Reserve`]
pub struct Mask {
    pub(super) power: Residue,
    pub(super) key: KeyId,
}

impl PublicKey {
    /// Draws a new mask. Takes nearly all of an encryption's time, and does not depend on the message.
    pub fn mask(&self, rng: &mut impl CryptoRng) -> Mask {
        let power = match &self.masks {
            Masks::Textbook => return self.uniform_mask(rng),
            Masks::Fixed { base, table, bits } => {
                let mut exponent = Zeroizing::new(vec![0u64; bits.div_ceil(64) as usize]);
                exponent.iter_mut().for_each(|word| *word = rng.next_u64());
                if let (Some(top), 1..) = (exponent.last_mut(), bits % 64) {
                    *top &= u64::MAX >> (64 - bits % 64);
                }
                match table {
                    Some(table) => table.power(&self.squared, &exponent),
                    None => self.squared.power(base, &exponent, *bits),
                }
            }
        };
        Mask { power, key: self.id() }
    }

    /// Draws a mask r^n (the textbook's) that is within 2^-128 of uniform among all n-th powers, whatever the
    /// key's own masks are. It hides all masks that a ciphertext had before, even from a holder of the
    /// factors of n.
    pub fn uniform_mask(&self, rng: &mut impl CryptoRng) -> Mask {
        // 128 bits more than n, so that the remainder is close to uniform.
        let wide = Zeroizing::new(BoxedUint::random_bits(rng, self.bits() + 128));
        let r = Zeroizing::new(wide.rem(&self.n));
        let power = self.squared.power(&self.squared.enter(&words(&r)), &self.n_words, self.bits());
        Mask { power, key: self.id() }
    }
}

impl PublicKey {
    /// Returns r^n for a given r, for known answers. Anybody who knows r can read the message.
    pub fn insecure_mask(&self, r: &BoxedUint) -> Mask {
        let power = self.squared.power(&self.squared.enter(&words(r)), &self.n_words, self.bits());
        Mask { power, key: self.id() }
    }
}

/// Masks drawn while a device idles. An encryption with one costs three multiplications.
///
/// ```
/// use sotto_partial::paillier::{Mask, Reserve};
/// # use rand_core::SeedableRng;
/// # use sotto_partial::paillier::{PublicKey, Randomness};
/// # let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
/// # let n = sotto_partial::elgamal::Group::new(sotto_partial::elgamal::GroupName::Ffdhe2048)?.prime().clone();
/// # let key = PublicKey::new(&n, Randomness::Textbook)?;
///
/// let mut reserve = Reserve::default();
/// reserve.fill(&key, 2, &mut rng)?; // while the device idles
/// if let Some(mask) = reserve.take() {
///     let mask: Mask = mask;
///     let reading = key.encrypt_with(&key.signed(71), mask)?; // fast
///     assert_eq!(reading.key(), key.id());
/// }
/// assert_eq!(reserve.len(), 1);
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
#[derive(Default)]
pub struct Reserve {
    masks: Vec<Mask>,
}

impl Reserve {
    /// Draws masks until there are `count`.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if the reserve holds masks of another key.
    pub fn fill(
        &mut self,
        key: &PublicKey,
        count: usize,
        rng: &mut impl CryptoRng,
    ) -> Result<(), PartialError> {
        if self.masks.iter().any(|mask| mask.key != key.id()) {
            return Err(PartialError::OtherKey);
        }
        while self.masks.len() < count {
            self.masks.push(key.mask(rng));
        }
        Ok(())
    }

    /// Removes and returns a mask.
    pub fn take(&mut self) -> Option<Mask> {
        self.masks.pop()
    }

    /// Returns the number of masks left.
    pub fn len(&self) -> usize {
        self.masks.len()
    }

    /// Returns true if no mask is left.
    pub fn is_empty(&self) -> bool {
        self.masks.is_empty()
    }
}
