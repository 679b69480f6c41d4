//! Values of polynomials and models, which carry noise.

use crate::value::{Value, ValueError};

/// Values of a polynomial or a model.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reals {
    pub(crate) count: u64,
    pub(crate) sum: f64,
    /// Sum of the bounds of the single values.
    pub(crate) bound: f64,
    /// The single values; collected only if the question asks for them.
    pub(crate) each: Vec<Real>,
}

/// A value at one reading.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Real {
    /// Start of the reading's tick, in milliseconds since 1970.
    pub(crate) from: i64,
    /// End of the tick.
    pub(crate) to: i64,
    pub(crate) value: f64,
    pub(crate) bound: f64,
}

impl Reals {
    /// Adds a value.
    pub(crate) fn add(&mut self, real: Real) {
        self.count += 1;
        self.sum += real.value;
        self.bound += real.bound;
        self.each.push(real);
    }

    pub(crate) fn sum(&self) -> Result<Value, ValueError> {
        self.per(1.0)
    }

    pub(crate) fn mean(&self) -> Result<Value, ValueError> {
        self.per(self.count as f64)
    }

    fn per(&self, divisor: f64) -> Result<Value, ValueError> {
        if self.count == 0 {
            return Err(ValueError::NO_READING);
        }
        Ok(Value { value: self.sum / divisor, bound: self.bound / divisor, unit: String::new() })
    }

    /// Adds the values of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.add_all(other, true);
    }

    /// Adds the values of `other`: with `each` every single one, else only their sum.
    pub(crate) fn add_all(&mut self, other: &Self, each: bool) {
        self.count += other.count;
        self.sum += other.sum;
        self.bound += other.bound;
        if each {
            self.each.extend(&other.each);
        }
    }
}
