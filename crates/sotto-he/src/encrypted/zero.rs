//! Vectors that are zero whatever the inputs are: x·0, a mask of zeros. Everybody may know that, and nobody computes it: such
//! a vector keeps the ciphertexts of its operand, and its unit is 0.

use super::{Encrypted, Facts};
use crate::error::Result;
use crate::scheme::Arithmetic;

impl Facts {
    /// True if every value is zero whatever the inputs are.
    pub(crate) fn is_zero(&self) -> bool {
        self.unit == 0.0
    }

    fn zero(len: usize) -> Self {
        Self { len, zero_padded: true, unit: 0.0, magnitude: 0.0, range: Some((0, 0)) }
    }
}

impl<S: Arithmetic> Encrypted<S> {
    /// The vector of `len` zeros, with as many ciphertexts as any other of this length.
    pub(super) fn zeros(&self, len: usize) -> Self {
        let all: Vec<usize> = (0..self.shapes().len()).collect();
        let repeated: Vec<usize> = all.iter().copied().cycle().take(self.context.parts(len)).collect();
        let body = self.body.only(&repeated);
        Self::new(&self.context, Facts::zero(len), body)
    }

    /// The sum or difference with a vector of zeros, which takes no work; None if neither vector is one.
    pub(super) fn beside_zero(&self, other: &Self, subtract: bool) -> Result<Option<Self>> {
        let (term, minus) = match (self.facts.is_zero(), other.facts.is_zero()) {
            (false, false) => return Ok(None),
            (true, true) => return Ok(Some(self.zeros(self.joined(other)?.len))),
            (true, false) => (other, subtract),
            (false, true) => (self, false),
        };
        let len = self.joined(other)?.len;
        let term = if minus { term.negated()? } else { term.clone() };
        // A single value beside many zeros is repeated.
        if term.len() == len {
            Ok(Some(term))
        } else {
            Ok(Some(term.add_plain(&vec![S::Value::default(); len])?))
        }
    }

    /// The product with a vector of zeros; None if neither vector is one.
    pub(super) fn times_zero(&self, other: &Self) -> Result<Option<Self>> {
        if !self.facts.is_zero() && !other.facts.is_zero() {
            return Ok(None);
        }
        Ok(Some(self.zeros(self.joined(other)?.len)))
    }
}
