//! Times as numbers: since 1970 in some unit, or days as spreadsheets count them.

use jiff::Timestamp;
use jiff::civil::{DateTime, date};

/// The unit of numeric times since 1970.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unit {
    Seconds,
    Milliseconds,
    Microseconds,
    Nanoseconds,
}

/// Days of spreadsheets that are taken for times: 1980 to 2099.
const DAYS: std::ops::Range<f64> = 29_221.0..73_051.0;
/// Milliseconds of a day.
const DAY: f64 = 86_400_000.0;

impl Unit {
    /// Returns the unit of a number by its magnitude: seconds from 10^8 (1973), milliseconds from 10^11, microseconds
    /// from 10^14, nanoseconds from 10^17. Smaller numbers are not times but row counts or readings.
    pub(super) fn of(text: &str) -> Option<Self> {
        // Most texts with a date end here.
        if !text.bytes().all(|byte| byte.is_ascii_digit() || b"+-.eE".contains(&byte)) {
            return None;
        }
        let number = text.parse::<f64>().ok()?.abs();
        match number {
            1e8..1e11 => Some(Self::Seconds),
            1e11..1e14 => Some(Self::Milliseconds),
            1e14..1e17 => Some(Self::Microseconds),
            1e17..1e19 => Some(Self::Nanoseconds),
            _ => None,
        }
    }

    /// Returns milliseconds since 1970, rounded down; `None` if the number is one of another unit by its magnitude.
    pub(super) fn read(self, text: &str) -> Option<i64> {
        if Self::of(text).is_some_and(|unit| unit != self) {
            return None;
        }
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let exact = whole.parse::<i64>().ok().filter(|_| fraction.bytes().all(|byte| byte.is_ascii_digit()));
        let Some(whole_number) = exact else {
            // A number with an exponent.
            let number = text.parse::<f64>().ok()?;
            let milliseconds = match self {
                Self::Seconds => number * 1e3,
                Self::Milliseconds => number,
                Self::Microseconds => number / 1e3,
                Self::Nanoseconds => number / 1e6,
            };
            return in_range(milliseconds.floor() as i64).filter(|_| milliseconds.is_finite());
        };
        let milliseconds = match self {
            Self::Seconds => {
                let digits = fraction.bytes().chain(*b"000").take(3);
                let part = digits.fold(0, |part, digit| part * 10 + i64::from(digit - b'0'));
                let finer = i64::from(fraction.bytes().skip(3).any(|digit| digit != b'0'));
                let part = if whole.starts_with('-') { -part - finer } else { part };
                whole_number.checked_mul(1000)?.checked_add(part)?
            }
            Self::Milliseconds => whole_number,
            Self::Microseconds => whole_number.div_euclid(1000),
            Self::Nanoseconds => whole_number.div_euclid(1_000_000),
        };
        in_range(milliseconds)
    }

    /// Returns the name of the unit, as `--time-format` takes it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Seconds => "seconds",
            Self::Milliseconds => "milliseconds",
            Self::Microseconds => "microseconds",
            Self::Nanoseconds => "nanoseconds",
        }
    }

    pub(super) const ALL: [Self; 4] =
        [Self::Seconds, Self::Milliseconds, Self::Microseconds, Self::Nanoseconds];
}

fn in_range(milliseconds: i64) -> Option<i64> {
    Timestamp::from_millisecond(milliseconds).ok().map(Timestamp::as_millisecond)
}

/// Returns true if a text may be a day of a spreadsheet.
pub(super) fn may_be_day(text: &str) -> bool {
    day(text).is_some_and(|day| DAYS.contains(&day))
}

/// Returns true if the number has a fraction: then it tells a time of day.
pub(super) fn has_fraction(text: &str) -> bool {
    day(text).is_some_and(|day| day.fract() != 0.0)
}

fn day(text: &str) -> Option<f64> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit() || b".,".contains(&byte));
    digits.then(|| text.replace(',', ".").parse().ok()).flatten()
}

/// Returns the local time of a spreadsheet's day: days since 30 December 1899, rounded to the precision that its digits
/// have.
pub(super) fn read_day(text: &str) -> Option<DateTime> {
    let fraction = text.len() - text.find(['.', ',']).map_or(text.len(), |mark| mark + 1);
    let step = match fraction {
        0..5 => Some(60_000.0),
        5..9 => Some(1000.0),
        _ => None,
    };
    rounded(day(text)?, step)
}

/// Returns the local time of a spreadsheet's day as the cell of a workbook holds it.
#[cfg(feature = "tables")]
pub(in crate::source) fn of_days(days: f64) -> Option<DateTime> {
    (days.is_finite() && days >= 0.0).then(|| rounded(days, None)).flatten()
}

/// Rounds a day to steps of so many milliseconds. Without a step, seconds that it is near to are meant, and else
/// milliseconds.
fn rounded(days: f64, step: Option<f64>) -> Option<DateTime> {
    let midnight = date(1899, 12, 30).at(0, 0, 0, 0);
    let milliseconds = days.fract() * DAY;
    // Whole seconds that are a fraction of a day: they are off by less than 5 ms.
    let is_near = (milliseconds / 1000.0 - (milliseconds / 1000.0).round()).abs() < 0.005;
    let step = step.unwrap_or(if is_near { 1000.0 } else { 1.0 });
    let rounded = (milliseconds / step).round() * step;
    let span = jiff::Span::new().try_days(days.trunc() as i64).ok()?.try_milliseconds(rounded as i64).ok()?;
    midnight.checked_add(span).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_of_spreadsheets() {
        for (text, time) in [
            ("45292", "2024-01-01T00:00:00"),
            ("45292.5", "2024-01-01T12:00:00"),
            ("45292.0417", "2024-01-01T01:00:00"),
            ("45292.04167", "2024-01-01T01:00:00"),
            ("45292.0416666667", "2024-01-01T01:00:00"),
            ("45292,041666666", "2024-01-01T01:00:00"),
            ("45292.99999999", "2024-01-02T00:00:00"),
            ("45292.000011574074", "2024-01-01T00:00:01"),
            ("45292.0000144676", "2024-01-01T00:00:01.25"),
        ] {
            assert_eq!(read_day(text).unwrap().to_string(), time, "{text}");
        }
        assert!(
            may_be_day("45292.5")
                && !may_be_day("100")
                && !may_be_day("1392413400")
                && !may_be_day("2014-01-01")
        );
        assert!(has_fraction("45292.5") && !has_fraction("45292.0"));
    }

    #[test]
    fn a_number_of_another_magnitude_is_no_time() {
        assert_eq!(Unit::Seconds.read("1392413400"), Some(1_392_413_400_000));
        assert_eq!(Unit::Milliseconds.read("1392413400"), None);
        assert_eq!(Unit::Seconds.read("1392413400123"), None);
        assert_eq!(Unit::Seconds.read("5"), Some(5000), "a clock that was not set");
    }
}
