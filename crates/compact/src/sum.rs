//! Sums of bodies: integers modulo 2^w, place by place.

use sotto_device::{Form, pack, unpack};

use crate::profile::CompactError;

/// The weights by which windows are added: Σ|c| and Σc².
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Weights {
    total: f64,
    squares: f64,
}

impl Weights {
    /// So many windows, each once.
    pub fn of_ones(count: u64) -> Self {
        Self { total: count as f64, squares: count as f64 }
    }

    /// With another window.
    #[must_use]
    pub fn and(self, weight: i64) -> Self {
        let size = weight.unsigned_abs() as f64;
        Self { total: self.total + size, squares: self.squares + size * size }
    }

    /// Σ|c|.
    pub fn total(&self) -> f64 {
        self.total
    }

    /// Σc².
    pub fn squares(&self) -> f64 {
        self.squares
    }
}

/// A weighted sum of bodies of one form and key. It says nothing without the masks' sum and the secret key.
#[derive(Clone, Debug, PartialEq)]
pub struct Sum {
    form: Form,
    columns: Vec<u64>,
    weights: Weights,
}

impl Sum {
    /// Of nothing.
    pub fn new(form: &Form) -> Self {
        Self { form: *form, columns: vec![0; form.places()], weights: Weights::default() }
    }

    /// A sum that was made elsewhere, from its columns modulo 2^w and the weights that it is said to have.
    ///
    /// # Errors
    /// [`CompactError::Length`] and [`CompactError::Padding`].
    pub fn from_bytes(form: &Form, bytes: &[u8], weights: Weights) -> Result<Self, CompactError> {
        check_body(form, bytes)?;
        let columns = (0..form.places()).map(|index| unpack(bytes, form.width(), index)).collect();
        Ok(Self { form: *form, columns, weights })
    }

    /// The columns modulo 2^w as bytes: those of a body.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; self.form.body_bytes()];
        pack(self.columns.iter().map(|column| column & self.form.low_bits()), self.form.width(), &mut bytes);
        bytes
    }

    /// Adds a body so many times.
    ///
    /// # Errors
    /// [`CompactError::Length`] and [`CompactError::Padding`]; nothing is added then.
    pub fn add(&mut self, body: &[u8], weight: i64) -> Result<(), CompactError> {
        check_body(&self.form, body)?;
        let width = self.form.width();
        // Modulo 2^64, of which 2^w is a divisor: reduced once, at the end.
        for (index, column) in self.columns.iter_mut().enumerate() {
            *column = column.wrapping_add(unpack(body, width, index).wrapping_mul(weight as u64));
        }
        self.weights = self.weights.and(weight);
        Ok(())
    }

    /// The form.
    pub fn form(&self) -> &Form {
        &self.form
    }

    /// The columns modulo 2^w.
    pub fn columns(&self) -> impl Iterator<Item = u64> + '_ {
        self.columns.iter().map(|column| column & self.form.low_bits())
    }

    /// The weights.
    pub fn weights(&self) -> Weights {
        self.weights
    }
}

/// Refuses bytes that are no body of this form.
///
/// # Errors
/// [`CompactError::Length`] and [`CompactError::Padding`].
fn check_body(form: &Form, bytes: &[u8]) -> Result<(), CompactError> {
    let expected = form.body_bytes();
    if bytes.len() != expected {
        return Err(CompactError::Length { expected, found: bytes.len() });
    }
    let free = 8 * expected - form.places() * form.width() as usize;
    let last = bytes.last().copied().unwrap_or_default();
    if free > 0 && last >> (8 - free) != 0 { Err(CompactError::Padding) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn form() -> Form {
        Form::new(64, 1_099_511_627_689, 257, 3, 13).unwrap()
    }

    fn body(values: [u64; 3]) -> Vec<u8> {
        let mut bytes = vec![0; 5];
        pack(values, 13, &mut bytes);
        bytes
    }

    #[test]
    fn columns_are_added_modulo_the_width() {
        let mut sum = Sum::new(&form());
        sum.add(&body([1, 8191, 8191]), 1).unwrap();
        sum.add(&body([2, 1, 100]), -3).unwrap();
        assert_eq!(sum.columns().collect::<Vec<_>>(), [8187, 8188, 7891]);
        assert_eq!((sum.weights().total(), sum.weights().squares()), (4.0, 10.0));
        let again = Sum::from_bytes(&form(), &sum.to_bytes(), sum.weights()).unwrap();
        assert_eq!(again.columns().collect::<Vec<_>>(), [8187, 8188, 7891]);
    }

    #[test]
    fn what_is_no_body_is_refused() {
        let mut sum = Sum::new(&form());
        assert_eq!(sum.add(&[0; 4], 1), Err(CompactError::Length { expected: 5, found: 4 }));
        assert_eq!(sum.add(&[0, 0, 0, 0, 0x80], 1), Err(CompactError::Padding));
        assert_eq!(sum, Sum::new(&form()), "nothing was added");
    }
}
