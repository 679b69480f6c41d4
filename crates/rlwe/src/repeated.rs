//! Sparse packing: k values, k a power of two, repeated to fill every row.
//!
//! A rotation by r moves the k values by r around a ring of k, so steps below k suffice; sums and products work on the
//! k values as on a row of k slots. Both rows of BFV and BGV hold the same values, and swapping them changes nothing.
//! In CKKS decoding returns the mean of a value's copies: this divides the part of the noise that differs between
//! copies by the square root of their number and never exceeds the bound of one slot. In exact schemes it returns the
//! first copy, as the copies of a correct result are equal.

use alloc::vec::Vec;

use zeroize::Zeroizing;

use crate::error::EncodeError;
use crate::parameters::Params;
use crate::plaintext::Plaintext;
use crate::scheme::Scheme;
use crate::slot_value::SlotValue as _;

impl<S: Scheme> Params<S> {
    /// Encodes k values for a level, repeated to fill every row.
    ///
    /// # Errors
    /// [`EncodeError::Repetition`] unless k is a power of two of at most n/2; [`EncodeError::NoSlots`] if the
    /// parameters have no slots; else as [`Scheme::encode_slots`].
    pub fn encode_repeated(&self, values: &[S::Value], level: usize) -> Result<Plaintext<S>, EncodeError> {
        let (rows, columns) = self.slot_shape()?;
        let slots = Zeroizing::new(fill(values, columns, rows)?);
        S::encode_slots(self, &slots, level)
    }

    /// Returns the k values of a plaintext that repeats them.
    ///
    /// # Errors
    /// As [`Params::encode_repeated`].
    pub fn decode_repeated(
        &self,
        plaintext: &Plaintext<S>,
        count: usize,
    ) -> Result<Vec<S::Value>, EncodeError> {
        let (_, columns) = self.slot_shape()?;
        check(count, columns)?;
        let slots = Zeroizing::new(S::decode_slots(self, plaintext)?);
        Ok((0..count).map(|index| S::Value::shared(&slots[..columns], index, count)).collect())
    }

    fn slot_shape(&self) -> Result<(usize, usize), EncodeError> {
        let (plain_modulus, degree) = (self.plain_modulus(), self.degree());
        S::slot_shape(self).ok_or(EncodeError::NoSlots { plain_modulus, degree })
    }
}

/// Refuses a number of values that cannot be repeated in a row.
pub(crate) fn check(given: usize, row: usize) -> Result<(), EncodeError> {
    if given.is_power_of_two() && given <= row { Ok(()) } else { Err(EncodeError::Repetition { given, row }) }
}

/// Returns `rows` rows of the values, repeated.
pub(crate) fn fill<T: Copy>(values: &[T], columns: usize, rows: usize) -> Result<Vec<T>, EncodeError> {
    check(values.len(), columns)?;
    Ok(values.repeat(rows * columns / values.len()))
}
