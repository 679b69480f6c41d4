//! Public numbers beside the slots of a vector: its values are unit · slots + offset. Sums, differences and products with
//! public numbers change them in f64, at no level; the error of that arithmetic is bounded.

use std::sync::Arc;

use sotto_wire::VectorOffset;

use crate::scheme::{Arithmetic, Real};

/// The offset of a vector: none, one number for all values, or one for each.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Offset {
    numbers: Numbers,
    /// The largest absolute value.
    largest: f64,
    /// A bound on the rounding error of every number.
    error: f64,
}

#[derive(Clone, Debug, Default, PartialEq)]
enum Numbers {
    #[default]
    None,
    Every(f64),
    /// Not all are the same.
    Each(Arc<[f64]>),
}

impl Offset {
    /// One number for all values.
    pub(super) fn every(number: f64) -> Self {
        Self::of(&[number], 0.0)
    }

    /// One number for each value.
    pub(super) fn each<S: Arithmetic>(values: &[S::Value]) -> Self {
        Self::of(&values.iter().map(|value| Into::<Real>::into(*value).0).collect::<Vec<_>>(), 0.0)
    }

    fn of(numbers: &[f64], error: f64) -> Self {
        let largest = |largest: f64, number: &f64| match number.is_finite() {
            true => largest.max(number.abs()),
            false => f64::INFINITY,
        };
        let largest = numbers.iter().fold(0.0, largest);
        let numbers = match numbers {
            [first, rest @ ..] if rest.iter().all(|number| number == first) => match *first {
                0.0 => Numbers::None,
                number => Numbers::Every(number),
            },
            several => Numbers::Each(several.into()),
        };
        Self { numbers, largest, error }
    }

    /// True if every number is zero, without an error.
    pub(crate) fn is_none(&self) -> bool {
        self.is_zero() && self.error == 0.0
    }

    /// True if every number is zero.
    pub(crate) fn is_zero(&self) -> bool {
        matches!(self.numbers, Numbers::None)
    }

    /// Returns the number that all values share; None if they differ.
    pub(super) fn shared(&self) -> Option<f64> {
        match self.numbers {
            Numbers::None => Some(0.0),
            Numbers::Every(number) => Some(number),
            Numbers::Each(_) => None,
        }
    }

    pub(crate) fn largest(&self) -> f64 {
        self.largest
    }

    pub(crate) fn error(&self) -> f64 {
        self.error
    }

    /// Returns the number of value `index`.
    pub(crate) fn at(&self, index: usize) -> f64 {
        match &self.numbers {
            Numbers::None => 0.0,
            Numbers::Every(number) => *number,
            Numbers::Each(numbers) => numbers[index],
        }
    }

    /// Returns the numbers of `len` values.
    pub(crate) fn values<S: Arithmetic>(&self, len: usize) -> Vec<S::Value> {
        (0..len).map(|index| S::number(self.at(index))).collect()
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        self.zipped(other, self.error + other.error, sum)
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        self.zipped(other, self.error + other.error, |a, b| sum(a, -b))
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        let error = self.largest * other.error + other.largest * self.error + self.error * other.error;
        self.zipped(other, error, product)
    }

    /// Returns the numbers divided by a public one.
    pub(super) fn divided(&self, divisor: f64) -> Self {
        if divisor == 1.0 || self.is_none() {
            return self.clone();
        }
        self.zipped(&Self::every(divisor), self.error / divisor.abs(), quotient)
    }

    /// Returns a power with an exponent of at least 1.
    pub(super) fn power(&self, exponent: u32) -> Self {
        let bits = u32::BITS - 1 - exponent.leading_zeros();
        (0..bits).rev().fold(self.clone(), |power, bit| {
            let square = power.times(&power);
            if exponent >> bit & 1 == 1 { square.times(self) } else { square }
        })
    }

    /// Enlarges the bound on the error.
    pub(super) fn add_error(&mut self, error: f64) {
        self.error += error;
    }

    /// Returns `function` of every number of `len` values. The error stays: range: no slope above 1.
    pub(super) fn mapped(&self, len: usize, function: impl Fn(f64) -> f64) -> Self {
        let count = if self.shared().is_some() { 1 } else { len };
        let numbers: Vec<f64> = (0..count).map(|index| function(self.at(index))).collect();
        Self::of(&numbers, self.error)
    }

    /// Returns the larger or the smaller numbers of two.
    pub(super) fn extreme(&self, other: &Self, larger: bool) -> Self {
        let error = self.error.max(other.error);
        self.zipped(other, error, |a, b| (if larger { a.max(b) } else { a.min(b) }, 0.0))
    }

    /// Returns the numbers of the values with these indices.
    pub(super) fn select(&self, indices: &[usize]) -> Self {
        match &self.numbers {
            Numbers::Each(numbers) => {
                let numbers: Vec<f64> = indices.iter().map(|index| numbers[*index]).collect();
                Self::of(&numbers, self.error)
            }
            _ => self.clone(),
        }
    }

    /// Returns the sum of the numbers of `len` values (Neumaier's compensated sum).
    pub(super) fn sum(&self, len: usize) -> Self {
        let count = len as f64;
        let Numbers::Each(numbers) = &self.numbers else {
            let (total, rounding) = product(self.at(0), count);
            return Self::of(&[total], self.error * count + rounding.abs());
        };
        let (mut total, mut rest, mut sizes) = (0.0_f64, 0.0_f64, 0.0_f64);
        let mut exact = true;
        for number in numbers.iter() {
            let (next, rounding) = sum(total, *number);
            (total, rest) = (next, rest + rounding);
            exact &= rounding == 0.0;
            sizes += number.abs();
        }
        let whole = total + rest;
        let rounding = f64::EPSILON * whole.abs() + count * f64::EPSILON * f64::EPSILON * sizes;
        Self::of(&[whole], self.error * count + if exact { 0.0 } else { rounding })
    }

    fn zipped(&self, other: &Self, error: f64, function: impl Fn(f64, f64) -> (f64, f64)) -> Self {
        let count = |offset: &Self| match &offset.numbers {
            Numbers::Each(numbers) => numbers.len(),
            _ => 1,
        };
        let mut rounding = 0.0_f64;
        let numbers: Vec<f64> = (0..count(self).max(count(other)))
            .map(|index| {
                let (number, rest) = function(self.at(index), other.at(index));
                rounding = rounding.max(rest.abs());
                number
            })
            .collect();
        Self::of(&numbers, error + rounding)
    }

    /// Returns the form that travels beside slots within ±`encrypted` / unit.
    pub(super) fn header(&self, encrypted: f64) -> VectorOffset {
        match &self.numbers {
            Numbers::None => VectorOffset::None,
            Numbers::Every(number) => VectorOffset::Number { number: *number, encrypted },
            Numbers::Each(numbers) => VectorOffset::Numbers { numbers: Arc::clone(numbers), encrypted },
        }
    }

    /// Reads the form that travels; its error is not known here, and the plan has it.
    pub(super) fn of_header(header: &VectorOffset) -> (Self, Option<f64>) {
        match header {
            VectorOffset::None => (Self::default(), None),
            VectorOffset::Number { number, encrypted } => (Self::every(*number), Some(*encrypted)),
            VectorOffset::Numbers { numbers, encrypted } => (Self::of(numbers, 0.0), Some(*encrypted)),
        }
    }
}

/// Returns a + b and its rounding error, exactly (Knuth).
fn sum(a: f64, b: f64) -> (f64, f64) {
    let total = a + b;
    let other = total - a;
    (total, (a - (total - other)) + (b - other))
}

/// Returns a / b and a bound on its rounding error.
fn quotient(a: f64, b: f64) -> (f64, f64) {
    let whole = a / b;
    (whole, whole.abs() * f64::EPSILON + f64::MIN_POSITIVE)
}

/// Returns a · b and a bound on its rounding error, which is exact unless the product is tiny.
fn product(a: f64, b: f64) -> (f64, f64) {
    /// Below it the rounding error itself may underflow.
    const TINY: f64 = 1e-290;
    let whole = a * b;
    let tiny = whole.abs() < TINY && a != 0.0 && b != 0.0;
    (whole, if tiny { f64::MIN_POSITIVE } else { a.mul_add(b, -whole) })
}
