//! Sums of bodies: integers modulo 2^w, one a place.

use alloc::vec::Vec;
use core::ops::Range;

use sotto_device::{Form, pack, unpack};

use crate::error::CompactError;

/// Totals over the weights c of a sum: Σ|c| and Σc².
///
/// ```
/// use sotto_compact::Weights;
///
/// let weights = Weights::of_ones(2).and(-3);
/// assert_eq!((weights.total(), weights.squares()), (5.0, 11.0));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weights {
    total: f64,
    squares: f64,
}

impl Weights {
    /// Returns the totals for `count` windows of weight 1.
    pub fn of_ones(count: u64) -> Self {
        Self { total: count as f64, squares: count as f64 }
    }

    /// Adds another window's weight.
    #[must_use]
    pub fn and(self, weight: i64) -> Self {
        let size = weight.unsigned_abs() as f64;
        Self { total: self.total + size, squares: self.squares + size * size }
    }

    /// Returns Σ|c|.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Returns Σc².
    pub fn squares(&self) -> f64 {
        self.squares
    }
}

/// A weighted sum of bodies of one form and key, at all places or at neighbouring ones. It reveals nothing
/// without the masks' sum and the secret key.
///
/// ```
/// use sotto_compact::{Form, Sum};
///
/// // Bodies of two places with 8 bits each.
/// let form = Form::new(64, 1_099_511_627_689, 17, 2, 8)?;
/// let mut sum = Sum::new(&form);
/// sum.add(&[200, 10], 1)?;
/// sum.add(&[100, 20], 2)?;
/// // Modulo 2^8.
/// assert_eq!(sum.columns().collect::<Vec<u64>>(), [400 - 256, 50]);
/// assert_eq!(sum.to_bytes(), [144, 50]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Sum {
    form: Form,
    /// The first of the sum's places.
    first: usize,
    columns: Vec<u64>,
    weights: Weights,
}

impl Sum {
    /// Makes an empty sum at all places.
    pub fn new(form: &Form) -> Self {
        Self::at(form, 0..form.places())
    }

    /// Makes an empty sum at these places; places beyond the form's are ignored.
    pub fn at(form: &Form, places: Range<usize>) -> Self {
        let (first, end) = (places.start.min(form.places()), places.end.min(form.places()));
        let columns = vec![0; end.saturating_sub(first)];
        Self { form: *form, first, columns, weights: Weights::default() }
    }

    /// Reads a sum at these places from its columns modulo 2^w. `weights` are the caller's claim.
    ///
    /// # Errors
    /// [`CompactError::Length`] for a wrong number of bytes, [`CompactError::Padding`] for unused bits that
    /// are not zero.
    pub fn from_bytes(
        form: &Form,
        places: Range<usize>,
        bytes: &[u8],
        weights: Weights,
    ) -> Result<Self, CompactError> {
        let empty = Self::at(form, places);
        check_body(empty.columns.len(), form.width(), bytes)?;
        let columns = (0..empty.columns.len()).map(|index| unpack(bytes, form.width(), index)).collect();
        Ok(Self { columns, weights, ..empty })
    }

    /// Returns the columns modulo 2^w as bytes, packed like a body.
    pub fn to_bytes(&self) -> Vec<u8> {
        let width = self.form.width();
        let mut bytes = vec![0; (self.columns.len() * width as usize).div_ceil(8)];
        pack(self.columns(), width, &mut bytes);
        bytes
    }

    /// Adds `weight` times a body.
    ///
    /// # Errors
    /// [`CompactError::Length`] and [`CompactError::Padding`]; then nothing is added.
    pub fn add(&mut self, body: &[u8], weight: i64) -> Result<(), CompactError> {
        self.add_by(body, |_| weight)?;
        self.weights = self.weights.and(weight);
        Ok(())
    }

    /// Adds a body with one weight for each place of the sum. Places without a weight get weight 0.
    ///
    /// # Errors
    /// [`CompactError::Length`] and [`CompactError::Padding`]; then nothing is added.
    pub fn add_each(&mut self, body: &[u8], weights: &[i64]) -> Result<(), CompactError> {
        self.add_by(body, |index| weights.get(index).copied().unwrap_or_default())?;
        self.weights = self.weights.and(largest(weights));
        Ok(())
    }

    fn add_by(&mut self, body: &[u8], weight: impl Fn(usize) -> i64) -> Result<(), CompactError> {
        let width = self.form.width();
        check_body(self.form.places(), width, body)?;
        // Computes modulo 2^64, a multiple of 2^w; `columns` reduces at the end.
        for (index, column) in self.columns.iter_mut().enumerate() {
            let value = column_at(body, width, self.first + index);
            *column = column.wrapping_add(value.wrapping_mul(weight(index) as u64));
        }
        Ok(())
    }

    /// Returns the first place.
    pub fn first(&self) -> usize {
        self.first
    }

    /// Returns the form that every body added must have.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// Returns the columns modulo 2^w.
    pub fn columns(&self) -> impl Iterator<Item = u64> + '_ {
        self.columns.iter().map(|column| column & self.form.low_bits())
    }

    /// Returns the totals of the weights added so far.
    pub fn weights(&self) -> Weights {
        self.weights
    }
}

/// Returns the largest magnitude among the weights, 0 if there are none.
pub fn largest(weights: &[i64]) -> i64 {
    weights.iter().map(|weight| weight.saturating_abs()).max().unwrap_or_default()
}

/// Returns the same value as [`unpack`], by one load of 64 bits if that many bytes remain.
fn column_at(bytes: &[u8], width: u32, index: usize) -> u64 {
    let at = index * width as usize;
    let (byte, bit) = (at / 8, (at % 8) as u32);
    let Some(word) = bytes.get(byte..).and_then(<[u8]>::first_chunk) else {
        return unpack(bytes, width, index);
    };
    let (low, have) = (u64::from_le_bytes(*word) >> bit, u64::BITS - bit);
    let rest =
        if width > have { u64::from(bytes.get(byte + 8).copied().unwrap_or_default()) << have } else { 0 };
    (low | rest) & (u64::MAX >> (u64::BITS - width))
}

/// Refuses bytes that are not a body with this many places and bits a place.
///
/// # Errors
/// [`CompactError::Length`] and [`CompactError::Padding`].
fn check_body(places: usize, width: u32, bytes: &[u8]) -> Result<(), CompactError> {
    let expected = (places * width as usize).div_ceil(8);
    if bytes.len() != expected {
        return Err(CompactError::Length { expected, found: bytes.len() });
    }
    let free = 8 * expected - places * width as usize;
    let last = bytes.last().copied().unwrap_or_default();
    if free > 0 && last >> (8 - free) != 0 { Err(CompactError::Padding) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    impl Sum {
        fn reduced(self) -> Self {
            Self { columns: self.columns().collect(), ..self }
        }
    }

    fn form() -> Form {
        Form::new(64, 1_099_511_627_689, 257, 3, 13).unwrap()
    }

    fn body(values: [u64; 3]) -> Vec<u8> {
        let mut bytes = vec![0; 5];
        pack(values, 13, &mut bytes);
        bytes
    }

    #[test]
    fn columns_are_those_of_the_slow_twin() {
        let mut word = 1_u64;
        for width in 2..=64 {
            for count in [1, 2, 7, 8, 9, 31] {
                let bytes: Vec<u8> = (0..(count * width as usize).div_ceil(8))
                    .map(|_| {
                        word = word.rotate_left(13).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                        (word >> 56) as u8
                    })
                    .collect();
                for bytes in [bytes.clone(), vec![0xff; bytes.len()]] {
                    for index in 0..count {
                        let slow = unpack(&bytes, width, index);
                        assert_eq!(column_at(&bytes, width, index), slow, "{width} bits, {index} of {count}");
                    }
                }
            }
        }
    }

    #[test]
    fn columns_are_added_modulo_the_width() {
        let mut sum = Sum::new(&form());
        sum.add(&body([1, 8191, 8191]), 1).unwrap();
        sum.add(&body([2, 1, 100]), -3).unwrap();
        assert_eq!(sum.columns().collect::<Vec<_>>(), [8187, 8188, 7891]);
        assert_eq!((sum.weights().total(), sum.weights().squares()), (4.0, 10.0));
        let again = Sum::from_bytes(&form(), 0..3, &sum.to_bytes(), sum.weights()).unwrap();
        assert_eq!(again, sum.reduced());
    }

    #[test]
    fn places_have_weights_of_their_own() {
        let mut sum = Sum::at(&form(), 1..3);
        sum.add_each(&body([1, 10, 100]), &[2, -1]).unwrap();
        sum.add_each(&body([1, 5, 7]), &[0, 4]).unwrap();
        assert_eq!(sum.columns().collect::<Vec<_>>(), [20, 8120]);
        assert_eq!((sum.weights().total(), sum.weights().squares()), (6.0, 20.0));
        let again = Sum::from_bytes(&form(), 1..3, &sum.to_bytes(), sum.weights()).unwrap();
        assert_eq!(again, sum.reduced());
    }

    #[test]
    fn what_is_no_body_is_refused() {
        let mut sum = Sum::new(&form());
        assert_eq!(sum.add(&[0; 4], 1), Err(CompactError::Length { expected: 5, found: 4 }));
        assert_eq!(sum.add(&[0, 0, 0, 0, 0x80], 1), Err(CompactError::Padding));
        assert_eq!(sum, Sum::new(&form()), "nothing was added");
    }
}
