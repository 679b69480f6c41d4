//! The expected results of operations, on clear values.

use sotto_harness::protocol::Values;

use crate::error::EngineError;

/// Slots in the clear, the number of columns, and t for integers.
#[derive(Clone)]
pub(super) struct Clear {
    pub(super) values: Values,
    pub(super) columns: usize,
    pub(super) modulus: u64,
}

/// The largest error bound with which a comparison of reals is meaningful.
const LARGEST_BOUND: f64 = 1e-2;

impl Clear {
    fn pairwise(&self, other: &Self, integer: fn(i128, i128) -> i128, real: fn(f64, f64) -> f64) -> Self {
        let values = match (&self.values, &other.values) {
            (Values::Integers(a), Values::Integers(b)) => {
                let modulus = i128::from(self.modulus);
                let one =
                    |(a, b): (&i64, &i64)| integer(i128::from(*a), i128::from(*b)).rem_euclid(modulus) as i64;
                Values::Integers(a.iter().zip(b).map(one).collect())
            }
            (a, b) => Values::Reals(a.reals().into_iter().zip(b.reals()).map(|(a, b)| real(a, b)).collect()),
        };
        Self { values, ..*self }
    }

    pub(super) fn plus(&self, other: &Self) -> Self {
        self.pairwise(other, |a, b| a + b, |a, b| a + b)
    }

    pub(super) fn minus(&self, other: &Self) -> Self {
        self.pairwise(other, |a, b| a - b, |a, b| a - b)
    }

    pub(super) fn times(&self, other: &Self) -> Self {
        self.pairwise(other, |a, b| a * b, |a, b| a * b)
    }

    pub(super) fn negated(&self) -> Self {
        self.pairwise(self, |a, _| -a, |a, _| -a)
    }

    /// Returns the slots with every row rotated to the left by one.
    pub(super) fn rotated(&self) -> Self {
        let mut values = self.values.clone();
        match &mut values {
            Values::Integers(values) => {
                values.chunks_mut(self.columns).for_each(|row| row.rotate_left(1));
            }
            Values::Reals(values) => values.chunks_mut(self.columns).for_each(|row| row.rotate_left(1)),
        }
        Self { values, ..*self }
    }

    /// Refuses a wrong result: integers must be equal, reals within the bound, which must be at most `LARGEST_BOUND`.
    pub(super) fn require(&self, found: &Values, bound: f64) -> Result<(), EngineError> {
        let right = match (&self.values, found) {
            (Values::Integers(expected), Values::Integers(found)) => expected == found,
            (expected, found) => {
                let (expected, found) = (expected.reals(), found.reals());
                let close = |(a, b): (&f64, &f64)| (a - b).abs() <= bound;
                bound <= LARGEST_BOUND
                    && expected.len() == found.len()
                    && expected.iter().zip(&found).all(close)
            }
        };
        if right { Ok(()) } else { Err(EngineError::Wrong) }
    }
}
