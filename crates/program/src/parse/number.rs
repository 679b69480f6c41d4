//! Numeric literals, exact if whole.

use super::error::ParseErrorKind;
use crate::Constant;

/// A numeric literal without its sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number {
    /// The exact value, if it is whole and below 2^127.
    pub(crate) whole: Option<i128>,
    /// The nearest f64.
    pub(crate) real: f64,
}

impl Number {
    /// Reads `text`, which has the form `digits [. digits] [e [±] digits]` or `. digits [e [±] digits]`.
    pub(crate) fn read(text: &str) -> Result<Self, ParseErrorKind> {
        // f64 accepts this form, so only the size can fail.
        let real: f64 = text.parse().map_err(|_| ParseErrorKind::NumberSize { size: "large" })?;
        if !real.is_finite() {
            return Err(ParseErrorKind::NumberSize { size: "large" });
        }
        let whole = whole(text);
        if real == 0.0 && whole != Some(0) {
            return Err(ParseErrorKind::NumberSize { size: "small" });
        }
        Ok(Self { whole, real })
    }

    pub(crate) fn negated(self) -> Self {
        Self { whole: self.whole.map(|value| -value), real: -self.real }
    }
}

/// Returns the exact value of a whole decimal: digits times a non-negative power of ten.
fn whole(text: &str) -> Option<i128> {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (before, after) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = [before, after].concat();
    let significant = digits.trim_end_matches('0');
    if significant.is_empty() {
        return Some(0);
    }
    let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let point = i64::try_from(after.len()).ok()?;
    // An exponent beyond i64 cannot belong to a whole number below 2^127.
    let power = exponent.parse::<i64>().ok()?.checked_sub(point)?.checked_add(zeros)?;
    significant.parse::<i128>().ok()?.checked_mul(10i128.checked_pow(u32::try_from(power).ok()?)?)
}

/// Makes a constant of these numbers: of integers if all are whole, else of reals.
pub(super) fn constant(numbers: &[Number]) -> Constant {
    match numbers.iter().map(|number| number.whole).collect() {
        Some(whole) => Constant::Integers(whole),
        None => Constant::Reals(numbers.iter().map(|number| number.real).collect()),
    }
}
