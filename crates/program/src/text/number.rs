//! Numeric literals, exact if whole.

/// A numeric literal without its sign.
///
/// ```
/// use sotto_program::text::{Number, number_length};
///
/// let length = number_length(b"2.50e1 per day").expect("a number");
/// let number = Number::read(&"2.50e1 per day"[..length]).expect("not too large");
/// assert_eq!((number.whole, number.real), (Some(25), 25.0));
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Number {
    /// The exact value, if it is whole and below 2^127.
    pub whole: Option<i128>,
    /// The nearest f64.
    pub real: f64,
}

impl Number {
    /// Reads `text`, which has the form `digits [. digits] [e [±] digits]` or `. digits [e [±] digits]`.
    ///
    /// # Errors
    /// `large` or `small` if a 64-bit float cannot hold the number.
    pub fn read(text: &str) -> Result<Self, &'static str> {
        // f64 accepts this form, so only the size can fail.
        let real: f64 = text.parse().map_err(|_| "large")?;
        if !real.is_finite() {
            return Err("large");
        }
        let whole = whole(text);
        if real == 0.0 && whole != Some(0) {
            return Err("small");
        }
        Ok(Self { whole, real })
    }

    /// Returns the number with a minus sign.
    #[must_use]
    pub fn negated(self) -> Self {
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

/// Returns the end of the run of matching bytes that starts at `from`.
pub fn run(bytes: &[u8], from: usize, of: impl Fn(u8) -> bool) -> usize {
    bytes[from..].iter().position(|&byte| !of(byte)).map_or(bytes.len(), |length| from + length)
}

/// Returns the length in bytes of the number at the start of `bytes`.
///
/// # Errors
/// The position of a missing digit.
pub fn number_length(bytes: &[u8]) -> Result<usize, usize> {
    let digits = |from| run(bytes, from, |byte| byte.is_ascii_digit());
    let mut end = digits(0);
    if bytes.get(end) == Some(&b'.') {
        let after = digits(end + 1);
        if after == end + 1 {
            return Err(after);
        }
        end = after;
    }
    if matches!(bytes.get(end), Some(b'e' | b'E')) {
        let signed = end + 1 + usize::from(matches!(bytes.get(end + 1), Some(b'+' | b'-')));
        if signed >= bytes.len() || digits(signed) == signed {
            return Err(signed);
        }
        end = digits(signed);
    }
    Ok(end)
}
