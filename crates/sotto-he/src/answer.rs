//! Decrypted values with their bound.

use core::fmt;

use crate::scheme::{Arithmetic, Real};

/// Values of an answer that Display writes out.
const SHOWN: usize = 12;

/// Relative error of the units' and the decoded values' arithmetic in f64.
pub(crate) const ROUNDING: f64 = 1.0 / (1_u64 << 48) as f64;

/// Decrypted values: each is within [`bound`](Answer::bound) of the exact one, except with probability 2^-128. The bound of
/// whole numbers is 0.
///
/// ```
/// use sotto::{Ckks, Context};
///
/// let context = Context::<Ckks>::for_depth(1)?;
/// let (secret, _) = context.keys(&mut sotto::secure_rng()?)?;
/// let answer = secret.decrypt(&(&secret.encrypt(&[1.5, 2.5])? * 2.0)?)?;
/// assert!((answer.values()[1] - 5.0).abs() <= answer.bound());
/// println!("{answer}"); // 3.00000000, 5.00000000 ± 0.00000017
/// # Ok::<(), sotto::Error>(())
/// ```
pub struct Answer<S: Arithmetic> {
    values: Vec<S::Value>,
    bound: f64,
}

impl<S: Arithmetic> Answer<S> {
    pub(crate) fn new(values: Vec<S::Value>, bound: f64) -> Self {
        Self { values, bound }
    }

    /// Returns the values, as many as the vector had.
    pub fn values(&self) -> &[S::Value] {
        &self.values
    }

    /// Returns the first value: of a sum, a mean or a dot product the only one.
    pub fn value(&self) -> S::Value {
        self.values.first().copied().unwrap_or_default()
    }

    /// Returns a bound on the error of every value.
    pub fn bound(&self) -> f64 {
        self.bound
    }

    /// Takes the values out without a copy.
    pub fn into_values(self) -> Vec<S::Value> {
        self.values
    }
}

impl<S: Arithmetic> fmt::Debug for Answer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Answer({} values ± {:e})", self.values.len(), self.bound)
    }
}

/// `value ± bound`, with two digits of the bound, which is rounded up. Of long answers the first 12 values. A width aligns
/// to the right.
impl<S: Arithmetic> fmt::Display for Answer<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = digits(self.bound);
        let shown = self.values.iter().take(SHOWN);
        let shown: Vec<String> =
            shown.map(|value| format!("{:.digits$}", Into::<Real>::into(*value).0)).collect();
        let mut text = shown.join(", ");
        if self.values.len() > SHOWN {
            text += &format!(", … ({} values)", self.values.len());
        }
        if self.bound > 0.0 {
            let step = 10_f64.powi(digits as i32);
            text += &format!(" ± {:.digits$}", (self.bound * step).ceil() / step);
        }
        write!(f, "{text:>width$}", width = f.width().unwrap_or(0))
    }
}

/// Decimals that show two digits of the bound.
fn digits(bound: f64) -> usize {
    if bound <= 0.0 { 0 } else { (1.0 - bound.log10().floor()).clamp(0.0, 15.0) as usize }
}
