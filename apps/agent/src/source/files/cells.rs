//! Cells: numbers, or the reason why there is none.

use sotto_pack::Reason;
use zeroize::{DefaultIsZeroes, Zeroizing};

use super::encoding::{Encoding, decode};

/// Maximum bytes of a number or a time.
const LONGEST_CELL: usize = 128;

/// The decimal mark of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) enum Mark {
    /// No mark: the number reads the same with either.
    Plain,
    Point,
    Comma,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::source) enum Cell {
    /// A finite number; valid if its mark is that of the file.
    Number(f64, Mark),
    /// No number.
    Missing(Reason),
}

impl Default for Cell {
    fn default() -> Self {
        Self::Missing(Reason::Empty)
    }
}

impl DefaultIsZeroes for Cell {}

/// A row with a time that is not parsed yet.
pub(in crate::source) struct Record {
    /// The line number, from 1.
    pub(in crate::source) line: u64,
    /// The text of its time.
    pub(in crate::source) time: Option<String>,
    /// A cell for each channel.
    pub(in crate::source) cells: Zeroizing<Vec<Cell>>,
}

impl Cell {
    pub(in crate::source) fn read(text: &str) -> Self {
        let text = text.trim();
        if text.is_empty() || ["NA", "N/A", "null", "-"].iter().any(|empty| text.eq_ignore_ascii_case(empty))
        {
            return Self::Missing(Reason::Empty);
        }
        let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
        if ["nan", "inf", "infinity"].iter().any(|name| unsigned.eq_ignore_ascii_case(name)) {
            return Self::Missing(Reason::NotANumber);
        }
        if text.len() > LONGEST_CELL {
            return Self::Missing(Reason::Text);
        }
        let (number, mark) = match (text.contains('.'), text.contains(',')) {
            (false, false) => (text.parse(), Mark::Plain),
            (true, false) => (text.parse(), Mark::Point),
            (false, true) => (text.replace(',', ".").parse(), Mark::Comma),
            (true, true) => return Self::Missing(Reason::Text),
        };
        match number {
            Ok(number) if f64::is_finite(number) => Self::Number(number, mark),
            Ok(_) => Self::Missing(Reason::NotANumber),
            Err(_) => Self::Missing(Reason::Text),
        }
    }

    /// Reads a cell of bytes. Bytes that are not UTF-8 become [`Reason::Text`], unless an encoding is given.
    pub(in crate::source) fn read_bytes(bytes: &[u8], encoding: Option<Encoding>) -> Self {
        decode(bytes, encoding).map_or(Self::Missing(Reason::Text), |text| Self::read(&text))
    }

    /// Returns the number, or the reason why it does not count: [`Reason::Text`] if its mark is not that of the file.
    pub(in crate::source) fn number(self, decimal_comma: bool) -> Result<f64, Reason> {
        match self {
            Self::Number(_, Mark::Comma) if !decimal_comma => Err(Reason::Text),
            Self::Number(_, Mark::Point) if decimal_comma => Err(Reason::Text),
            Self::Number(number, _) => Ok(number),
            Self::Missing(reason) => Err(reason),
        }
    }

    /// Returns true for a decimal comma, false for a decimal point, `None` if the cell has no decimal mark.
    pub(in crate::source) fn decimal_comma(self) -> Option<bool> {
        match self {
            Self::Number(_, Mark::Comma) => Some(true),
            Self::Number(_, Mark::Point) => Some(false),
            _ => None,
        }
    }
}

/// Returns the trimmed text of a time; `None` if it is empty or longer than 128 bytes.
pub(in crate::source) fn time_text(text: &str) -> Option<String> {
    let text = text.trim();
    (1..=LONGEST_CELL).contains(&text.len()).then(|| text.to_owned())
}

/// Joins the parts of a time from several columns by spaces; `None` if a part is missing.
pub(in crate::source) fn joined(parts: impl IntoIterator<Item = Option<String>>) -> Option<String> {
    let parts: Vec<String> = parts.into_iter().collect::<Option<_>>()?;
    time_text(&parts.join(" "))
}

/// Returns true if a cell equals the wanted text, as text or as a number.
pub(in crate::source) fn holds(text: &str, wanted: &str) -> bool {
    let (text, wanted) = (text.trim(), wanted.trim());
    let number = |text| match Cell::read(text) {
        Cell::Number(number, _) => Some(number),
        Cell::Missing(_) => None,
    };
    text == wanted || number(text).is_some_and(|one| number(wanted).is_some_and(|other| one == other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_numbers_or_reasons() {
        for (text, value) in [
            ("1", Ok(1.0)),
            (" -2.50 ", Ok(-2.5)),
            ("+.5e1", Ok(5.0)),
            ("1e-3", Ok(0.001)),
            ("\u{a0}7\u{a0}", Ok(7.0)),
            ("", Err(Reason::Empty)),
            ("NA", Err(Reason::Empty)),
            ("n/a", Err(Reason::Empty)),
            ("NULL", Err(Reason::Empty)),
            ("-", Err(Reason::Empty)),
            ("NaN", Err(Reason::NotANumber)),
            ("-inf", Err(Reason::NotANumber)),
            ("Infinity", Err(Reason::NotANumber)),
            ("1e999", Err(Reason::NotANumber)),
            ("21.5 °C", Err(Reason::Text)),
            ("3,14", Err(Reason::Text)),
            ("1,234.5", Err(Reason::Text)),
            ("1.234,5", Err(Reason::Text)),
            ("0x10", Err(Reason::Text)),
            ("true", Err(Reason::Text)),
            (",", Err(Reason::Text)),
        ] {
            assert_eq!(Cell::read(text).number(false), value, "{text:?}");
        }
        assert_eq!(Cell::read(&"1".repeat(129)).number(false), Err(Reason::Text));
    }

    #[test]
    fn a_decimal_comma_makes_a_point_text() {
        let with_comma = |text| Cell::read(text).number(true);
        assert_eq!((with_comma("3,25"), with_comma("-0,5"), with_comma("7")), (Ok(3.25), Ok(-0.5), Ok(7.0)));
        assert_eq!((with_comma("1.234"), with_comma("1.234,5")), (Err(Reason::Text), Err(Reason::Text)));
        assert_eq!(with_comma("1,234,567"), Err(Reason::Text));
    }

    #[test]
    fn conditions_compare_text_or_numbers() {
        assert!(holds(" 1.0", "1") && holds("pump", "pump ") && holds("", ""));
        assert!(!holds("Pump", "pump") && !holds("1", "2") && !holds("nan", "inf") && !holds("x", ""));
    }

    #[test]
    fn bytes_that_are_not_utf8_need_an_encoding() {
        assert_eq!(decode(b"\xb0C", None), None);
        assert_eq!(decode(b"\xb0C", Some(Encoding::Latin1)).as_deref(), Some("°C"));
        assert_eq!(decode(b"\xb0C", Some(Encoding::Utf8)).as_deref(), Some("\u{fffd}C"));
        assert_eq!(Cell::read_bytes(b"\xff", None), Cell::Missing(Reason::Text));
    }
}
