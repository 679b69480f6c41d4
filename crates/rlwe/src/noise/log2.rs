//! Non-negative numbers by their logarithm: bounds reach far beyond f64.

use core::ops::{Add, Div, Mul};

/// A non-negative number 2^x, held as x; −∞ is zero.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Log2(pub f64);

impl Log2 {
    /// Zero.
    pub const ZERO: Self = Self(f64::NEG_INFINITY);
    /// One.
    pub const ONE: Self = Self(0.0);

    /// Of a non-negative number.
    pub fn of(value: f64) -> Self {
        Self(value.log2())
    }

    /// The number, infinite where f64 ends.
    pub fn value(self) -> f64 {
        self.0.exp2()
    }

    /// The larger of two.
    pub fn max(self, other: Self) -> Self {
        if self.0 >= other.0 { self } else { other }
    }

    /// The smaller of two.
    pub fn min(self, other: Self) -> Self {
        if self.0 <= other.0 { self } else { other }
    }
}

impl Add for Log2 {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        let (high, low) = if self.0 >= other.0 { (self.0, other.0) } else { (other.0, self.0) };
        if low == f64::NEG_INFINITY {
            return Self(high);
        }
        Self(high + (low - high).exp2().ln_1p() * core::f64::consts::LOG2_E)
    }
}

impl Mul for Log2 {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        if self == Self::ZERO || other == Self::ZERO { Self::ZERO } else { Self(self.0 + other.0) }
    }
}

impl Div for Log2 {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        if self == Self::ZERO { self } else { Self(self.0 - other.0) }
    }
}

#[cfg(test)]
mod tests {
    use super::Log2;

    #[test]
    fn arithmetic() {
        let close = |a: Log2, b: f64| assert!((a.value() - b).abs() < 1e-9 * b.max(1.0), "{a:?} {b}");
        close(Log2::of(3.0) + Log2::of(5.0), 8.0);
        close(Log2::of(3.0) * Log2::of(5.0), 15.0);
        close(Log2::of(15.0) / Log2::of(5.0), 3.0);
        close(Log2::ZERO + Log2::of(5.0), 5.0);
        close(Log2::ZERO + Log2::ZERO, 0.0);
        close(Log2::ZERO * Log2::of(5.0), 0.0);
        assert_eq!(Log2(2000.0) + Log2(0.0), Log2(2000.0));
    }
}
