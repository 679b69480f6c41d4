//! Conversions of numbers to readings, on decimals and rounded once: a factor of 0.001 makes 1.234 of 1234.

/// The largest power of ten that a double holds exactly.
const MOST_PLACES: u32 = 22;
/// Up to this size a double holds every whole number.
const EXACT: u128 = 1 << 53;
/// Whole numbers below this size have at most 15 digits.
const SHORT: f64 = 1e15;

/// Converts values: value · scale + offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Conversion {
    pub(super) scale: f64,
    pub(super) offset: f64,
    /// Both as they are written.
    written: Option<(Written, Written)>,
}

/// A number `digits · 10^places`.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Written {
    digits: i128,
    places: i32,
}

impl Written {
    /// Returns a number with the fewest digits that stand for it, as it was written if it had at most 15.
    fn of(number: f64) -> Option<Self> {
        // Most have few decimals, and 15 digits stand for one number.
        for (places, power) in [(0, 1.0), (-1, 10.0), (-2, 100.0), (-3, 1000.0)] {
            let digits = (number * power).round();
            if digits.abs() < SHORT && digits / power == number {
                return Some(Self { digits: digits as i128, places });
            }
        }
        let text = format!("{number:e}");
        let (digits, exponent) = text.split_once('e')?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        let places = exponent.parse::<i32>().ok()? - i32::try_from(fraction.len()).ok()?;
        Some(Self { digits: format!("{whole}{fraction}").parse().ok()?, places })
    }

    fn times(self, other: Self) -> Option<Self> {
        let digits = self.digits.checked_mul(other.digits)?;
        Some(Self { digits, places: self.places + other.places })
    }

    fn plus(self, other: Self) -> Option<Self> {
        if self.digits == 0 || other.digits == 0 {
            return Some(if self.digits == 0 { other } else { self });
        }
        let places = self.places.min(other.places);
        let of = |written: Self| {
            let more = 10_i128.checked_pow((written.places - places).unsigned_abs())?;
            written.digits.checked_mul(more)
        };
        Some(Self { digits: of(self)?.checked_add(of(other)?)?, places })
    }

    /// Returns the nearest double.
    fn nearest(self) -> Option<f64> {
        let Self { digits, places } = self;
        if digits.unsigned_abs() <= EXACT && places.unsigned_abs() <= MOST_PLACES && places <= 0 {
            // The quotient of two exact doubles is rounded once.
            return Some(digits as f64 / 10_f64.powi(-places));
        }
        format!("{digits}e{places}").parse().ok()
    }
}

impl Conversion {
    /// The conversion that changes nothing.
    pub(super) const NONE: Self = Self { scale: 1.0, offset: 0.0, written: None };

    pub(super) fn new(scale: f64, offset: f64) -> Self {
        Self { scale, offset, written: Written::of(scale).zip(Written::of(offset)) }
    }

    /// Returns `number · scale + offset` of decimal numbers, as the nearest double. One with too many digits is computed in
    /// doubles.
    pub(super) fn of(&self, number: f64) -> f64 {
        let Self { scale, offset, written } = *self;
        if scale == 1.0 && offset == 0.0 {
            return number;
        }
        let exactly = || {
            let (scale, offset) = written?;
            Written::of(number)?.times(scale)?.plus(offset)?.nearest()
        };
        exactly().unwrap_or(number * scale + offset)
    }

    /// Returns the conversion by this one, and then by another.
    pub(super) fn then(&self, next: &Self) -> Self {
        Self::new(Self::new(next.scale, 0.0).of(self.scale), next.of(self.offset))
    }
}

/// Returns `number / divisor`: a decimal number of at most 15 digits if it is one exactly.
pub(super) fn quotient(number: f64, divisor: f64) -> f64 {
    let quotient = number / divisor;
    let short = format!("{quotient:.14e}").parse().unwrap_or(quotient);
    if Conversion::new(divisor, 0.0).of(short) == number { short } else { quotient }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_the_shortest_that_stands_for_it() {
        let mut state = 1_u64;
        for _ in 0..100_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let digits = (state >> 20) as i64 - (1 << 43);
            for number in [digits as f64, digits as f64 / 1e3, digits as f64 / 1e7, f64::from_bits(state)] {
                if !number.is_finite() {
                    continue;
                }
                let written = Written::of(number).unwrap();
                let text = format!("{}e{}", written.digits, written.places);
                assert_eq!(text.parse::<f64>().unwrap(), number, "{text}");
                assert_eq!(written.nearest(), Some(number), "{text}");
            }
        }
    }

    #[test]
    fn decimals_are_rounded_once() {
        for (number, scale, offset, expected) in [
            (1234.0, 0.001, 0.0, 1.234),
            (0.29, 100.0, 0.0, 29.0),
            (0.01, 25.4, 0.0, 0.254),
            (273.25, 1.0, -273.15, 0.1),
            (-17.9, 0.1, 0.3, -1.49),
            (0.0, 0.1, 0.3, 0.3),
        ] {
            let found = Conversion::new(scale, offset).of(number);
            assert_eq!(found, expected, "{number} · {scale} + {offset}");
        }
        let of = |number, scale, offset| Conversion::new(scale, offset).of(number);
        assert!(of(1e300, 1e300, 0.0).is_infinite() && of(1e-300, 1.0, 1e300) == 1e300);
        assert!(of(f64::NAN, 2.0, 0.0).is_nan() && of(f64::INFINITY, 2.0, 0.0).is_infinite());
        let both = Conversion::new(0.1, 0.3).then(&Conversion::new(1000.0, -273.15));
        assert_eq!((both.scale, both.offset), (100.0, 26.85));
        assert_eq!((quotient(0.0254, 1e-3), quotient(1e5, 1e2)), (25.4, 1000.0));
        assert_eq!(quotient(5.0, 9.0), 5.0 / 9.0);
    }
}
