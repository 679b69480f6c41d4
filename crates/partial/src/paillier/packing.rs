//! Packs several readings into one plaintext.

use alloc::vec::Vec;

use crypto_bigint::BoxedUint;
use zeroize::Zeroizing;

use super::key::{Plaintext, PublicKey};
use crate::error::PartialError;
use crate::number::{from_words, words};

/// Slots of equal width, each with carry room for a known number of summands. A slot holds the distance of a
/// value from `least`, so that slots never borrow. A sum of k plaintexts is k·least too small in each slot;
/// unpacking adds that.
///
/// ```
/// use sotto_partial::paillier::Packing;
/// # use sotto_partial::paillier::{PublicKey, Randomness};
/// # let n = sotto_partial::elgamal::Group::new(sotto_partial::elgamal::GroupName::Ffdhe2048)?.prime().clone();
/// # let key = PublicKey::new(&n, Randomness::Textbook)?;
///
/// let packing = Packing::new(&key, -50, 150, 1000)?; // degrees, sums of up to 1000 readings
/// assert_eq!((packing.width(), packing.slots()), (18, 113));
/// let plaintext = packing.pack(&[71, -4])?;
/// assert_eq!(packing.unpack(&plaintext, 1)?[..2], [71, -4]);
/// # Ok::<(), sotto_partial::PartialError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packing {
    least: i64,
    span: u64,
    summands: u64,
    width: u32,
    slots: usize,
}

impl Packing {
    /// Makes a layout for values from `least` to `most`, of which up to `summands` are added. A product with
    /// a public k ≥ 0 counts as k summands.
    ///
    /// # Errors
    /// [`PartialError::Message`] if `most` is below `least`, or a slot does not fit into a plaintext.
    pub fn new(key: &PublicKey, least: i64, most: i64, summands: u64) -> Result<Self, PartialError> {
        let span = u64::try_from(i128::from(most) - i128::from(least))
            .map_err(|_| PartialError::Message { bits: 63 })?;
        let largest = u128::from(span) * u128::from(summands.max(1));
        let width = (u128::BITS - largest.leading_zeros()).max(1);
        let slots = ((key.bits() - 1) / width) as usize;
        if slots == 0 {
            return Err(PartialError::Message { bits: key.bits() - 1 });
        }
        Ok(Self { least, span, summands: summands.max(1), width, slots })
    }

    /// Returns the values a plaintext.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Returns the bits a slot, carry room included.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Packs values into a plaintext. Missing values count as `least`.
    ///
    /// # Errors
    /// [`PartialError::Slots`] for too many values, [`PartialError::Message`] for a value out of range.
    pub fn pack(&self, values: &[i64]) -> Result<Plaintext, PartialError> {
        if values.len() > self.slots {
            return Err(PartialError::Slots { found: values.len(), slots: self.slots });
        }
        let bits = self.slots as u32 * self.width;
        let mut packed = Zeroizing::new(vec![0u64; bits.div_ceil(64) as usize + 1]);
        for (slot, value) in values.iter().enumerate() {
            let distance = i128::from(*value) - i128::from(self.least);
            let distance = u64::try_from(distance).ok().filter(|distance| *distance <= self.span);
            let distance =
                distance.ok_or(PartialError::Message { bits: u64::BITS - self.span.leading_zeros() })?;
            let at = slot * self.width as usize;
            let shifted = u128::from(distance) << (at % 64);
            packed[at / 64] |= shifted as u64;
            packed[at / 64 + 1] |= (shifted >> 64) as u64;
        }
        Ok(Plaintext(Zeroizing::new(from_words(&packed))))
    }

    /// Unpacks the sums of `summands` plaintexts.
    ///
    /// # Errors
    /// [`PartialError::CarryRoom`] for too many summands; [`PartialError::Overflow`] if a slot is larger than
    /// any such sum, or bits above the slots are set. Other wrong plaintexts are not detected.
    pub fn unpack(&self, plaintext: &Plaintext, summands: u64) -> Result<Vec<i128>, PartialError> {
        if summands > self.summands {
            return Err(PartialError::CarryRoom { found: summands, most: self.summands });
        }
        let number: Zeroizing<BoxedUint> = plaintext.0.clone();
        let words = words(&number);
        let bit = |at: usize| u128::from(words.get(at / 64).copied().unwrap_or(0) >> (at % 64) & 1);
        let width = self.width as usize;
        let most = u128::from(self.span) * u128::from(summands);
        let slot = |slot: usize| (0..width).fold(0, |sum, i| sum | bit(slot * width + i) << i);
        let sums = Zeroizing::new((0..self.slots).map(slot).collect::<Vec<u128>>());
        // Reads every slot, so that timing reveals only the result of the check.
        let above = (self.slots * width..64 * words.len()).fold(0, |any, at| any | bit(at));
        if !sums.iter().fold(above == 0, |fit, sum| fit & (*sum <= most)) {
            return Err(PartialError::Overflow { bits: self.width });
        }
        // A distance may take all 128 bits. The signed value fits: at most 2^64 times 2^63.
        let least = i128::from(summands) * i128::from(self.least);
        Ok(sums.iter().map(|sum| (*sum as i128).wrapping_add(least)).collect())
    }
}
