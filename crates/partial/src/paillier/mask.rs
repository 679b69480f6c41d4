//! Masks: random n-th powers, each used once.

use crypto_bigint::{BoxedUint, RandomBits};
use rand_core::CryptoRng;
use sotto_kernels::Residue;
use zeroize::Zeroizing;

use super::key::{Masks, PublicKey};
use crate::error::PartialError;
use crate::key_id::KeyId;
use crate::number::words;

/// A random n-th power. Using one takes it, so that none serves twice; wiped on drop.
pub struct Mask {
    pub(super) power: Residue,
    pub(super) key: KeyId,
}

impl PublicKey {
    /// A new mask: nearly all of an encryption's time, and nothing of it depends on the message.
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

    /// A new mask that is uniform among all n-th powers to 2^-128, whatever the key's own masks are: r^n, the textbook's. What is
    /// masked so shows nothing of the masks that it had before, not even to whoever knows the factors of n.
    pub fn uniform_mask(&self, rng: &mut impl CryptoRng) -> Mask {
        // 128 bits more than n, so that the remainder is uniform.
        let wide = Zeroizing::new(BoxedUint::random_bits(rng, self.bits() + 128));
        let r = Zeroizing::new(wide.rem(&self.n));
        let power = self.squared.power(&self.squared.enter(&words(&r)), &self.n_words, self.bits());
        Mask { power, key: self.id() }
    }
}

impl PublicKey {
    /// r^n for a given r, for known answers. Whoever knows r reads the message.
    pub fn insecure_mask(&self, r: &BoxedUint) -> Mask {
        let power = self.squared.power(&self.squared.enter(&words(r)), &self.n_words, self.bits());
        Mask { power, key: self.id() }
    }
}

/// Masks made while a device idles: an encryption with one costs three multiplications.
#[derive(Default)]
pub struct Reserve {
    masks: Vec<Mask>,
}

impl Reserve {
    /// Makes masks until there are `count`.
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

    /// One of them, never again.
    pub fn take(&mut self) -> Option<Mask> {
        self.masks.pop()
    }

    /// How many are left.
    pub fn len(&self) -> usize {
        self.masks.len()
    }

    /// Whether none is left.
    pub fn is_empty(&self) -> bool {
        self.masks.is_empty()
    }
}
