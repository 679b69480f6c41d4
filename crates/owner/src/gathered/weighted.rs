//! Weighted sums.

use crate::value::{Value, ValueError};

/// A weighted sum in progress. Its weights approximate those of the question by whole numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weighted {
    pub(crate) count: u64,
    /// Σ w · x over the readings present.
    pub(crate) sum: f64,
    /// Σ w over the readings present.
    pub(crate) weight: f64,
    /// Σ |w| over the readings present.
    pub(crate) size: f64,
    /// Σ |w − W| over the readings present, with W the weights of the question.
    pub(crate) rounded: f64,
    /// The declared range.
    pub(crate) range: (f64, f64),
    pub(crate) error: f64,
    /// The total of the question's weights.
    pub(crate) total: f64,
}

impl Weighted {
    pub(crate) fn merge(&mut self, other: &Self) {
        if self.count == 0 {
            *self = *other;
            return;
        }
        if other.count == 0 {
            return;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.weight += other.weight;
        self.size += other.size;
        self.rounded += other.rounded;
        self.range = (self.range.0.min(other.range.0), self.range.1.max(other.range.1));
        self.error = self.error.max(other.error);
    }

    /// Returns total · Σ w·x / Σ w: the readings present share the weights of the missing ones.
    ///
    /// The bound has two parts. Each reading is off by at most h. The weights a = w/Σw differ from the question's
    /// weights b = W/ΣW; as Σ a = Σ b = 1, the difference multiplies only a reading's distance from the middle of its
    /// range:
    /// |Σ (a − b)(x − middle)| ≤ half the range · Σ|a − b|, and Σ|a − b| ≤ Σ|w − W| · (1 + Σ|w|/|Σw|) / (|Σw| − Σ|w −
    /// W|).
    pub(crate) fn value(&self, unit: &str) -> Result<Value, ValueError> {
        if self.count == 0 {
            return Err(ValueError::NO_READING);
        }
        let sure = self.weight.abs() - self.rounded;
        if sure <= 1e-9 * self.size || sure <= 0.0 {
            return Err(ValueError::Undetermined("the weights of the readings that are there cancel out"));
        }
        let (low, high) = self.range;
        let half_range = (high - low) / 2.0;
        let apart = self.rounded * (1.0 + self.size / self.weight.abs()) / sure;
        let value = self.total * self.sum / self.weight;
        let rounding = 1e-12 * low.abs().max(high.abs()) * (self.size / self.weight.abs());
        let bound =
            self.total.abs() * (self.error * self.size / self.weight.abs() + apart * half_range + rounding);
        Ok(Value { value, bound, unit: unit.to_owned() })
    }
}
