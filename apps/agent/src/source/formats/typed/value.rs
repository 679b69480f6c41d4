//! Cells that have a type.

use std::borrow::Cow;

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::Offset;
use jiff::{SignedDuration, Timestamp};
use sotto_pack::Reason;

use crate::source::files::cells::{Cell, Stamp};
use crate::source::files::columns::{Column, Wanted};
use crate::source::files::local::When;
use crate::source::files::numbers::Mark;

/// Integers up to this size are doubles without a loss.
const EXACT: u64 = 1 << 53;
/// Powers of ten that a double holds exactly.
const TENS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];
/// A channel's range has at most 2^32 steps.
const MOST_STEPS: f64 = 4_294_967_296.0;

/// A cell with a type.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::source::formats) enum Value<'v> {
    /// A null, or no cell.
    Empty,
    Integer(i64),
    /// The first number divided by ten to the power of the second one.
    Decimal(i128, i32),
    Real(f64),
    /// A number of 32 bits. It means the shortest decimal number that it stands for: 0.1, not 0.10000000149.
    Single(f32),
    Bool(bool),
    Text(Cow<'v, str>),
    /// Milliseconds since 1970.
    Instant(i64),
    /// A time without a zone.
    Local(DateTime),
    Date(Date),
    Clock(Time),
    /// A value of another type, such as a list.
    Other,
}

/// A whole number that no reading of its channel can be.
#[derive(Clone, Debug, PartialEq)]
pub(in crate::source::formats) struct Inexact {
    /// The number.
    pub(in crate::source::formats) number: String,
}

impl Value<'_> {
    /// Returns the same value, with the text of this one.
    pub(in crate::source::formats) fn borrowed(&self) -> Value<'_> {
        match self {
            Self::Text(text) => Value::Text(Cow::Borrowed(text)),
            other => other.clone().into_owned(),
        }
    }

    /// Returns the same value, with a text of its own.
    pub(in crate::source::formats) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Text(text) => Value::Text(Cow::Owned(text.into_owned())),
            Self::Empty => Value::Empty,
            Self::Integer(number) => Value::Integer(number),
            Self::Decimal(unscaled, scale) => Value::Decimal(unscaled, scale),
            Self::Real(number) => Value::Real(number),
            Self::Single(number) => Value::Single(number),
            Self::Bool(value) => Value::Bool(value),
            Self::Instant(at) => Value::Instant(at),
            Self::Local(time) => Value::Local(time),
            Self::Date(date) => Value::Date(date),
            Self::Clock(time) => Value::Clock(time),
            Self::Other => Value::Other,
        }
    }

    /// Returns the text of the cell, as a table of text would have it.
    pub(in crate::source::formats) fn text(&self) -> Cow<'_, str> {
        match self {
            Self::Empty | Self::Other => Cow::Borrowed(""),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Integer(number) => number.to_string().into(),
            Self::Decimal(unscaled, scale) => decimal_text(*unscaled, *scale).into(),
            Self::Real(number) => number.to_string().into(),
            Self::Single(number) => number.to_string().into(),
            Self::Bool(value) => value.to_string().into(),
            Self::Instant(at) => {
                Timestamp::from_millisecond(*at).map(|at| at.to_string()).unwrap_or_default().into()
            }
            Self::Local(time) => time.to_string().into(),
            Self::Date(date) => date.to_string().into(),
            Self::Clock(time) => time.to_string().into(),
        }
    }

    /// Returns the time that the cell states. Numbers and texts are read in the format of the file's times.
    pub(in crate::source::formats) fn stamp(&self, wanted: &Wanted) -> Stamp {
        match self {
            Self::Instant(at) => Stamp::At(When::Instant(*at)),
            Self::Local(time) => Stamp::At(When::Local(*time)),
            Self::Date(date) => Stamp::At(When::Local(date.to_datetime(Time::midnight()))),
            Self::Empty | Self::Other | Self::Bool(_) | Self::Clock(_) => Stamp::None,
            _ => wanted.stamp(&self.text()),
        }
    }

    /// Reads the cell of a channel's column.
    ///
    /// # Errors
    /// [`Inexact`] if a double rounds a whole number by more than a thousandth of the channel's step.
    pub(in crate::source::formats) fn cell(&self, column: &Column) -> Result<Cell, Inexact> {
        let number = match self {
            Self::Empty => return Ok(Cell::default()),
            Self::Text(text) => return Ok(column.read(text)),
            // As the words, which channels of two states take.
            Self::Bool(value) => return Ok(column.read(&value.to_string())),
            Self::Instant(_) | Self::Local(_) | Self::Date(_) | Self::Clock(_) | Self::Other => {
                return Ok(Cell::Missing(Reason::Text));
            }
            Self::Integer(number) => *number as f64,
            Self::Decimal(unscaled, scale) => decimal(*unscaled, *scale),
            Self::Real(number) => *number,
            Self::Single(number) => single(*number),
        };
        if column.is_missing(|| self.text()) {
            return Ok(Cell::Missing(Reason::Empty));
        }
        let lost = match self {
            Self::Integer(exact) if exact.unsigned_abs() > EXACT => {
                (i128::from(*exact) - number as i128).unsigned_abs()
            }
            Self::Decimal(exact, 0) if exact.unsigned_abs() > u128::from(EXACT) => {
                exact.saturating_sub(number as i128).unsigned_abs()
            }
            _ => 0,
        };
        if lost > 0 && column.may_be(number) && lost as f64 * column.scale().abs() > step(column) / 1000.0 {
            return Err(Inexact { number: self.text().into_owned() });
        }
        Ok(if number.is_finite() {
            Cell::Number(number, Mark::Plain)
        } else {
            Cell::Missing(Reason::NotANumber)
        })
    }
}

/// Returns the step of a channel, at least that of the finest possible one.
fn step(column: &Column) -> f64 {
    column.resolution.unwrap_or((column.maximum - column.minimum) / MOST_STEPS)
}

/// Returns the double nearest to a decimal number.
fn decimal(unscaled: i128, scale: i32) -> f64 {
    let exact = unscaled.unsigned_abs() <= u128::from(EXACT);
    // The quotient or product of two exact doubles is rounded once.
    match usize::try_from(scale.unsigned_abs()).ok().and_then(|scale| TENS.get(scale)) {
        Some(ten) if exact && scale >= 0 => unscaled as f64 / ten,
        _ if scale == 0 => unscaled as f64,
        _ => format!("{unscaled}e{}", i64::from(scale).saturating_neg()).parse().unwrap_or(f64::NAN),
    }
}

fn decimal_text(unscaled: i128, scale: i32) -> String {
    let digits = unscaled.unsigned_abs().to_string();
    let sign = if unscaled < 0 { "-" } else { "" };
    match usize::try_from(scale) {
        Ok(0) => format!("{sign}{digits}"),
        Ok(scale) if scale <= 100 => {
            let digits = format!("{digits:0>width$}", width = scale + 1);
            let (whole, fraction) = digits.split_at(digits.len() - scale);
            format!("{sign}{whole}.{fraction}")
        }
        _ => format!("{sign}{digits}e{}", i64::from(scale).saturating_neg()),
    }
}

/// Returns the double nearest to the shortest decimal number that stands for a number of 32 bits.
fn single(number: f32) -> f64 {
    let exact = f64::from(number);
    if !number.is_finite() || number == 0.0 {
        return exact;
    }
    // Few decimals are the usual case. A number of at most 7 digits with these decimals is the only one.
    if number.abs() < 1e6 {
        for ten in &TENS[..4] {
            let whole = (exact * ten).round();
            if whole.abs() < 1e7 && (whole / ten) as f32 == number && whole != 0.0 {
                return whole / ten;
            }
        }
    }
    number.to_string().parse().unwrap_or(exact)
}

/// Returns a time since 1970, as an instant or without a zone. `second` is the number of units of a second.
pub(in crate::source::formats) fn time(count: i64, second: i64, utc: bool) -> Value<'static> {
    let milliseconds =
        if second >= 1000 { Some(count.div_euclid(second / 1000)) } else { count.checked_mul(1000 / second) };
    let at = milliseconds.and_then(|at| Timestamp::from_millisecond(at).ok());
    match at {
        None => Value::Other,
        Some(at) if utc => Value::Instant(at.as_millisecond()),
        Some(at) => Value::Local(Offset::UTC.to_datetime(at)),
    }
}

/// Returns the date that is this many days after 1 January 1970.
pub(in crate::source::formats) fn date(days: i64) -> Value<'static> {
    let day = Date::constant(1970, 1, 1).checked_add(SignedDuration::from_secs(days.saturating_mul(86_400)));
    day.map_or(Value::Other, Value::Date)
}

/// Returns the time of day that is this many units after midnight.
pub(in crate::source::formats) fn clock(count: i64, second: i64) -> Value<'static> {
    match time(count, second, false) {
        Value::Local(time) if (0..86_400 * second).contains(&count) => Value::Clock(time.time()),
        _ => Value::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_32_bits_mean_their_shortest_decimal() {
        let mut state = 1_u32;
        for step in 0..400_000_u32 {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let random = f32::from_bits(state);
            let usual = (step as f32 - 200_000.0) / [1.0, 10.0, 100.0, 1000.0][state as usize >> 30];
            for number in [random, usual, usual * 1.0001] {
                let expected: f64 = number.to_string().parse().unwrap();
                assert!(single(number).to_bits() == expected.to_bits() || number.is_nan(), "{number}");
            }
        }
        assert_eq!((single(0.1), single(-999.9), single(16_777_216.0)), (0.1, -999.9, 16_777_216.0));
    }

    #[test]
    fn decimals_are_the_nearest_double() {
        for (unscaled, scale, text) in [
            (21_500, 3, "21.500"),
            (-5, 2, "-0.05"),
            (7, 0, "7"),
            (12, -3, "12e3"),
            (
                99_999_999_999_999_999_999_999_999_999_999_999_999,
                9,
                "99999999999999999999999999999.999999999",
            ),
            (1, 38, "0.00000000000000000000000000000000000001"),
            (9_007_199_254_740_993, 1, "900719925474099.3"),
        ] {
            assert_eq!(Value::Decimal(unscaled, scale).text(), text);
            assert_eq!(decimal(unscaled, scale).to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
        }
    }

    #[test]
    fn whole_numbers_are_exact_or_refused() {
        let column = |minimum, maximum, resolution| {
            let mut column = Column::default();
            (column.minimum, column.maximum, column.resolution) = (minimum, maximum, resolution);
            column
        };
        let fine = column(9.007e15, 9.008e15, Some(1.0));
        let odd = Value::Integer(9_007_199_254_740_993);
        assert_eq!(odd.cell(&fine).unwrap_err().number, "9007199254740993");
        assert_eq!(
            Value::Decimal(9_007_199_254_740_993, 0).cell(&fine).unwrap_err().number,
            "9007199254740993"
        );
        let even = Value::Integer(9_007_199_254_740_994).cell(&fine);
        assert_eq!(even, Ok(Cell::Number(9_007_199_254_740_994.0, Mark::Plain)));
        let coarse = column(0.0, 1e19, Some(1e7));
        assert!(odd.cell(&coarse).is_ok() && Value::Integer(i64::MAX).cell(&coarse).is_ok());
        let elsewhere = column(0.0, 100.0, Some(1.0));
        assert!(odd.cell(&elsewhere).is_ok(), "it is out of range, and counted so");
    }

    #[test]
    fn times_have_units_and_ends() {
        assert_eq!(time(1_772_323_200_123_456_789, 1_000_000_000, true), Value::Instant(1_772_323_200_123));
        assert_eq!(time(-1, 1_000_000, true), Value::Instant(-1), "rounded down");
        assert_eq!(time(86_400, 1, false).text(), "1970-01-02T00:00:00");
        assert_eq!((time(i64::MAX, 1, true), time(i64::MIN, 1000, false)), (Value::Other, Value::Other));
        assert_eq!((date(20_000).text(), date(-1).text()), ("2024-10-04".into(), "1969-12-31".into()));
        assert_eq!((date(i64::MAX), date(i64::MIN)), (Value::Other, Value::Other));
        assert_eq!(clock(3_600_500, 1000).text(), "01:00:00.5");
        assert_eq!((clock(86_400, 1), clock(-1, 1)), (Value::Other, Value::Other));
    }
}
