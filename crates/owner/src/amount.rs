//! Amounts in the form in which people write them: `5m`, `-20..120`.

use serde::{Deserialize, Serialize};
use sotto_pack::{Period, PeriodError};

/// The time between two readings in the form used in `sotto.toml`, a number and a unit: `200ms`, `1.5s`, `5m`, `1h`, `7d`; a
/// frequency, `60Hz`; or a fraction, `1/60s`. From 1 ms to 30 days.
///
/// ```
/// use sotto_owner::{Every, NotAnAmount};
///
/// let every: Every = "1.5s".parse()?;
/// assert_eq!(every.period.milliseconds(), Some(1500));
/// let mains: Every = "60Hz".parse()?;
/// assert_eq!((mains.period.seconds(), mains), ((1, 60), "1/60s".parse()?));
/// let refused: Result<Every, NotAnAmount> = "1mo".parse(); // months differ in length
/// assert!(refused.is_err());
/// let refused: Result<Every, NotAnAmount> = "5 minutes".parse(); // 5m
/// assert!(refused.is_err());
/// # Ok::<(), NotAnAmount>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Every {
    /// The time, at most 30 days.
    pub period: Period,
}

impl Every {
    /// Makes the time of whole milliseconds, at least 1.
    #[must_use]
    pub const fn from_milliseconds(milliseconds: u32) -> Self {
        Self { period: Period::from_milliseconds(milliseconds) }
    }

    /// Returns the milliseconds, rounded up.
    #[must_use]
    pub fn milliseconds(&self) -> u32 {
        self.period.ceil()
    }
}

/// Returns a number of bytes in words: up to 999 as it is, more with three digits.
///
/// ```
/// let words = [1, 999, 1234, 45_600, 999_999, 4_204_800].map(sotto_owner::bytes_in_words);
/// assert_eq!(words, ["1 byte", "999 bytes", "1.23 kB", "45.6 kB", "1.00 MB", "4.20 MB"]);
/// ```
#[must_use]
pub fn bytes_in_words(bytes: u64) -> String {
    match bytes {
        1 => return "1 byte".to_owned(),
        0..1000 => return format!("{bytes} bytes"),
        _ => {}
    }
    let (mut size, mut unit) = (bytes as f64 / 1e3, "kB");
    for larger in ["MB", "GB", "TB"] {
        // 999.5 has four digits when it is rounded.
        if size >= 999.5 {
            (size, unit) = (size / 1e3, larger);
        }
    }
    let places = [9.995, 99.95].iter().filter(|limit| size < **limit).count();
    format!("{size:.places$} {unit}")
}

/// The error for an amount that cannot be read.
///
/// Example: [`Every`]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no {what}: write {way_out}")]
pub struct NotAnAmount {
    text: String,
    what: &'static str,
    way_out: &'static str,
}

impl NotAnAmount {
    fn new(text: &str, what: &'static str, way_out: &'static str) -> Self {
        Self { text: text.chars().take(64).collect(), what, way_out }
    }
}

const UNITS: [(&str, u64); 5] = [("ms", 1), ("s", 1000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];
const DAY: u64 = 86_400_000;

/// The longest period: 30 days.
const LONGEST_PERIOD: u64 = 30 * DAY;

/// Units of calendars, whose lengths differ.
const MONTHS: [&str; 8] = ["mo", "mon", "month", "months", "M", "y", "year", "years"];

impl std::str::FromStr for Every {
    type Err = NotAnAmount;

    fn from_str(text: &str) -> Result<Self, NotAnAmount> {
        let unit = text.trim().trim_start_matches(|c: char| !c.is_ascii_alphabetic());
        let wrong = |way_out| NotAnAmount::new(text, "period", way_out);
        let period = match fraction(text, unit) {
            _ if MONTHS.contains(&unit) => return Err(wrong(NO_MONTHS)),
            Some((time, of)) if time.div_ceil(of) <= LONGEST_PERIOD.into() => Period::new(time, of),
            _ => Err(PeriodError::Long),
        };
        let period = period.map_err(|error| match error {
            PeriodError::Short => wrong("at least 1ms, at most 1000Hz: times are in milliseconds"),
            PeriodError::Fine => {
                wrong("a frequency or a fraction, such as 60Hz, 44.1Hz or 1/60s: in milliseconds its denominator is at most 65535")
            }
            PeriodError::Long | PeriodError::Terms => wrong(
                "a number and ms, s, m, h or d, at most 30d, or a number and Hz, such as 30s, 0.5s, 5m, 7d, 60Hz or 1/60s",
            ),
        });
        Ok(Self { period: period? })
    }
}

const NO_MONTHS: &str = "1d, as months differ in length: `by month` then divides the readings, and a counter (--kind counter) has the month's total";

/// Returns a time as a fraction of milliseconds. Its unit is a time or, for a frequency, Hz.
fn fraction(text: &str, unit: &str) -> Option<(u128, u128)> {
    let number = text.trim().strip_suffix(unit)?.trim();
    let (over, under) = number.split_once('/').unwrap_or((number, "1"));
    let ((a, b), (c, d)) = (decimal(over)?, decimal(under)?);
    let (numerator, denominator) = (a.checked_mul(d)?, b.checked_mul(c)?);
    let of_unit = UNITS.iter().find(|(name, _)| *name == unit).map(|(_, factor)| u128::from(*factor));
    let (time, of) = match of_unit {
        Some(factor) => (numerator.checked_mul(factor)?, denominator),
        None if unit == "Hz" => (denominator.checked_mul(1000)?, numerator),
        None => return None,
    };
    (time > 0 && of > 0).then_some((time, of))
}

/// Reads a time with its unit: 1 to `most` milliseconds.
fn milliseconds(text: &str, most: u64) -> Option<u64> {
    let digits = text.trim().trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = text.trim()[digits.len()..].trim();
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let (number, of) = decimal(digits.trim())?;
    let time = number * u128::from(*factor);
    u64::try_from(time / of).ok().filter(|whole| time % of == 0 && (1..=most).contains(whole))
}

/// The time that a reading holds, in the form used in `sotto.toml`: `90s`, `2h`, `7d`, at most 366 days.
///
/// ```
/// use sotto_owner::{Hold, NotAnAmount};
///
/// let hold: Hold = "7d".parse()?;
/// assert_eq!((hold.milliseconds, hold.to_string().as_str()), (604_800_000, "7d"));
/// assert!("0s".parse::<Hold>().is_err() && "367d".parse::<Hold>().is_err());
/// # Ok::<(), NotAnAmount>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Hold {
    /// Milliseconds, from 1 to those of 366 days.
    pub milliseconds: u64,
}

impl std::str::FromStr for Hold {
    type Err = NotAnAmount;

    fn from_str(text: &str) -> Result<Self, NotAnAmount> {
        let wrong = || {
            NotAnAmount::new(
                text,
                "time",
                "a number and ms, s, m, h or d, at most 366 days, such as 90s or 1d",
            )
        };
        Ok(Self { milliseconds: milliseconds(text, 366 * DAY).ok_or_else(wrong)? })
    }
}

impl std::fmt::Display for Hold {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write_time(out, self.milliseconds)
    }
}

impl From<Hold> for String {
    fn from(hold: Hold) -> Self {
        hold.to_string()
    }
}

impl TryFrom<String> for Hold {
    type Error = NotAnAmount;

    fn try_from(text: String) -> Result<Self, NotAnAmount> {
        text.parse()
    }
}

/// Writes a time in the largest unit of which it is a whole number.
fn write_time(out: &mut std::fmt::Formatter<'_>, milliseconds: u64) -> std::fmt::Result {
    let whole = UNITS.iter().rev().find(|(_, factor)| milliseconds.is_multiple_of(*factor));
    let (unit, factor) = whole.copied().unwrap_or(("ms", 1));
    write!(out, "{}{unit}", milliseconds / factor)
}

/// Reads a decimal number of at most 9 digits behind the point, as a fraction.
fn decimal(text: &str) -> Option<(u128, u128)> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if fraction.len() > 9 || !digits(whole) || !digits(fraction) {
        return None;
    }
    let scale = 10u64.pow(u32::try_from(fraction.len()).ok()?);
    let (whole, part): (u64, u64) = (whole.parse().ok()?, fraction.parse().ok()?);
    Some((u128::from(whole) * u128::from(scale) + u128::from(part), scale.into()))
}

/// Writes a fraction as a decimal number. Returns None if it has more than 9 digits behind the point.
fn written(numerator: u64, denominator: u64) -> Option<String> {
    const SCALE: u128 = 1_000_000_000;
    let scaled = u128::from(numerator) * SCALE;
    let (scaled, rest) = (scaled / u128::from(denominator), scaled % u128::from(denominator));
    let text = format!("{}.{:09}", scaled / SCALE, scaled % SCALE);
    (rest == 0).then(|| text.trim_end_matches('0').trim_end_matches('.').to_owned())
}

impl std::fmt::Display for Every {
    /// Writes whole milliseconds in the largest unit, other periods as a frequency where it is a decimal number.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if let Some(milliseconds) = self.period.milliseconds() {
            return write_time(out, milliseconds.into());
        }
        let (seconds, of) = self.period.seconds();
        if let Some(frequency) = written(of.into(), seconds.into()) {
            return write!(out, "{frequency}Hz");
        }
        match written(1000 * u64::from(seconds), of.into()) {
            Some(milliseconds) => write!(out, "{milliseconds}ms"),
            None => write!(out, "{seconds}/{of}s"),
        }
    }
}

impl From<Every> for String {
    fn from(every: Every) -> Self {
        every.to_string()
    }
}

impl TryFrom<String> for Every {
    type Error = NotAnAmount;

    fn try_from(text: String) -> Result<Self, NotAnAmount> {
        text.parse()
    }
}

/// A declared range with both ends included: `-20..120`, in `sotto.toml` also `[-20, 120]`.
///
/// ```
/// use sotto_owner::Range;
///
/// let range: Range = "-20..120".parse()?;
/// assert_eq!((range.minimum, range.maximum), (-20.0, 120.0));
/// assert!("120..-20".parse::<Range>().is_err());
/// # Ok::<(), sotto_owner::NotAnAmount>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Written", into = "[f64; 2]")]
pub struct Range {
    /// The smallest value.
    pub minimum: f64,
    /// The largest value.
    pub maximum: f64,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Ends([f64; 2]),
    Text(String),
}

impl Range {
    fn new(text: &str, minimum: f64, maximum: f64) -> Result<Self, NotAnAmount> {
        let in_order = minimum.is_finite() && maximum.is_finite() && minimum < maximum;
        let wrong = || {
            NotAnAmount::new(
                text,
                "range",
                "the smallest value, two points and the largest, decimals with a point, such as -20..120.5",
            )
        };
        in_order.then_some(Self { minimum, maximum }).ok_or_else(wrong)
    }
}

impl std::str::FromStr for Range {
    type Err = NotAnAmount;

    fn from_str(text: &str) -> Result<Self, NotAnAmount> {
        let number = |text: &str| text.trim().parse::<f64>().unwrap_or(f64::NAN);
        let (minimum, maximum) = text.split_once("..").unwrap_or((text, ""));
        Self::new(text, number(minimum), number(maximum.trim_start_matches('=')))
    }
}

impl TryFrom<Written> for Range {
    type Error = NotAnAmount;

    fn try_from(written: Written) -> Result<Self, NotAnAmount> {
        match written {
            Written::Ends([minimum, maximum]) => {
                Self::new(&format!("{minimum}..{maximum}"), minimum, maximum)
            }
            Written::Text(text) => text.parse(),
        }
    }
}

impl From<Range> for [f64; 2] {
    fn from(range: Range) -> Self {
        [range.minimum, range.maximum]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn periods_are_a_number_and_a_unit() {
        for (text, milliseconds, shown) in [
            ("5m", 300_000, "5m"),
            ("200ms", 200, "200ms"),
            ("60 s", 60_000, "1m"),
            ("24h", 86_400_000, "1d"),
            ("0.5s", 500, "500ms"),
            ("1.5h", 5_400_000, "90m"),
            ("0.25 m", 15_000, "15s"),
            ("7d", 604_800_000, "7d"),
            ("30d", 2_592_000_000, "30d"),
            ("720h", 2_592_000_000, "30d"),
            ("50Hz", 20, "20ms"),
            ("0.1 Hz", 10_000, "10s"),
            ("1/2m", 30_000, "30s"),
            ("1000Hz", 1, "1ms"),
        ] {
            let every: Every = text.parse().expect(text);
            assert_eq!(
                (every.period.milliseconds(), every.to_string().as_str()),
                (Some(milliseconds), shown)
            );
        }
        for (text, seconds, shown) in [
            ("60Hz", (1, 60), "60Hz"),
            ("1/60s", (1, 60), "60Hz"),
            ("50/3ms", (1, 60), "60Hz"),
            ("120 Hz", (1, 120), "120Hz"),
            ("44.1Hz", (10, 441), "44.1Hz"),
            ("60000/1001Hz", (1001, 60_000), "1001/60000s"),
            ("16.7ms", (167, 10_000), "16.7ms"),
            ("1/7m", (60, 7), "60/7s"),
        ] {
            let every: Every = text.parse().expect(text);
            assert_eq!(every.period.seconds(), seconds, "{text}");
            assert_eq!((every.to_string().as_str(), every.to_string().parse()), (shown, Ok(every)));
        }
        for (wrong, says) in [
            ("0.5ms", "at least 1ms, at most 1000Hz"),
            ("2000Hz", "times are in milliseconds"),
            ("44100 Hz", "times are in milliseconds"),
            ("16.66667ms", "60Hz, 44.1Hz or 1/60s"),
        ] {
            let error = wrong.parse::<Every>().expect_err(wrong).to_string();
            assert!(error.contains(says), "{error}");
        }
        for wrong in [
            "",
            "5",
            "m",
            "0s",
            "31d",
            "30.1d",
            "2592000001ms",
            "-5m",
            ".5s",
            "0Hz",
            "1/0s",
            "1/s",
            "60hz",
            "1/60",
            "4294967296d",
            "1.s",
            "1.2.3s",
            "5 minutes",
        ] {
            let error = wrong.parse::<Every>().expect_err(wrong).to_string();
            assert!(error.contains("at most 30d"), "{error}");
        }
        for month in ["1mo", "1 month", "1M", "1y"] {
            let error = month.parse::<Every>().expect_err(month).to_string();
            assert!(error.contains("write 1d") && error.contains("--kind counter"), "{error}");
        }
    }

    #[test]
    fn ranges_are_two_ends_in_order() {
        let range: Range = "-20..120".parse().expect("a range");
        assert_eq!((range.minimum, range.maximum), (-20.0, 120.0));
        assert_eq!("-2.5..-1e-3".parse::<Range>().expect("a range").maximum, -1e-3);
        for wrong in ["", "1", "3..2", "1..1", "a..b", "0..inf", "..2", "-20-120"] {
            assert!(wrong.parse::<Range>().is_err(), "{wrong}");
        }
    }
}
