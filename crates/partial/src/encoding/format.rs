//! What numbers are in the clear.

use super::fraction::Fraction;
use crate::error::PartialError;

/// Multiples k/denominator with k a signed number of `bits` bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    bits: u32,
    denominator: u64,
}

impl Format {
    /// Range: 2 to 64 bits, a denominator of at least one.
    pub fn new(bits: u32, denominator: u64) -> Result<Self, PartialError> {
        if (2..=64).contains(&bits) && denominator >= 1 {
            Ok(Self { bits, denominator })
        } else {
            Err(PartialError::Message { bits: 64 })
        }
    }

    /// Whole numbers.
    pub fn integers(bits: u32) -> Result<Self, PartialError> {
        Self::new(bits, 1)
    }

    /// Bits of k.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// The steps in one.
    pub fn denominator(&self) -> u64 {
        self.denominator
    }

    /// k/denominator as it is.
    pub fn fraction(&self, k: i64) -> Result<Fraction, PartialError> {
        let fraction = Fraction { numerator: i128::from(k), denominator: i128::from(self.denominator) };
        self.round(&fraction).map(|_| fraction)
    }

    /// The nearest number of the format. Not a number, and what does not fit, is an overflow; what is not zero and would
    /// become zero an underflow.
    pub fn encode(&self, value: f64) -> Result<Fraction, PartialError> {
        let scaled = value * self.denominator as f64;
        let k = scaled.round();
        // f64 holds the ends of 64 bits as powers of two.
        let half = f64::from(self.bits - 1).exp2();
        if !(-half..half).contains(&k) {
            return Err(PartialError::Overflow { bits: self.bits });
        }
        if k == 0.0 && value != 0.0 {
            return Err(PartialError::Underflow);
        }
        Ok(Fraction { numerator: k as i128, denominator: i128::from(self.denominator) })
    }

    /// k of the nearest number, halves away from zero, with over- and underflow as in [`encode`](Self::encode).
    pub fn round(&self, fraction: &Fraction) -> Result<i64, PartialError> {
        let overflow = PartialError::Overflow { bits: self.bits };
        let Fraction { numerator, denominator } = *fraction;
        let size = denominator.unsigned_abs();
        if size == 0 {
            return Err(overflow);
        }
        let negative = (numerator < 0) != (denominator < 0);
        // n·d/size by parts: n = whole·size + rest.
        let (n, d) = (numerator.unsigned_abs(), u128::from(self.denominator));
        let whole = (n / size).checked_mul(d).ok_or(overflow)?;
        let (quotient, rest) = scaled_rest(n % size, d, size);
        // Halves away from zero: 2·rest ≥ size.
        let k = whole.checked_add(quotient + u128::from(rest >= size - rest)).ok_or(overflow)?;
        if k == 0 && n != 0 {
            return Err(PartialError::Underflow);
        }
        let k = i128::try_from(k).map_err(|_| overflow)?;
        let k = if negative { -k } else { k };
        if wrap(k, self.bits) == k { Ok(k as i64) } else { Err(overflow) }
    }

    /// The number as a real one.
    pub fn real(&self, k: i64) -> f64 {
        k as f64 / self.denominator as f64
    }
}

/// rest·d divided by size, rest < size: quotient and rest, by doubling, as the product may pass 128 bits.
fn scaled_rest(rest: u128, d: u128, size: u128) -> (u128, u128) {
    let mut out = (0, 0);
    for bit in (0..64).rev() {
        // Twice what is there, and the rest once more where d has a bit.
        for add in [out.1, if d >> bit & 1 == 1 { rest } else { 0 }].into_iter().enumerate() {
            let (first, add) = add;
            if first == 0 {
                out.0 *= 2;
            }
            if out.1 >= size - add {
                out = (out.0 + 1, out.1 - (size - add));
            } else {
                out.1 += add;
            }
        }
    }
    out
}

/// Modulo 2^bits, centred: from −2^(bits − 1) to 2^(bits − 1) − 1. Range: 1 to 127 bits.
pub fn wrap(value: i128, bits: u32) -> i128 {
    let unused = i128::BITS - bits;
    value << unused >> unused
}
