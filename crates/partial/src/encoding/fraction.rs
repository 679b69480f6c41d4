//! Numbers as pairs, in the clear and encrypted.

use crate::elgamal;
use crate::error::PartialError;
use crate::paillier;

/// numerator/denominator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fraction {
    /// Signed.
    pub numerator: i128,
    /// Signed, as a quotient by a negative number has it; zero after a division by zero.
    pub denominator: i128,
}

/// A Paillier ciphertext over a public denominator, which shows the resolution and no value. The numerator is exact while its size
/// stays below 2^127, whatever the key; keep the denominators alike, they multiply otherwise.
#[derive(Clone)]
pub struct Scaled {
    /// E(numerator).
    pub numerator: paillier::Ciphertext,
    /// Public, at least one.
    pub denominator: u64,
}

/// Two ElGamal ciphertexts, each in a [`super::Complement`]: products and quotients, numerators and denominators apart.
#[derive(Clone)]
pub struct Ratio {
    /// E(numerator).
    pub numerator: elgamal::Ciphertext,
    /// E(denominator).
    pub denominator: elgamal::Ciphertext,
}

impl Scaled {
    /// a + b, over the least common denominator.
    pub fn add(&self, other: &Self, key: &paillier::PublicKey) -> Result<Self, PartialError> {
        let (a, b, denominator) = align(self.denominator, other.denominator)?;
        let numerator = key.add(&enlarge(key, &self.numerator, a)?, &enlarge(key, &other.numerator, b)?)?;
        Ok(Self { numerator, denominator })
    }

    /// a − b.
    pub fn subtract(&self, other: &Self, key: &paillier::PublicKey) -> Result<Self, PartialError> {
        let minus = Self { numerator: key.negate(&other.numerator)?, denominator: other.denominator };
        self.add(&minus, key)
    }

    /// a·b for a public fraction with a positive denominator of 64 bits at most.
    pub fn multiply_plain(&self, by: &Fraction, key: &paillier::PublicKey) -> Result<Self, PartialError> {
        let overflow = PartialError::Overflow { bits: 64 };
        let divisor = u64::try_from(by.denominator).ok().filter(|d| *d > 0).ok_or(overflow)?;
        let denominator = self.denominator.checked_mul(divisor).ok_or(overflow)?;
        Ok(Self { numerator: key.multiply_plain(&self.numerator, by.numerator)?, denominator })
    }

    /// What a decrypted numerator means.
    pub fn fraction(&self, numerator: i128) -> Fraction {
        Fraction { numerator, denominator: i128::from(self.denominator) }
    }
}

impl Ratio {
    /// a·b.
    pub fn multiply(&self, other: &Self, key: &elgamal::PublicKey) -> Result<Self, PartialError> {
        Ok(Self {
            numerator: key.multiply(&self.numerator, &other.numerator)?,
            denominator: key.multiply(&self.denominator, &other.denominator)?,
        })
    }

    /// a/b, crosswise, so that nothing has to divide.
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

/// What each side is multiplied by, and the least common denominator.
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
