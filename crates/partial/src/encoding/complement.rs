//! Two's complement for products, in a scheme without a zero.

use crypto_bigint::BoxedUint;
use zeroize::Zeroizing;

use super::format::wrap;
use crate::error::PartialError;
use crate::number::{from_words, words, words_of};

/// Encodes signed numbers of `bits` bits for products of at most `factors` of them, as residues modulo 2^W
/// from 1 to 2^W. W = bits·factors, so that the product is known modulo 2^W. A negative v is encoded as 2^W −
/// |v|, zero as 2^W.
///
/// ```
/// use crypto_bigint::{BoxedUint, ConcatenatingMul};
/// use sotto_partial::encoding::Complement;
///
/// let code = Complement::new(32, 2, 2047)?; // products of two numbers of 32 bits
/// let (volts, amperes) = (code.encode(-230)?, code.encode(5)?);
/// let product: BoxedUint = volts.concatenating_mul(&*amperes);
/// assert_eq!(code.decode(&product)?, -1150);
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complement {
    bits: u32,
    width: u32,
}

impl Complement {
    /// Makes an encoding for a group whose largest message has `message_bits` bits.
    ///
    /// # Errors
    /// [`PartialError::Message`] if the product of the residues may exceed that message, `bits` is not 2 to
    /// 64, or `factors` is 0.
    pub fn new(bits: u32, factors: u32, message_bits: u32) -> Result<Self, PartialError> {
        // A residue is at most 2^W, so a product of f residues is at most 2^(f·W).
        let width = bits.checked_mul(factors).filter(|width| {
            let product = width.checked_mul(factors);
            (2..=64).contains(&bits) && factors >= 1 && product.is_some_and(|product| product < message_bits)
        });
        width.map(|width| Self { bits, width }).ok_or(PartialError::Message { bits: message_bits })
    }

    /// Returns the bits W of a residue.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Returns the bits of a number.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// Returns the maximum number of factors.
    pub fn factors(&self) -> u32 {
        self.width / self.bits
    }

    /// Returns true if a group whose largest message has `message_bits` bits can hold these products.
    pub fn fits(&self, message_bits: u32) -> bool {
        Self::new(self.bits, self.factors(), message_bits).is_ok()
    }

    /// Encodes a signed number in constant time.
    ///
    /// # Errors
    /// [`PartialError::Overflow`] if it does not fit the declared bits.
    pub fn encode(&self, value: i64) -> Result<Zeroizing<BoxedUint>, PartialError> {
        if wrap(i128::from(value), self.bits) != i128::from(value) {
            return Err(PartialError::Overflow { bits: self.bits });
        }
        let count = self.width() as usize / 64 + 1;
        let mut residue = Zeroizing::new(vec![(value >> 63) as u64; count]);
        residue[0] = value as u64;
        mask(&mut residue, self.width());
        let any = residue.iter().fold(0, |any, word| any | word);
        let zero = u64::from(subtle::Choice::unwrap_u8(&subtle::ConstantTimeEq::ct_eq(&any, &0)));
        residue[count - 1] |= zero << (self.width() % 64);
        Ok(Zeroizing::new(from_words(&residue)))
    }

    /// Decodes a product of at most `factors` numbers modulo 2^bits, centred, like arithmetic on registers of
    /// that size.
    pub fn decode_wrapping(&self, residue: &BoxedUint) -> i64 {
        let low = Zeroizing::new(words(residue));
        wrap(i128::from(low[0]), self.bits) as i64
    }

    /// Decodes a product of at most `factors` numbers.
    ///
    /// # Errors
    /// [`PartialError::Overflow`] if it is outside the declared bits.
    pub fn decode(&self, residue: &BoxedUint) -> Result<i64, PartialError> {
        let mut whole = words_of(residue, (self.width() as usize / 64 + 1).max(2));
        mask(&mut whole, self.width());
        let low = self.decode_wrapping(residue);
        let mut expected = Zeroizing::new(vec![(low >> 63) as u64; whole.len()]);
        expected[0] = low as u64;
        mask(&mut expected, self.width());
        if *expected == *whole { Ok(low) } else { Err(PartialError::Overflow { bits: self.bits }) }
    }
}

/// Reduces a number modulo 2^bits.
fn mask(words: &mut [u64], bits: u32) {
    for (i, word) in (0..).zip(words) {
        let left = bits.saturating_sub(64 * i).min(64);
        *word &= if left == 64 { u64::MAX } else { (1 << left) - 1 };
    }
}
