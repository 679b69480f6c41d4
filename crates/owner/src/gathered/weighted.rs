//! Weighted sums.

use crate::value::{Value, ValueError};

/// A weighted sum in progress: the readings with weights above 0, and those with weights below.
///
/// The readings that are there share the weights of the missing ones of their sign. So weights that add up to 0 give the
/// difference of two weighted means, whichever readings are missing; if one sign has none, nothing is known.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weighted {
    pub(crate) above: Option<OfSign>,
    pub(crate) below: Option<OfSign>,
}

/// The part of a weighted sum whose weights have one sign. They approximate those of the question by whole numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct OfSign {
    /// Number of readings, those without a weight of this sign included.
    pub(crate) count: u64,
    /// Σ w · x over the readings present.
    pub(crate) sum: f64,
    /// Σ w over the readings present.
    pub(crate) weight: f64,
    /// Σ |w − W| over the readings present, with W the weights of the question.
    pub(crate) rounded: f64,
    /// The declared range.
    pub(crate) range: (f64, f64),
    /// A bound on Σ |w · δ| over the readings present, with δ their rounding.
    pub(crate) off: f64,
    /// The total of the question's weights of this sign; not 0.
    pub(crate) total: f64,
}

impl Weighted {
    pub(crate) fn merge(&mut self, other: &Self) {
        for (own, other) in [(&mut self.above, other.above), (&mut self.below, other.below)] {
            match (own.as_mut(), other) {
                (Some(own), Some(other)) => own.merge(&other),
                (None, Some(_)) => *own = other,
                (_, None) => {}
            }
        }
    }

    /// Returns the number of readings.
    pub(crate) fn count(&self) -> u64 {
        let both = [self.above, self.below].into_iter().flatten();
        both.map(|of_sign| of_sign.count).max().unwrap_or_default()
    }

    /// Returns the sum of both signs.
    ///
    /// # Errors
    /// [`ValueError`] if all readings of the weights of one sign are missing.
    pub(crate) fn value(&self, unit: &str) -> Result<Value, ValueError> {
        if self.count() == 0 {
            return Err(ValueError::NO_READING);
        }
        let missing = |sign| ValueError::Undetermined(sign);
        let above = self
            .above
            .map(|above| above.value(unit).ok_or(missing("the readings of all weights above 0 are missing")));
        let below = self
            .below
            .map(|below| below.value(unit).ok_or(missing("the readings of all weights below 0 are missing")));
        match (above.transpose()?, below.transpose()?) {
            (Some(above), Some(below)) => above.plus(&below),
            (one, other) => one.or(other).ok_or(ValueError::NO_READING),
        }
    }
}

impl OfSign {
    fn merge(&mut self, other: &Self) {
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
        self.rounded += other.rounded;
        self.range = (self.range.0.min(other.range.0), self.range.1.max(other.range.1));
        self.off += other.off;
    }

    /// Returns total · Σ w·x / Σ w: the readings present share the weights of the missing ones. Returns None if no reading
    /// has a weight.
    ///
    /// The bound has two parts. Readings that were rounded are off by at most h. The weights a = w/Σw differ from the question's
    /// weights b = W/ΣW; as Σ a = Σ b = 1, the difference multiplies only a reading's distance from the middle of its
    /// range:
    /// |Σ (a − b)(x − middle)| ≤ half the range · Σ|a − b|, and Σ|a − b| ≤ 2 Σ|w − W| / (|Σw| − Σ|w − W|).
    fn value(&self, unit: &str) -> Option<Value> {
        let size = self.weight.abs();
        let sure = size - self.rounded;
        if sure <= 1e-9 * size || sure <= 0.0 {
            return None;
        }
        let (low, high) = self.range;
        let half_range = (high - low) / 2.0;
        let apart = 2.0 * self.rounded / sure;
        let value = self.total * self.sum / self.weight;
        let rounding = 1e-12 * low.abs().max(high.abs());
        let bound = self.total.abs() * (self.off / size + apart * half_range + rounding);
        Some(Value { value, bound, unit: unit.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The readings of weights of one sign that add up to `total`, of which some are there.
    fn of_sign(total: f64, weight: f64, readings: &[f64]) -> OfSign {
        let (count, sum) = (readings.len() as u64, readings.iter().map(|reading| weight * reading).sum());
        let there = weight * readings.len() as f64;
        OfSign {
            count,
            sum,
            weight: there,
            rounded: 0.0,
            range: (0.0, 100.0),
            off: 0.05 * there.abs(),
            total,
        }
    }

    #[test]
    fn weights_that_cancel_out_are_a_difference_of_means() {
        let difference = |before: &[f64], after: &[f64]| {
            let (above, below) = (of_sign(1.0, 0.25, after), of_sign(-1.0, -0.25, before));
            Weighted { above: Some(above), below: Some(below) }
        };
        let near = |found: &Weighted, right: f64| {
            let found = found.value("°C").expect("both signs");
            assert!((found.value - right).abs() < 1e-9 && (found.bound - 0.1).abs() < 1e-9, "{found:?}");
        };
        let all = difference(&[20.0, 21.0, 20.0, 21.0], &[30.0, 31.0, 30.0, 31.0]);
        near(&all, 10.0);
        // Readings of one sign that are missing leave the others' weights alone.
        near(&difference(&[20.0, 21.0], &[30.0, 31.0, 30.0, 31.0]), 10.0);
        let mut both = difference(&[20.0; 4], &[24.0; 4]);
        both.merge(&all);
        near(&both, 7.0);
        for one in [difference(&[], &[30.0; 4]), difference(&[20.0], &[])] {
            assert!(one.value("°C").is_err(), "{one:?}");
        }
        let why = difference(&[], &[30.0; 4]).value("").unwrap_err().to_string();
        assert!(why.contains("weights below 0 are missing"), "{why}");
        assert_eq!(Weighted::default().value(""), Err(ValueError::NO_READING));
    }
}
