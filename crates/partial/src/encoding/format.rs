//! The format of numbers in the clear.

use super::fraction::Fraction;
use crate::error::PartialError;
#[cfg(not(feature = "std"))]
use num_traits::Float as _;

/// The numbers k/denominator, where k is a signed number of `bits` bits.
///
/// ```
/// use sotto_partial::encoding::{Format, Fraction};
///
/// let celsius = Format::new(16, 100)?; // hundredths of a degree, −327.68 to 327.67
/// let reading = celsius.encode(21.504)?;
/// assert_eq!(reading, Fraction { numerator: 2150, denominator: 100 });
/// assert_eq!(celsius.real(celsius.round(&reading)?), 21.5);
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Format {
    bits: u32,
    denominator: u64,
}

impl Format {
    /// Makes a format of 2 to 64 bits with a denominator of at least one.
    ///
    /// # Errors
    /// [`PartialError::Message`] for other numbers.
    pub fn new(bits: u32, denominator: u64) -> Result<Self, PartialError> {
        if (2..=64).contains(&bits) && denominator >= 1 {
            Ok(Self { bits, denominator })
        } else {
            Err(PartialError::Message { bits: 64 })
        }
    }

    /// Makes the format of whole numbers.
    ///
    /// # Errors
    /// [`PartialError::Message`] if `bits` is not 2 to 64.
    pub fn integers(bits: u32) -> Result<Self, PartialError> {
        Self::new(bits, 1)
    }

    /// Returns the bits of k.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the denominator: the number of steps in 1.
    pub fn denominator(&self) -> u64 {
        self.denominator
    }

    /// Returns k/denominator, unreduced.
    ///
    /// # Errors
    /// [`PartialError::Overflow`] if k exceeds the format's bits.
    pub fn fraction(&self, k: i64) -> Result<Fraction, PartialError> {
        let fraction = Fraction { numerator: i128::from(k), denominator: i128::from(self.denominator) };
        self.round(&fraction).map(|_| fraction)
    }

    /// Returns the format's number nearest to `value`.
    ///
    /// # Errors
    /// [`PartialError::Overflow`] for NaN or a value that does not fit, [`PartialError::Underflow`] for a
    /// value that is not zero but rounds to zero.
    pub fn encode(&self, value: f64) -> Result<Fraction, PartialError> {
        let scaled = value * self.denominator as f64;
        let k = scaled.round();
        // The ends are powers of two, which f64 holds exactly also for 64 bits.
        let half = f64::from(self.bits - 1).exp2();
        if !(-half..half).contains(&k) {
            return Err(PartialError::Overflow { bits: self.bits });
        }
        if k == 0.0 && value != 0.0 {
            return Err(PartialError::Underflow);
        }
        Ok(Fraction { numerator: k as i128, denominator: i128::from(self.denominator) })
    }

    /// Returns k of the format's number nearest to a fraction, halves away from zero.
    ///
    /// # Errors
    /// [`PartialError::Overflow`] and [`PartialError::Underflow`], as for [`encode`](Self::encode); Overflow
    /// also for a denominator of zero.
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

    /// Returns the number k/denominator as f64.
    pub fn real(&self, k: i64) -> f64 {
        k as f64 / self.denominator as f64
    }
}

/// Divides rest·d by size, for rest < size. Returns quotient and remainder, by doubling, as the product may
/// exceed 128 bits.
fn scaled_rest(rest: u128, d: u128, size: u128) -> (u128, u128) {
    let mut out = (0, 0);
    for bit in (0..64).rev() {
        // Doubles the remainder, then adds `rest` if d has this bit.
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

/// Reduces modulo 2^bits, centred: from −2^(bits − 1) to 2^(bits − 1) − 1. Range: 1 to 127 bits.
pub fn wrap(value: i128, bits: u32) -> i128 {
    let unused = i128::BITS - bits;
    value << unused >> unused
}
