//! Non-negative numbers stored by their logarithm: bounds exceed the range of f64.

use core::ops::{Add, Div, Mul};

#[cfg(not(feature = "std"))]
use num_traits::Float as _;

/// A non-negative number 2^x, held as x; −∞ is zero.
///
/// ```
/// use sotto_rlwe::Log2;
///
/// let sum = Log2::of(3.0) + Log2::of(5.0);
/// assert!((sum.value() - 8.0).abs() < 1e-9);
/// // A bound beyond the range of f64.
/// assert_eq!(Log2(1500.0) * Log2(200.0), Log2(1700.0));
/// assert_eq!(Log2::ZERO * Log2(200.0), Log2::ZERO);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Log2(pub f64);

impl Log2 {
    /// log2(0): −∞.
    pub const ZERO: Self = Self(f64::NEG_INFINITY);
    /// One.
    pub const ONE: Self = Self(0.0);

    /// Converts a non-negative public number: the logarithm may use a look-up table.
    pub fn of(value: f64) -> Self {
        Self(value.log2())
    }

    /// Converts the magnitude of a number that may be secret. The result is never below the logarithm, and less than
    /// 2^-39 above. Time and addresses do not depend on the number, and the bits are the same on every machine.
    pub fn above(value: f64) -> Self {
        // An empty sum is -0.
        let bits = value.to_bits() & (u64::MAX >> 1);
        // A subnormal number is an integer multiple of 2^-1074: that unit is restored at the end.
        let subnormal = mask(bits.wrapping_sub(f64::MIN_POSITIVE.to_bits()) >> 63);
        let normal = select(subnormal, (bits as i64 as f64).to_bits(), bits);
        // 2^exponent times a number in [√½, √2).
        let turns = normal.wrapping_sub(core::f64::consts::FRAC_1_SQRT_2.to_bits()) as i64 >> 52;
        let rest = f64::from_bits(normal.wrapping_sub((turns as u64) << 52));
        let exponent = turns - (1074 & subnormal) as i64;
        let finite = (exponent as f64 + logarithm(rest) + MARGIN).to_bits();
        let zero = mask(bits.wrapping_sub(1) >> 63);
        let endless = mask(f64::MAX.to_bits().wrapping_sub(bits) >> 63);
        Self(f64::from_bits(select(zero, f64::NEG_INFINITY.to_bits(), select(endless, bits, finite))))
    }

    /// Returns the number, infinite beyond the range of f64.
    pub fn value(self) -> f64 {
        self.0.exp2()
    }

    /// Returns the larger of two.
    pub fn max(self, other: Self) -> Self {
        if self.0 >= other.0 { self } else { other }
    }

    /// Returns the smaller of two.
    pub fn min(self, other: Self) -> Self {
        if self.0 <= other.0 { self } else { other }
    }
}

/// More than the error of [`logarithm`] and of the two sums with an exponent, each at most 2^-43.
const MARGIN: f64 = 1.0 / (1u64 << 40) as f64;

/// Returns log2 of x in [√½, √2) with an error below 2^-45: 2/ln 2 · artanh((x − 1)/(x + 1)) by its series. The
/// quotient is below 0.1716, the remainder after its 19th power below 2^-56. The time of a division may depend on its
/// operands, so 1/(x + 1) is found by Newton's method, from a line with an error below 2^-6; three steps square that to
/// below 2^-48 plus the rounding of f64.
fn logarithm(x: f64) -> f64 {
    let sum = x + 1.0;
    let mut inverse = 0.985_06 - 0.239_02 * sum;
    for _ in 0..3 {
        inverse *= 2.0 - sum * inverse;
    }
    let quotient = (x - 1.0) * inverse;
    let square = quotient * quotient;
    let series = (0..10).rev().fold(0.0, |series, k| series * square + 1.0 / f64::from(2 * k + 1));
    2.0 * core::f64::consts::LOG2_E * quotient * series
}

/// Returns all ones for 1, zero for 0. `black_box` keeps the compiler from turning the mask into a branch.
fn mask(bit: u64) -> u64 {
    core::hint::black_box(bit.wrapping_neg())
}

fn select(mask: u64, yes: u64, no: u64) -> u64 {
    (yes & mask) | (no & !mask)
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

    #[test]
    fn above_is_never_below_and_hardly_above() {
        let mut state = 1u64;
        let check = |value: f64| {
            // The error of libm is less than a unit in the last place, at most 2^-42.
            let (of, above) = (Log2::of(value).0, Log2::above(value).0);
            assert!(above >= of && above < of + (-39f64).exp2(), "{value:e}: {of} {above}");
            assert_eq!(Log2::above(-value).0.to_bits(), above.to_bits());
        };
        let ends = [f64::MIN_POSITIVE, f64::MAX, f64::from_bits(1), f64::from_bits(3), 1.0, 2.0, 3.0];
        let roots = [core::f64::consts::FRAC_1_SQRT_2, core::f64::consts::SQRT_2];
        for value in ends.into_iter().chain(roots) {
            [value, value.next_down(), value.next_up()].into_iter().filter(|x| x.is_normal()).for_each(check);
        }
        for exponent in 0..62 {
            check(f64::from_bits(1u64 << exponent));
            check(f64::from_bits((2u64 << exponent) - 1));
        }
        for _ in 0..1_000_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            // Every exponent, and numbers around one, where the exponent hides no error.
            check(f64::from_bits((state >> 1).min(f64::MAX.to_bits())));
            check(0.7 + 0.8 * ((state >> 11) as f64) / (1u64 << 53) as f64);
            check(1.0 + ((state >> 34) as f64) / (1u64 << 53) as f64);
        }
        assert_eq!([0.0, -0.0].map(Log2::above), [Log2::ZERO; 2]);
        assert_eq!(Log2::above(f64::INFINITY).0, f64::INFINITY);
        assert!(Log2::above(f64::NAN).0.is_nan());
    }
}
