//! Decimal numbers, as people write them.

use alloc::format;

#[cfg(not(feature = "std"))]
use num_traits::Float as _;

/// The largest whole number up to which f64 has every one: 2^53.
const EXACT: f64 = 9_007_199_254_740_992.0;
/// The largest power of ten that is exact in f64.
const MOST_PLACES: i32 = 22;

/// A number `digits · 10^places`, with the fewest digits that f64 tells from others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Decimal {
    digits: f64,
    /// 10 to the absolute value of the places.
    power: f64,
    is_fraction: bool,
}

impl Decimal {
    /// Returns the decimal of a number. Returns None if it has more digits or places than f64 multiplies exactly.
    pub(crate) fn of(number: f64) -> Option<Self> {
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e')?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let digits: f64 = format!("{whole}{fraction}").parse().ok()?;
        let places = exponent.parse::<i32>().ok()? - i32::try_from(fraction.len()).ok()?;
        let fits = digits.abs() <= EXACT && places.abs() <= MOST_PLACES;
        let power = format!("1e{}", places.abs()).parse().ok()?;
        fits.then_some(Self { digits, power, is_fraction: places < 0 })
    }

    /// Returns the f64 nearest to `factor` times this number. Returns None if the factor is not whole, or a product has more
    /// than 53 bits.
    pub(crate) fn times(self, factor: f64) -> Option<f64> {
        let digits = factor * self.digits;
        // A product that was rounded is at least 2^53.
        let whole = factor.fract() == 0.0 && digits.abs() < EXACT;
        if self.is_fraction {
            // Both are exact, and a quotient is rounded once.
            return whole.then(|| digits / self.power);
        }
        let product = digits * self.power;
        (whole && product.abs() < EXACT).then_some(product)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn multiples_are_those_of_the_written_number() {
        for (written, factor, product) in [
            (0.1, 3.0, Some(0.3)),
            (0.01, 29.0, Some(0.29)),
            (0.254, 1000.0, Some(254.0)),
            (25.0, -3.0, Some(-75.0)),
            (1e3, 7.0, Some(7000.0)),
            (1e-9, 1.0, Some(1e-9)),
            (0.1, 0.5, None),
            (0.1, 1e17, None),
            (1e20, 1.0, None),
        ] {
            assert_eq!(Decimal::of(written).and_then(|written| written.times(factor)), product, "{written}");
        }
        assert_eq!(Decimal::of(1e-30), None);
    }
}
