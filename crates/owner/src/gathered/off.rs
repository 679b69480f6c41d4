//! How far readings are off that a device rounded.

/// Bounds on the distances δ between the readings of a group and the values that the device got: of readings that were rounded, a
/// bound on each; 0 of others.
///
/// ```
/// use sotto_owner::moments::Off;
///
/// // Two of four readings were rounded, by at most 0.05 each.
/// let off = Off::of(2, 0.05);
/// assert_eq!((off.of_sum(), off.of_mean(4)), (0.1, 0.025));
/// assert!((off.of_norm(4) - (0.005_f64 / 4.0).sqrt()).abs() < 1e-12);
/// assert!(Off::of(0, 0.05).is_nothing());
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Off {
    /// A bound on Σ |δ|.
    sum: f64,
    /// A bound on Σ δ².
    squares: f64,
}

impl Off {
    /// Returns the bounds of a group in which `rounded` readings were rounded, each by at most `error`.
    #[must_use]
    pub fn of(rounded: u64, error: f64) -> Self {
        let rounded = rounded as f64;
        Self { sum: rounded * error, squares: rounded * error * error }
    }

    /// Merges two groups.
    #[must_use]
    pub fn merge(self, other: Self) -> Self {
        Self { sum: self.sum + other.sum, squares: self.squares + other.squares }
    }

    /// Returns true if no reading was rounded.
    #[must_use]
    pub fn is_nothing(self) -> bool {
        self.sum == 0.0
    }

    /// Returns a bound on |Σ δ|.
    #[must_use]
    pub fn of_sum(self) -> f64 {
        self.sum
    }

    /// Returns a bound on the mean |δ| of `count` readings.
    #[must_use]
    pub fn of_mean(self, count: u64) -> f64 {
        self.sum / count as f64
    }

    /// Returns a bound on the root of the mean δ² of `count` readings, and so on their standard deviation.
    #[must_use]
    pub fn of_norm(self, count: u64) -> f64 {
        (self.squares / count as f64).sqrt()
    }
}
