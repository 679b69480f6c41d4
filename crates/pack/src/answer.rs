//! Computes answers in the unit of the values from decrypted sums of quantised values. Only divides by public
//! counts; [`crate::bounds`] bounds the error of the answers.

use crate::Quantiser;

/// The reason why sums give no answer.
///
/// ```
/// use sotto_pack::{NoAnswer, Quantiser};
///
/// let boiler = Quantiser::new(0.0, 100.0, 8)?; // −127 … 127
/// assert_eq!(boiler.mean(2 * 127, 2), Ok(100.0));
/// assert_eq!(boiler.mean(0, 0), Err(NoAnswer::NoReadings));
/// assert_eq!(boiler.mean(1000, 2), Err(NoAnswer::Impossible { count: 2 }));
/// # Ok::<(), sotto_pack::RangeError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// There are no readings.
    #[error("there is no reading in the window: nothing to divide by")]
    NoReadings,
    /// No set of this many readings has these sums.
    #[error(
        "no {count} readings have these sums: the key or the layout is wrong, or the sums wrapped around"
    )]
    Impossible {
        /// The number of readings.
        count: u32,
    },
}

impl Quantiser {
    /// Returns the mean of `count` values whose numbers add up to `sum`: `centre + step · sum / count`.
    ///
    /// # Errors
    /// [`NoAnswer`] if `count` is 0, or `|sum| > count · top`.
    pub fn mean(&self, sum: i128, count: u32) -> Result<f64, NoAnswer> {
        self.possible(sum, 0, count)?;
        Ok(self.centre() + self.step() * (sum as f64 / f64::from(count)))
    }

    /// Returns the variance (divided by the count, not by one less) of `count` values whose numbers add up to
    /// `sum` and whose squares add up to `squares`: `step² · (count · squares − sum²) / count²`. The
    /// difference is exact.
    ///
    /// # Errors
    /// [`NoAnswer`] if `count` is 0, or no `count` numbers up to top have these sums.
    pub fn variance(&self, sum: i128, squares: i128, count: u32) -> Result<f64, NoAnswer> {
        self.possible(sum, squares, count)?;
        let count_wide = i128::from(count);
        // Below 2^(32 + 32 + 62) and 2^(2 · 63), so it does not overflow. Not negative, by Cauchy and
        // Schwarz.
        let spread = count_wide * squares - sum * sum;
        if spread < 0 {
            return Err(NoAnswer::Impossible { count });
        }
        let count = f64::from(count);
        Ok(self.step() * self.step() * (spread as f64 / (count * count)))
    }

    /// Refuses a sum and a sum of squares too large for `count` numbers up to top.
    fn possible(&self, sum: i128, squares: i128, count: u32) -> Result<(), NoAnswer> {
        if count == 0 {
            return Err(NoAnswer::NoReadings);
        }
        let (count_wide, top) = (i128::from(count), i128::from(self.top()));
        let most = (count_wide * top).unsigned_abs();
        if sum.unsigned_abs() > most || !(0..=count_wide * top * top).contains(&squares) {
            return Err(NoAnswer::Impossible { count });
        }
        Ok(())
    }
}
