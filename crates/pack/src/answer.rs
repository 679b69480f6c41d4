//! From decrypted sums of quantised values to answers in the unit of the values. Only divisions by public counts happen
//! here; [`crate::bounds`] says how far the answers can be off.

use crate::Quantiser;

/// Why sums give no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// Nothing was summed.
    #[error("there is no reading in the window: nothing to divide by")]
    NoReadings,
    /// No readings of this count have these sums.
    #[error(
        "no {count} readings have these sums: the key or the layout is another one, or the sums wrapped around"
    )]
    Impossible {
        /// How many readings there are.
        count: u32,
    },
}

impl Quantiser {
    /// The mean of `count` values whose numbers add up to `sum`: `centre + step · sum / count`.
    ///
    /// # Errors
    /// [`NoAnswer`] when nothing was summed, or `|sum| > count · top`.
    pub fn mean(&self, sum: i128, count: u32) -> Result<f64, NoAnswer> {
        self.possible(sum, 0, count)?;
        Ok(self.centre() + self.step() * (sum as f64 / f64::from(count)))
    }

    /// The variance (divided by the count, not by one less) of `count` values whose numbers add up to `sum` and whose
    /// squares add up to `squares`: `step² · (count · squares − sum²) / count²`, the difference exact.
    ///
    /// # Errors
    /// [`NoAnswer`] when nothing was summed, or no `count` numbers up to top have these sums.
    pub fn variance(&self, sum: i128, squares: i128, count: u32) -> Result<f64, NoAnswer> {
        self.possible(sum, squares, count)?;
        let count_wide = i128::from(count);
        // Below 2^(32 + 32 + 62) and 2^(2 · 63): no overflow. Not negative, by Cauchy and Schwarz.
        let spread = count_wide * squares - sum * sum;
        if spread < 0 {
            return Err(NoAnswer::Impossible { count });
        }
        let count = f64::from(count);
        Ok(self.step() * self.step() * (spread as f64 / (count * count)))
    }

    /// Whether `count` numbers up to top could have a sum and a sum of squares of these sizes.
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
