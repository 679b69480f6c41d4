//! Fractions as pairs of numbers, in the clear and encrypted.

use crate::elgamal;
use crate::error::PartialError;
use crate::paillier;

/// A fraction numerator/denominator in the clear.
///
/// ```
/// use sotto_partial::encoding::{Format, Fraction};
///
/// let mean = Fraction { numerator: 215, denominator: 3 }; // a sum over a count
/// assert_eq!(Format::new(16, 10)?.round(&mean)?, 717); // tenths: 71.7
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    /// The signed numerator.
    pub numerator: i128,
    /// The denominator: negative for a quotient by a negative number, zero after a division by zero.
    pub denominator: i128,
}

/// A Paillier ciphertext over a public denominator, which reveals the resolution but no value. The numerator
/// is exact while it is below 2^127 in size, for every key. Use equal denominators: different ones are
/// multiplied.
///
/// ```
/// use sotto_partial::encoding::{Fraction, Scaled};
/// # use rand_core::SeedableRng;
/// # use sotto_partial::paillier::{PublicKey, Randomness};
/// # let n = sotto_partial::elgamal::Group::new(sotto_partial::elgamal::GroupName::Ffdhe2048)?.prime().clone();
/// # let key = PublicKey::new(&n, Randomness::Textbook)?;
/// # let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
///
/// // Under `key`, a Paillier public key: 21.5 and 0.25 in hundredths.
/// let mut encrypted = |k| key.encrypt(&key.signed(k), &mut rng);
/// let inside = Scaled { numerator: encrypted(2150)?, denominator: 100 };
/// let correction = Scaled { numerator: encrypted(25)?, denominator: 100 };
/// let corrected = inside.add(&correction, &key)?;
/// assert_eq!(corrected.denominator, 100);
/// assert_eq!(corrected.fraction(2175), Fraction { numerator: 2175, denominator: 100 });
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
#[derive(Clone)]
pub struct Scaled {
    /// E(numerator).
    pub numerator: paillier::Ciphertext,
    /// The public denominator, at least one.
    pub denominator: u64,
}

/// Two ElGamal ciphertexts, each in a [`super::Complement`]: numerator and denominator of products and
/// quotients.
///
/// ```
/// use sotto_partial::encoding::{Complement, Ratio};
/// # use std::sync::Arc;
/// # use rand_core::SeedableRng;
/// # use sotto_partial::elgamal::{Group, GroupName, PublicKey};
/// # let group = Arc::new(Group::new(GroupName::Ffdhe2048)?);
/// # let key = PublicKey::from_member(&group, group.power_of_generator(&[7; 4]));
/// # let mut rng = chacha20::ChaCha20Rng::from_seed([7; 32]);
///
/// // Under `key`, an ElGamal public key.
/// let code = Complement::new(32, 2, 2047)?;
/// let mut encrypted = |number| key.encrypt(&*code.encode(number)?, &mut rng);
/// let litres = Ratio { numerator: encrypted(600)?, denominator: encrypted(1)? };
/// let minutes = Ratio { numerator: encrypted(-5)?, denominator: encrypted(1)? };
/// let rate = litres.divide(&minutes, &key)?; // 600·1 over 1·(−5)
/// assert_eq!(rate.numerator.key(), key.id());
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
#[derive(Clone)]
pub struct Ratio {
    /// E(numerator).
    pub numerator: elgamal::Ciphertext,
    /// E(denominator).
    pub denominator: elgamal::Ciphertext,
}

impl Scaled {
    /// Computes a + b over the least common denominator.
    ///
    /// # Errors
    /// [`PartialError::Overflow`] if that exceeds 64 bits, [`PartialError::OtherKey`] for another key.
    pub fn add(&self, other: &Self, key: &paillier::PublicKey) -> Result<Self, PartialError> {
        let (a, b, denominator) = align(self.denominator, other.denominator)?;
        let numerator = key.add(&enlarge(key, &self.numerator, a)?, &enlarge(key, &other.numerator, b)?)?;
        Ok(Self { numerator, denominator })
    }

    /// Computes a − b.
    ///
    /// # Errors
    /// Those of [`add`](Self::add).
    pub fn subtract(&self, other: &Self, key: &paillier::PublicKey) -> Result<Self, PartialError> {
        let minus = Self { numerator: key.negate(&other.numerator)?, denominator: other.denominator };
        self.add(&minus, key)
    }

    /// Computes a·b for a public fraction whose denominator is positive.
    ///
    /// # Errors
    /// [`PartialError::Overflow`] if a denominator is not positive or exceeds 64 bits,
    /// [`PartialError::OtherKey`] for another key.
    pub fn multiply_plain(&self, by: &Fraction, key: &paillier::PublicKey) -> Result<Self, PartialError> {
        let overflow = PartialError::Overflow { bits: 64 };
        let divisor = u64::try_from(by.denominator).ok().filter(|d| *d > 0).ok_or(overflow)?;
        let denominator = self.denominator.checked_mul(divisor).ok_or(overflow)?;
        Ok(Self { numerator: key.multiply_plain(&self.numerator, by.numerator)?, denominator })
    }

    /// Returns the fraction with a decrypted numerator.
    pub fn fraction(&self, numerator: i128) -> Fraction {
        Fraction { numerator, denominator: i128::from(self.denominator) }
    }
}

impl Ratio {
    /// Computes a·b.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if a ciphertext is under another key.
    pub fn multiply(&self, other: &Self, key: &elgamal::PublicKey) -> Result<Self, PartialError> {
        Ok(Self {
            numerator: key.multiply(&self.numerator, &other.numerator)?,
            denominator: key.multiply(&self.denominator, &other.denominator)?,
        })
    }

    /// Computes a/b by multiplying crosswise, without a division.
    ///
    /// # Errors
    /// [`PartialError::OtherKey`] if a ciphertext is under another key.
    pub fn divide(&self, other: &Self, key: &elgamal::PublicKey) -> Result<Self, PartialError> {
        let inverse = Self { numerator: other.denominator.clone(), denominator: other.numerator.clone() };
        self.multiply(&inverse, key)
    }
}

fn enlarge(
    key: &paillier::PublicKey,
    ciphertext: &paillier::Ciphertext,
    by: u64,
) -> Result<paillier::Ciphertext, PartialError> {
    if by == 1 { Ok(ciphertext.clone()) } else { key.multiply_plain(ciphertext, i128::from(by)) }
}

/// Returns the factor for each side, and the least common denominator.
fn align(a: u64, b: u64) -> Result<(u64, u64, u64), PartialError> {
    let (mut x, mut y) = (a, b);
    while y != 0 {
        (x, y) = (y, x % y);
    }
    let overflow = PartialError::Overflow { bits: 64 };
    let shared = x.max(1);
    let common = (a / shared).checked_mul(b).filter(|common| *common > 0).ok_or(overflow)?;
    Ok((b / shared, a / shared, common))
}
