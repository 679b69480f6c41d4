//! Number literals: exact when whole.

use super::error::ParseErrorKind;
use crate::Constant;

/// A number as written, without a sign.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Number {
    /// Its value when it is whole and below 2^127.
    pub(crate) whole: Option<i128>,
    /// The nearest f64.
    pub(crate) real: f64,
}

impl Number {
    /// Reads `text`, which has the form `digits [. digits] [e [±] digits]` or `. digits [e [±] digits]`.
    pub(crate) fn read(text: &str) -> Result<Self, ParseErrorKind> {
        // The form is one that f64 reads, so a failure can only be about size.
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

/// The exact value of a decimal when it is whole: digits times a power of ten that is not negative.
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
    // An exponent beyond i64 is not that of a whole number below 2^127.
    let power = exponent.parse::<i64>().ok()?.checked_sub(point)?.checked_add(zeros)?;
    significant.parse::<i128>().ok()?.checked_mul(10i128.checked_pow(u32::try_from(power).ok()?)?)
}

/// A constant of these numbers: of integers when all of them are whole.
pub(super) fn constant(numbers: &[Number]) -> Constant {
    match numbers.iter().map(|number| number.whole).collect() {
        Some(whole) => Constant::Integers(whole),
        None => Constant::Reals(numbers.iter().map(|number| number.real).collect()),
    }
}
