//! Sparse packing: k values, k a power of two, repeated to fill every row.
//!
//! A rotation by r then moves the k values by r around a ring of k, so steps below k are all that is needed; sums and
//! products work on the k values as they would on a row of k slots. Both rows of BFV and BGV hold the same, and swapping them
//! changes nothing. Decoding takes the mean of a value's copies in CKKS, which divides the part of the noise that differs
//! between copies by the root of their number and never passes the bound on one slot; it takes the first copy where values
//! are exact, and the copies of a correct result are equal.

use zeroize::Zeroizing;

use crate::error::EncodeError;
use crate::parameters::Params;
use crate::plaintext::Plaintext;
use crate::scheme::Scheme;

impl<S: Scheme> Params<S> {
    /// Encodes k values for a level, repeated to fill every row. Refused unless k is a power of two of at most n/2, and
    /// where there are no slots.
    pub fn encode_repeated(&self, values: &[S::Value], level: usize) -> Result<Plaintext<S>, EncodeError> {
        let (rows, columns) = self.slot_shape()?;
        let slots = Zeroizing::new(fill(values, columns, rows)?);
        S::encode_slots(self, &slots, level)
    }

    /// The k values of a plaintext that repeats them.
    pub fn decode_repeated(
        &self,
        plaintext: &Plaintext<S>,
        count: usize,
    ) -> Result<Vec<S::Value>, EncodeError> {
        let (_, columns) = self.slot_shape()?;
        check(count, columns)?;
        let slots = Zeroizing::new(S::decode_slots(self, plaintext)?);
        Ok((0..count).map(|index| S::shared_value(&slots[..columns], index, count)).collect())
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

/// `rows` rows of the values, repeated.
pub(crate) fn fill<T: Copy>(values: &[T], columns: usize, rows: usize) -> Result<Vec<T>, EncodeError> {
    check(values.len(), columns)?;
    Ok(values.repeat(rows * columns / values.len()))
}
