//! Two's complement for products, in a scheme without a zero.

use crypto_bigint::BoxedUint;
use zeroize::Zeroizing;

use super::format::wrap;
use crate::error::PartialError;
use crate::number::{from_words, words, words_of};

/// Signed numbers of `bits` bits, of which at most `factors` are multiplied, as residues modulo 2^W from 1 to 2^W, with
/// W = bits·factors, so that the whole product is known modulo 2^W. Negative v travels as 2^W − |v|, zero as 2^W.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Complement {
    bits: u32,
    width: u32,
}

impl Complement {
    /// For a group whose largest message has `message_bits` bits: the product of the residues must stay below it.
    pub fn new(bits: u32, factors: u32, message_bits: u32) -> Result<Self, PartialError> {
        // A residue is at most 2^W, so a product of f of them at most 2^(f·W).
        let width = bits.checked_mul(factors).filter(|width| {
            let product = width.checked_mul(factors);
            (2..=64).contains(&bits) && factors >= 1 && product.is_some_and(|product| product < message_bits)
        });
        width.map(|width| Self { bits, width }).ok_or(PartialError::Message { bits: message_bits })
    }

    /// Bits of a residue.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Bits of a number.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// How many numbers are multiplied at most.
    pub fn factors(&self) -> u32 {
        self.width / self.bits
    }

    /// Whether a group whose largest message has `message_bits` bits holds such products.
    pub fn fits(&self, message_bits: u32) -> bool {
        Self::new(self.bits, self.factors(), message_bits).is_ok()
    }

    /// A signed number of the declared bits, in a time that does not depend on it.
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

    /// The product of at most `factors` numbers, modulo 2^bits and centred, as arithmetic on registers of that size has it.
    pub fn decode_wrapping(&self, residue: &BoxedUint) -> i64 {
        let low = Zeroizing::new(words(residue));
        wrap(i128::from(low[0]), self.bits) as i64
    }

    /// The same product, and an error where it is outside the declared bits.
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

/// The number modulo 2^bits.
fn mask(words: &mut [u64], bits: u32) {
    for (i, word) in (0..).zip(words) {
        let left = bits.saturating_sub(64 * i).min(64);
        *word &= if left == 64 { u64::MAX } else { (1 << left) - 1 };
    }
}
