//! Numbers stored as two `f64`, about 106 bits: T. J. Dekker, *A floating-point technique for extending the available
//! precision*, Numerische Mathematik 18 (1971). Products are split, not fused, so that results are the same on every
//! machine and nothing branches on a value.

/// The unevaluated sum high + low; `high` is the `f64` nearest to it.
///
/// ```
/// use sotto_rlwe::{Ckks, DoubleDouble, Params};
///
/// // The scale of the top level is Δ = 2^30, exactly.
/// let params = Params::<Ckks>::default_chain(4096, 0)?;
/// let scale: DoubleDouble = params.exact_scale(params.top_level());
/// assert_eq!(scale, DoubleDouble { high: (1u64 << 30) as f64, low: 0.0 });
/// # Ok::<(), sotto_rlwe::ParameterError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DoubleDouble {
    /// The nearest `f64`.
    pub high: f64,
    /// The remainder, at most half a unit in the last place of `high`.
    pub low: f64,
}

impl DoubleDouble {
    /// Returns the exact sum of two numbers (Dekker, section 4). Range: |high| ≥ |low| or high = 0.
    pub(crate) fn sum(high: f64, low: f64) -> Self {
        let total = high + low;
        Self { high: total, low: low - (total - high) }
    }

    /// Returns the product with a number, with a relative error below 2^-102. Range: |self·factor| < 2^990, factor at
    /// least 2^-900 or 0, so that no part leaves the range of `f64`.
    pub(crate) fn times(self, factor: f64) -> Self {
        let product = self.high * factor;
        let ((a, b), (c, d)) = (split(self.high), split(factor));
        let error = ((a * c - product) + a * d + b * c) + b * d;
        Self::sum(product, error + self.low * factor)
    }

    /// Returns the nearest integer and the remainder, |rest| ≤ 1/2 + 2^-50. Halves round away from zero if `low` is
    /// zero. Range: |self| < 2^62.
    pub(crate) fn round(self) -> (i64, f64) {
        let whole = round(self.high) as f64;
        // Exact except for an error below 2^-53 if `low` is a fraction.
        let rest = (self.high - whole) + self.low;
        // A half is already rounded and stays.
        let more = ceiling(rest.abs() - 0.5).copysign(rest);
        (whole as i64 + more as i64, rest - more)
    }
}

/// Returns the next integer from below, like `f64::ceil`, which is a function call with branches where the processor
/// has no instruction for it. Range: |x| < 2^51.
fn ceiling(x: f64) -> f64 {
    const WHOLE: f64 = 6_755_399_441_055_744.0; // 3·2^51: a number added to it loses its fraction
    let nearest = (x + WHOLE) - WHOLE;
    let below = (nearest - x).to_bits() >> 63;
    nearest + below as i64 as f64
}

/// Splits a number into the sum of two of at most 26 bits (Dekker, section 5; Veltkamp).
fn split(x: f64) -> (f64, f64) {
    let scaled = x * 134_217_729.0; // 2^27 + 1
    let high = scaled - (scaled - x);
    (high, x - high)
}

/// Rounds to the nearest integer, halves away from zero, like `f64::round`, which is a function call with branches
/// where the processor has no instruction for it. The number added is the largest below a half, so that nothing below a
/// half reaches the next integer; from 2^52 on the sum absorbs it. Range: |x| < 2^63.
fn round(x: f64) -> i64 {
    (x + 0.499_999_999_999_999_94_f64.copysign(x)) as i64
}

#[cfg(test)]
mod tests {
    use super::DoubleDouble;

    fn whole(x: i128) -> DoubleDouble {
        let high = x as f64;
        DoubleDouble { high, low: (x - high as i128) as f64 }
    }

    #[test]
    fn products_are_exact_to_106_bits() {
        let mut x: i128 = 0x1234_5678_9abc_def1;
        for i in 0..1000i128 {
            x = (x * 6_364_136_223_846_793_005 + i) % (1 << 61);
            let factor = (x >> 11) as f64;
            let product = whole(x).times(factor);
            let exact = x * factor as i128;
            let off = exact - product.high as i128 - product.low as i128;
            assert!(off.unsigned_abs() <= exact.unsigned_abs() >> 102, "{x} {factor} {off}");
        }
    }

    #[test]
    fn the_ceiling_is_that_of_the_standard_library() {
        let mut state = 1u64;
        for _ in 0..100_000 {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let x = (state as i64 as f64) * (-55f64).exp2() - 0.5;
            for x in [x, x.floor(), x.floor().next_up(), x.floor().next_down(), x.floor() + 0.5, -0.5, -0.0] {
                assert_eq!(super::ceiling(x), x.ceil(), "{x:e}");
            }
        }
    }

    #[test]
    fn rounding_is_to_the_nearest_and_halves_go_outwards() {
        let rounded = |high: f64, low: f64| DoubleDouble { high, low }.round().0;
        for (high, low, expected) in [
            (0.0, 0.0, 0),
            (0.49999999999999994, 0.0, 0),
            (0.5, 0.0, 1),
            (0.5, -1e-16, 0),
            (-0.5, 0.0, -1),
            (2.5, 0.0, 3),
            (2.5, 1e-16, 3),
            (-2.5, 0.0, -3),
            (-2.5, 1e-16, -2),
            (2251799813685249.5, -0.2, 2251799813685249),
            (9007199254740992.0, 0.75, 9007199254740993),
            (2305843009213693952.0, -100.25, 2305843009213693852),
            (-2305843009213693952.0, 100.25, -2305843009213693852),
        ] {
            assert_eq!(rounded(high, low), expected, "{high} + {low}");
        }
        for x in [1i128 << 61, (1 << 61) - 1, (1 << 61) + 1, -(1 << 61) + 1, 0x1fff_ffff_ffff_fe01] {
            assert_eq!(whole(x).round(), (x as i64, 0.0));
        }
    }

    #[test]
    fn rounding_is_that_of_the_standard_library() {
        let mut state = 1u64;
        let check = |x: f64| {
            for x in [x, -x, x.next_up(), x.next_down(), -x.next_up()] {
                assert_eq!(super::round(x), x.round() as i64, "{x:e}");
            }
        };
        let ends = [0.0, 0.5, 1.5, 2.5, 0.499_999_999_999_999_94, 4_503_599_627_370_495.5, 9e15, 4.6e18];
        ends.into_iter().for_each(check);
        for exponent in 0..62 {
            for _ in 0..500 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let mantissa = f64::from_bits(0x3ff0_0000_0000_0000 | (state >> 12));
                check(mantissa * f64::from(exponent).exp2());
                check((mantissa * f64::from(exponent).exp2()).floor() + 0.5);
            }
        }
    }
}
