//! Quantisation of values to whole numbers.

use crate::bits::{MAX_BITS, MIN_BITS};
use crate::decimal::Decimal;
use crate::range::Range;
use crate::{OutOfRange, RangeError};
#[cfg(not(feature = "std"))]
use num_traits::Float as _;

/// Largest number of steps of half a range: squares of numbers travel as two places of at most 60 bits.
const MOST_HALF_STEPS: f64 = (1_u64 << 38) as f64;

/// Rounds values of a declared range to whole numbers: `q = round((value − centre) / step)`.
///
/// Range: `|q| ≤ top = 2^(bits − 1) − 1`; the ends of the declared range map to ±top.
///
/// ```
/// use sotto_pack::{OutOfRange, Quantiser};
///
/// let boiler = Quantiser::new(-20.0, 120.0, 12)?; // −2047 … 2047
/// let q = boiler.quantise(58.3)?;
/// assert!((boiler.value(q) - 58.3).abs() <= boiler.value_error());
/// assert_eq!(boiler.quantise(120.0), Ok(2047));
/// let refused = OutOfRange { value: 121.0, minimum: -20.0, maximum: 120.0 };
/// assert_eq!(boiler.quantise(121.0), Err(refused));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quantiser {
    range: Range,
    centre: f64,
    step: f64,
    top: i64,
    /// The step as it is written; `None` if values are not multiples of a written number.
    written: Option<Decimal>,
}

impl Quantiser {
    /// Makes a quantiser for values in `minimum ..= maximum` to whole numbers of `bits` bits, the sign
    /// included.
    ///
    /// # Errors
    /// [`RangeError`] if the ends are not finite or not in order, the range is too narrow for f64, or bits
    /// are not [`MIN_BITS`] to [`MAX_BITS`].
    pub fn new(minimum: f64, maximum: f64, bits: u32) -> Result<Self, RangeError> {
        if !(MIN_BITS..=MAX_BITS).contains(&bits) {
            return Err(RangeError::Bits { bits });
        }
        let top = top(bits) as f64;
        let range = Range::new(minimum, maximum, top)?;
        let (centre, step, top) = (range.centre(), range.half() / top, self::top(bits));
        Ok(Self { range, centre, step, top, written: None })
    }

    /// Makes a quantiser for values in `minimum ..= maximum` that counts steps of `resolution` from its
    /// multiple nearest to the middle of the range. Values that are multiples of the resolution are
    /// unchanged, except for rounding in f64.
    ///
    /// Range: `|q| ≤ top`, the number of steps to the further end, rounded up; at most 2^38 + 1.
    ///
    /// # Errors
    /// [`RangeError`] if the ends are not finite or not in order, the range is too narrow for f64, or the
    /// resolution is not a number above 0, at most the range and at least 2^-39 of it.
    pub fn with_resolution(minimum: f64, maximum: f64, resolution: f64) -> Result<Self, RangeError> {
        let none = RangeError::Resolution { resolution, minimum, maximum };
        if !(resolution.is_finite() && resolution > 0.0) {
            return Err(none);
        }
        let range = Range::new(minimum, maximum, 1.0)?;
        let steps = range.half() / resolution;
        if !(0.5..=MOST_HALF_STEPS).contains(&steps) {
            return Err(none);
        }
        let range = Range::new(minimum, maximum, steps)?;
        let centre = (range.centre() / resolution).round() * resolution;
        let furthest = (maximum - centre).max(centre - minimum);
        // Slightly less, so that f64's rounding does not add a step if the end is a multiple of the
        // resolution.
        let top = (furthest / resolution - 1e-6).ceil().max(1.0) as i64;
        Ok(Self { range, centre, step: resolution, top, written: Decimal::of(resolution) })
    }

    /// Returns the smallest and the largest value of the declared range.
    #[must_use]
    pub fn range(&self) -> (f64, f64) {
        (self.range.minimum, self.range.maximum)
    }

    /// Returns the value that maps to 0: the middle of the range, or the multiple of the resolution nearest
    /// to it.
    #[must_use]
    pub fn centre(&self) -> f64 {
        self.centre
    }

    /// Returns the size of 1 in the unit of the values.
    #[must_use]
    pub fn step(&self) -> f64 {
        self.step
    }

    /// Returns the bits of a number, its sign included.
    #[must_use]
    pub fn bits(&self) -> u32 {
        65 - self.top.leading_zeros()
    }

    /// Returns the largest |q|.
    #[must_use]
    pub fn top(&self) -> i64 {
        self.top
    }

    /// Returns the number for a value.
    ///
    /// # Errors
    /// [`OutOfRange`] for a value outside the declared range, an infinity or a NaN.
    pub fn quantise(&self, value: f64) -> Result<i64, OutOfRange> {
        self.range.check(value)?;
        // Within ±top except for rounding, so the conversion does not saturate.
        let q = ((value - self.centre) / self.step).round() as i64;
        Ok(q.clamp(-self.top, self.top))
    }

    /// Returns true if a value is a whole multiple of the resolution, so that [`Quantiser::quantise`] does not round it.
    /// Decides on decimals: the value is the f64 nearest to that multiple. Values of at most 15 digits are then equal to it.
    /// False where products do not fit 53 bits, and for quantisers of bits.
    ///
    /// ```
    /// use sotto_pack::Quantiser;
    ///
    /// let rain = Quantiser::with_resolution(0.0, 50.0, 0.01)?;
    /// assert!(rain.is_multiple(0.29) && rain.is_multiple(3.72));
    /// assert!(!rain.is_multiple(0.125) && !rain.is_multiple(0.290_000_000_1));
    /// # Ok::<(), sotto_pack::RangeError>(())
    /// ```
    #[must_use]
    pub fn is_multiple(&self, value: f64) -> bool {
        let steps = (value / self.step).round();
        self.written.and_then(|written| written.times(steps)).is_some_and(|multiple| multiple == value)
    }

    /// Returns the steps from the middle to a value: a whole number if and only if it is a multiple.
    pub(crate) fn steps(&self, value: f64) -> f64 {
        let steps = (value - self.centre) / self.step;
        let whole = steps.round();
        match (self.is_multiple(value), steps == whole) {
            (true, _) => whole,
            (false, true) => whole + f64::EPSILON * whole.abs().max(1.0),
            (false, false) => steps,
        }
    }

    /// Returns the value of a number.
    #[must_use]
    pub fn value(&self, q: i64) -> f64 {
        self.centre + q as f64 * self.step
    }

    /// Returns the sum of `count` values from the sum of their numbers. It is the f64 nearest to the decimal sum where products
    /// fit 53 bits.
    #[must_use]
    pub fn sum(&self, count: u64, sum: i128) -> f64 {
        let middle = (self.centre / self.step).round();
        let steps = middle as i128 * i128::from(count) + sum;
        let exact = self.written.and_then(|written| written.times(steps as f64));
        exact.unwrap_or(self.centre * count as f64 + self.step * sum as f64)
    }

    /// Returns the maximum distance from `v` to `value(quantise(v))`: half a step, and rounding in f64.
    ///
    /// Proof. Let u = 2^-53, M the largest |value| and R ≤ M half the range. The difference and the quotient
    /// have a relative error of 2u, which is at most 2uR in the value. Rounding to a whole number adds
    /// step/2. The way back rounds the product (uR) and the sum (uM). So the error is at most step/2 + 3uR +
    /// uM and terms in u², which is below step/2 + 8uM. A range is refused if step < 2^-40·M, so the second
    /// part is below step/1024.
    #[must_use]
    pub fn value_error(&self) -> f64 {
        self.step / 2.0 + 4.0 * f64::EPSILON * self.range.furthest()
    }
}

/// Returns 2^(bits − 1) − 1 for 2 to 32 bits.
fn top(bits: u32) -> i64 {
    (1 << (bits - 1)) - 1
}
