//! The public key and its plaintexts.

use alloc::vec::Vec;

use crypto_bigint::{
    BoxedUint, ConcatenatingMul, ConcatenatingSquare, CtGt, CtLt, CtSelect, Gcd, NonZero, Resize,
};
use sotto_kernels::{Comb, Montgomery, Residue, Target};
use zeroize::Zeroizing;

use crate::error::PartialError;
use crate::key_id::KeyId;
use crate::number::{from_words, words};

/// How a key's masks are drawn.
///
/// Example: [`PublicKey`]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Randomness {
    /// r^n for r uniform below n: Paillier's original, and the only choice for a foreign key, of which only n
    /// is known.
    Textbook,
    /// (h^n)^a for a of |n|/2 bits, h = −x² for a random x, p ≡ q ≡ 3 modulo 4 (Damgård, Jurik and Nielsen,
    /// *A generalization of Paillier's public-key system with applications to electronic voting*, IJIS 2010,
    /// section 4.2).
    HalfLength {
        /// The base, below n.
        h: BoxedUint,
    },
    /// (h^n)^a for a of 448 bits (n of 2048) or 512 (3072), h a generator of a subgroup whose order has so
    /// many bits, for which the key was generated (Ma, Han and Lei, *Optimized Paillier's Cryptosystem with
    /// Fast Encryption and Decryption*, ACSAC 2021).
    Subgroup {
        /// The base, below n.
        h: BoxedUint,
    },
}

/// Returns the security in bits of n's length (NIST SP 800-57 part 1, table 2; 4096 counts as 3072). Returns
/// None if the length is not offered.
pub fn security_bits(bits: u32) -> Option<u32> {
    match bits {
        2048 => Some(112),
        3072 | 4096 => Some(128),
        _ => None,
    }
}

/// Returns the bits of a subgroup key's order for n's length. Returns None if there is none.
pub fn subgroup_bits(bits: u32) -> Option<u32> {
    match bits {
        2048 => Some(448),
        3072 => Some(512),
        // Short keys, for tests: no security.
        0..=1024 => Some(bits / 4),
        _ => None,
    }
}

/// Minimum bits of n, also in tests.
const SHORTEST: u32 = 8;

/// A public key with its tables: some hundreds of kilobytes.
///
/// ```
/// use sotto_partial::paillier::{Ciphertext, PublicKey, Randomness};
/// # use rand_core::SeedableRng;
/// # let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
/// # let n = sotto_partial::elgamal::Group::new(sotto_partial::elgamal::GroupName::Ffdhe2048)?.prime().clone();
///
/// let key = PublicKey::new(&n, Randomness::Textbook)?; // n comes from the owner, 2,048 bits
/// let watts: Ciphertext = key.encrypt(&key.signed(-300), &mut rng)?;
/// let received = key.read(&key.write(&watts))?;
/// let doubled = key.multiply_plain(&received, 2)?;
/// assert_eq!(key.number(&doubled), key.number(&key.add(&watts, &watts)?));
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
pub struct PublicKey {
    pub(super) n: NonZero<BoxedUint>,
    pub(super) n_words: Zeroizing<Vec<u64>>,
    pub(super) n_squared: BoxedUint,
    pub(super) squared: Montgomery,
    pub(super) masks: Masks,
    bits: u32,
    id: KeyId,
    randomness: Randomness,
}

/// The base of the masks.
pub(super) enum Masks {
    Textbook,
    /// h^n, its table unless the key does without, and the bits of the exponent.
    Fixed {
        base: Residue,
        table: Option<Comb>,
        bits: u32,
    },
}

/// A number modulo n: the content of a ciphertext. Wiped on drop.
///
/// ```
/// # use sotto_partial::paillier::{PublicKey, Randomness};
/// # let n = sotto_partial::elgamal::Group::new(sotto_partial::elgamal::GroupName::Ffdhe2048)?.prime().clone();
/// # let key = PublicKey::new(&n, Randomness::Textbook)?;
/// use sotto_partial::number::from_words;
///
/// let frost = key.signed(-7); // `key` is a Paillier public key
/// assert_eq!(frost.to_signed(&key), Some(-7));
/// assert_eq!(frost.value(), &key.modulus().wrapping_sub(from_words(&[7])));
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
pub struct Plaintext(pub(crate) Zeroizing<BoxedUint>);

impl PublicKey {
    /// Makes a key of 2048, 3072 or 4096 bits.
    ///
    /// The order of h cannot be checked without the primes, so h must come from the readings' owner.
    ///
    /// # Errors
    /// [`PartialError::KeyLength`]; [`PartialError::Modulus`] for an even n; for h:
    /// [`PartialError::OutOfRange`] if it is not below n, [`PartialError::NoInverse`] if it shares a factor
    /// with n, [`PartialError::Masks`] if the square of h^n is one.
    pub fn new(n: &BoxedUint, randomness: Randomness) -> Result<Self, PartialError> {
        let bits = n.bits();
        security_bits(bits).ok_or(PartialError::KeyLength { bits })?;
        Self::insecure_any_length(Target::best(), n, randomness)
    }

    /// Returns the name of the key with this n, given big-endian in whole words.
    pub fn id_of(n: &[u8]) -> KeyId {
        KeyId::of("sotto paillier key v1", &[n])
    }

    /// Makes a key of any length on a given kernel target: for tests.
    ///
    /// # Errors
    /// Those of [`new`](Self::new); [`PartialError::KeyLength`] only below 8 bits.
    pub fn insecure_any_length(
        target: &Target,
        n: &BoxedUint,
        randomness: Randomness,
    ) -> Result<Self, PartialError> {
        let bits = n.bits();
        if bits < SHORTEST {
            return Err(PartialError::KeyLength { bits });
        }
        let n = n.resize_unchecked(bits.next_multiple_of(64));
        let n_words = words(&n);
        let n_squared = n.concatenating_square();
        let squared = Montgomery::on(target, &words(&n_squared)).map_err(|_| PartialError::Modulus)?;
        let n = Option::<NonZero<BoxedUint>>::from(n.into_nz()).ok_or(PartialError::Modulus)?;
        let id = Self::id_of(&n.to_be_bytes());
        let (h, exponent_bits) = match &randomness {
            Randomness::Textbook => (None, 0),
            Randomness::HalfLength { h } => (Some(h), bits.div_ceil(2)),
            Randomness::Subgroup { h } => {
                (Some(h), subgroup_bits(bits).ok_or(PartialError::Subgroup { bits })?)
            }
        };
        let masks = match h {
            None => Masks::Textbook,
            Some(h) => {
                if !bool::from(h.is_nonzero()) || h.cmp_vartime(&*n).is_ge() {
                    return Err(PartialError::OutOfRange);
                }
                if !bool::from(h.gcd_vartime(&n).is_one()) {
                    return Err(PartialError::NoInverse);
                }
                let base = squared.power(&squared.enter(&words(h)), &n_words, bits);
                // h = ±1, or a root of one, which would reveal n's factors.
                if squared.leave(&squared.multiply(&base, &base)) == squared.leave(&squared.one()) {
                    return Err(PartialError::Masks);
                }
                let table = Some(Comb::new(&squared, &base, exponent_bits));
                Masks::Fixed { base, table, bits: exponent_bits }
            }
        };
        Ok(Self { n, n_words, n_squared, squared, masks, bits, id, randomness })
    }

    /// Drops the table: less memory, slower encryption.
    #[must_use]
    pub fn without_table(mut self) -> Self {
        if let Masks::Fixed { table, .. } = &mut self.masks {
            *table = None;
        }
        self
    }

    /// Returns n.
    pub fn modulus(&self) -> &BoxedUint {
        &self.n
    }

    /// Returns the bits of n.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the key's name: a hash of n.
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Returns how masks are drawn.
    pub fn randomness(&self) -> &Randomness {
        &self.randomness
    }

    /// Returns the bytes of a ciphertext: twice those of n.
    pub fn ciphertext_bytes(&self) -> usize {
        2 * self.bits.div_ceil(8) as usize
    }

    /// Makes a plaintext of a number below n.
    ///
    /// # Errors
    /// [`PartialError::Message`] if it is not below n.
    pub fn plaintext(&self, value: BoxedUint) -> Result<Plaintext, PartialError> {
        let value = Zeroizing::new(value);
        self.expect_fitting(&value)?;
        Ok(Plaintext(value))
    }

    /// Checks that a number is below n. Timing shows only the result.
    pub(super) fn expect_fitting(&self, value: &BoxedUint) -> Result<(), PartialError> {
        let fits = bool::from(value.ct_lt(&self.n));
        if fits { Ok(()) } else { Err(PartialError::Message { bits: self.bits - 1 }) }
    }

    /// Makes a plaintext of a signed number v: v or n + v, reduced modulo n (which matters only for the short
    /// keys of tests).
    pub fn signed(&self, value: i128) -> Plaintext {
        let size = Zeroizing::new(from_words(&split(value.unsigned_abs())));
        let size = Zeroizing::new(size.rem(&self.n).resize_unchecked(self.n.bits_precision()));
        let negative = Zeroizing::new(self.n.wrapping_sub(&*size));
        let mut out = size.to_words();
        // All ones for negative values.
        let mask = core::hint::black_box((value >> 127) as u64);
        for (out, other) in out.iter_mut().zip(negative.as_words()) {
            *out ^= (*out ^ other) & mask as crypto_bigint::Word;
        }
        Plaintext(Zeroizing::new(BoxedUint::from_words(out)))
    }
}

impl Plaintext {
    /// Returns the number from 0 to n − 1.
    pub fn value(&self) -> &BoxedUint {
        &self.0
    }

    /// Returns the number from −n/2 to n/2. Returns None if it does not fit 128 bits.
    pub fn to_signed(&self, key: &PublicKey) -> Option<i128> {
        let half = key.n.shr_vartime(1)?;
        let value = Zeroizing::new(self.value().try_resize(key.n.bits_precision())?);
        let negative = value.ct_gt(&half);
        let other = Zeroizing::new(key.n.wrapping_sub(&*value));
        let size = Zeroizing::new(words(&Zeroizing::new(value.ct_select(&other, negative))).to_vec());
        // Timing reveals only the result of this check.
        if size.iter().skip(2).fold(0, |any, word| any | word) != 0 {
            return None;
        }
        let size = u128::from(size[0]) | u128::from(size.get(1).copied().unwrap_or(0)) << 64;
        let sign = u128::from(u8::from(bool::from(negative)));
        let signed = (size ^ sign.wrapping_neg()).wrapping_add(sign) as i128;
        // Zero is below half, so −0 does not occur.
        ((signed < 0) == (sign == 1)).then_some(signed)
    }

    /// Returns the number from −n/2 to n/2 modulo 2^64, centred, like a register of that size. Constant time.
    pub fn to_signed_wrapping(&self, key: &PublicKey) -> i64 {
        let half = key.n.shr_vartime(1).unwrap_or_else(BoxedUint::zero);
        let negative = u64::from(u8::from(bool::from(self.0.ct_gt(&half))));
        let low = |number: &BoxedUint| words(number).first().copied().unwrap_or(0);
        low(&self.0).wrapping_sub(low(&key.n) & core::hint::black_box(negative).wrapping_neg()) as i64
    }

    /// Computes a·b modulo n.
    pub fn multiply(&self, other: &Self, key: &PublicKey) -> Self {
        let product = Zeroizing::new(self.0.concatenating_mul(&*other.0));
        let reduced = Zeroizing::new(product.rem(&key.n));
        Self(Zeroizing::new(Resize::resize_unchecked(&*reduced, key.n.bits_precision())))
    }
}

fn split(value: u128) -> [u64; 2] {
    [value as u64, (value >> 64) as u64]
}
