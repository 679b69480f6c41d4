//! Conditions on polynomials and models, decided reading by reading.

use crate::value::{Value, ValueError};

/// The readings for which a condition holds, and those that lie too near to its limit to tell.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Decided {
    /// Number of readings.
    pub(crate) count: u64,
    /// The largest distance from the limit at which a reading may be undecided.
    pub(crate) within: f64,
    holds: Total,
    undecided: Total,
}

/// A number of readings, and the hours that they stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Total {
    count: u64,
    hours: f64,
}

impl Total {
    fn add(&mut self, other: Self) {
        self.count += other.count;
        self.hours += other.hours;
    }
}

impl Decided {
    /// Adds a reading that stands for this many hours, and whether the condition holds for it; None if that is not known.
    pub(crate) fn add(&mut self, holds: Option<bool>, hours: f64) {
        self.count += 1;
        let one = Total { count: 1, hours };
        match holds {
            Some(true) => self.holds.add(one),
            Some(false) => {}
            None => self.undecided.add(one),
        }
    }

    /// Adds the readings of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.within = self.within.max(other.within);
        self.holds.add(other.holds);
        self.undecided.add(other.undecided);
    }

    /// Returns the number of readings for which the condition holds. The bound covers the undecided ones.
    pub(crate) fn number(&self) -> Value {
        between(self.holds.count as f64, self.undecided.count as f64, "")
    }

    /// Returns the hours during which the condition held.
    pub(crate) fn time(&self) -> Result<Value, ValueError> {
        if self.count == 0 {
            return Err(ValueError::NO_READING);
        }
        Ok(between(self.holds.hours, self.undecided.hours, "h"))
    }

    /// Returns the part of the readings for which the condition holds, 0 to 1.
    pub(crate) fn share(&self) -> Result<Value, ValueError> {
        if self.count == 0 {
            return Err(ValueError::NO_READING);
        }
        self.number().over(&Value::exact(self.count as f64))
    }

    /// Returns the number of undecided readings.
    pub(crate) fn undecided(&self) -> u64 {
        self.undecided.count
    }
}

/// Returns `sure` with between none and all of `open` added.
fn between(sure: f64, open: f64, unit: &str) -> Value {
    Value { value: sure + open / 2.0, bound: open / 2.0, unit: unit.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn undecided_readings_widen_the_bound() {
        let mut decided = Decided::default();
        assert!(decided.time().is_err() && decided.share().is_err());
        for holds in [Some(true), Some(true), None, Some(false), None, None] {
            decided.add(holds, 0.5);
        }
        decided.merge(&decided.clone());
        assert_eq!((decided.count, decided.undecided()), (12, 6));
        assert_eq!(decided.number(), Value { value: 7.0, bound: 3.0, unit: String::new() }, "4 to 10");
        let share = decided.share().expect("readings");
        assert!((share.value - 7.0 / 12.0).abs() < 1e-12 && (share.bound - 0.25).abs() < 1e-12, "{share:?}");
        assert_eq!(decided.time(), Ok(Value { value: 3.5, bound: 1.5, unit: "h".to_owned() }));
    }
}
