//! Cells: numbers, or the reason why there is none.

use sotto_pack::Reason;
use zeroize::{DefaultIsZeroes, Zeroizing};

use super::decimal::{Decimal, whole};
use super::local::When;
use super::numbers::{self, Mark, Written};

/// Maximum bytes of a time.
const LONGEST_TIME: usize = 128;
/// Texts that loggers and programs write where there is no reading.
const EMPTY: [&str; 12] =
    ["NA", "N/A", "#N/A", "n.a.", "null", "nil", "none", "-", "--", "---", "unavailable", "unknown"];

/// A cell of a channel's column.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::source) enum Cell {
    /// A finite number; valid if its marks are those of the file.
    Number(f64, Mark),
    /// No number.
    Missing(Reason),
    /// The row is not about the channel.
    Absent,
}

impl Default for Cell {
    fn default() -> Self {
        Self::Missing(Reason::Empty)
    }
}

impl DefaultIsZeroes for Cell {}

/// The time of a row.
#[derive(Clone, Debug, Default, PartialEq)]
pub(in crate::source) enum Stamp {
    /// None, or none of the file's format.
    #[default]
    None,
    /// A text that is not parsed, as the format of the file's times is not known yet.
    Text(String),
    /// A time.
    At(When),
}

/// A row.
#[derive(Default)]
pub(in crate::source) struct Record {
    /// The line number, from 1.
    pub(in crate::source) line: u64,
    /// Its time.
    pub(in crate::source) time: Stamp,
    /// A cell for each channel.
    pub(in crate::source) cells: Zeroizing<Vec<Cell>>,
}

impl Cell {
    /// Reads a text.
    pub(in crate::source) fn read(text: &str) -> Self {
        let text = text.trim();
        let is_empty = || text.is_empty() || EMPTY.iter().any(|empty| text.eq_ignore_ascii_case(empty));
        match numbers::read(text) {
            Written::Number(number, mark) => Self::Number(number, mark),
            Written::NotANumber => Self::Missing(Reason::NotANumber),
            Written::Text if is_empty() => Self::Missing(Reason::Empty),
            Written::Text => Self::Missing(Reason::Text),
        }
    }

    /// Returns the number, or the reason why it does not count: [`Reason::Text`] if its marks are not those of the
    /// file, and `None` if the row is not about the channel.
    pub(in crate::source) fn number(self, decimal: Decimal) -> Result<f64, Option<Reason>> {
        match (self, decimal) {
            (Self::Number(number, Mark::Plain), _)
            | (Self::Number(number, Mark::Point | Mark::GroupedComma | Mark::EitherPoint), Decimal::Point)
            | (Self::Number(number, Mark::Comma | Mark::GroupedPoint | Mark::EitherComma), Decimal::Comma) => {
                Ok(number)
            }
            (Self::Number(number, Mark::EitherPoint | Mark::EitherComma), _) => Ok(whole(number)),
            (Self::Number(..), _) => Err(Some(Reason::Text)),
            (Self::Missing(reason), _) => Err(Some(reason)),
            (Self::Absent, _) => Err(None),
        }
    }

    /// Returns true if the number has a mark that the decimal mark of the file decides.
    pub(in crate::source) fn has_mark(self) -> bool {
        matches!(self, Self::Number(_, mark) if mark != Mark::Plain)
    }
}

/// Returns the trimmed text of a time, without stray quotes; `None` if it is empty or longer than 128 bytes.
pub(in crate::source) fn time_text(text: &str) -> Option<&str> {
    let mut text = text.trim();
    if text.starts_with('"') || text.ends_with('"') {
        text = text.trim_matches('"').trim();
    }
    (1..=LONGEST_TIME).contains(&text.len()).then_some(text)
}

/// Returns true if a cell equals the wanted text, as text or as a number.
pub(in crate::source) fn holds(text: &str, wanted: &str) -> bool {
    let (text, wanted) = (text.trim(), wanted.trim());
    let number = |text| match Cell::read(text) {
        Cell::Number(number, mark) => Some((number, mark)),
        _ => None,
    };
    text == wanted || number(text).is_some_and(|one| number(wanted).is_some_and(|other| one.0 == other.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_numbers_or_reasons() {
        for (text, value) in [
            ("1", Ok(1.0)),
            (" -2.50 ", Ok(-2.5)),
            ("\u{a0}7\u{a0}", Ok(7.0)),
            ("", Err(Some(Reason::Empty))),
            ("NA", Err(Some(Reason::Empty))),
            ("n/a", Err(Some(Reason::Empty))),
            ("NULL", Err(Some(Reason::Empty))),
            ("-", Err(Some(Reason::Empty))),
            ("unavailable", Err(Some(Reason::Empty))),
            ("NaN", Err(Some(Reason::NotANumber))),
            ("-inf", Err(Some(Reason::NotANumber))),
            ("1e999", Err(Some(Reason::NotANumber))),
            ("21.5 °C", Err(Some(Reason::Text))),
            ("3,14", Err(Some(Reason::Text))),
            ("1,234.5", Ok(1234.5)),
            ("1,234", Ok(1234.0)),
            ("1.234", Ok(1.234)),
            ("1.234,5", Err(Some(Reason::Text))),
            ("true", Err(Some(Reason::Text))),
        ] {
            assert_eq!(Cell::read(text).number(Decimal::Point), value, "{text:?}");
        }
        assert_eq!(Cell::Absent.number(Decimal::Point), Err(None));
    }

    #[test]
    fn a_decimal_comma_makes_a_point_a_mark_of_thousands() {
        let with_comma = |text| Cell::read(text).number(Decimal::Comma);
        let text = Err(Some(Reason::Text));
        assert_eq!((with_comma("3,25"), with_comma("-0,5"), with_comma("7")), (Ok(3.25), Ok(-0.5), Ok(7.0)));
        assert_eq!((with_comma("1.234"), with_comma("1.234,5")), (Ok(1234.0), Ok(1234.5)));
        assert_eq!((with_comma("1,234,567"), with_comma("1.25")), (text, text));
    }

    #[test]
    fn conditions_compare_text_or_numbers() {
        assert!(holds(" 1.0", "1") && holds("pump", "pump ") && holds("", ""));
        assert!(!holds("Pump", "pump") && !holds("1", "2") && !holds("nan", "inf") && !holds("x", ""));
    }
}
