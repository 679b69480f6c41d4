//! Numbers as text: signs, decimal marks, marks between groups of thousands, exponents.

/// Maximum bytes of a number.
const LONGEST_NUMBER: usize = 128;

/// The marks in a number, by which it fits a file whose decimals have a point or a comma.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::source) enum Mark {
    /// No mark: the number reads the same with either.
    Plain,
    /// 7.5, 1,234.5: decimals have a point.
    Point,
    /// 7,5, 1.234,5: decimals have a comma.
    Comma,
    /// 1.002: 1.002 if decimals have a point, 1002 if they have a comma.
    EitherPoint,
    /// 1,002: 1.002 if decimals have a comma, 1002 if they have a point.
    EitherComma,
    /// 1.234.567: groups of thousands, so decimals have a comma.
    GroupedPoint,
    /// 1,234,567: groups of thousands, so decimals have a point.
    GroupedComma,
}

/// A number as text.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Written {
    /// A finite number with its marks. With [`Mark::EitherPoint`] and [`Mark::EitherComma`], the number whose mark is
    /// a decimal one.
    Number(f64, Mark),
    /// NaN, an infinity, or a number beyond ±1.8·10^308.
    NotANumber,
    /// No number.
    Text,
}

/// Reads a trimmed text.
pub(super) fn read(text: &str) -> Written {
    if text.len() > LONGEST_NUMBER {
        return Written::Text;
    }
    match short(text.as_bytes()) {
        Some((number, mark)) => Written::Number(number, mark),
        None => spelled(text),
    }
}

/// Powers of ten that a double holds exactly, as many as digits are read here.
const TENS: [f64; 16] =
    [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15];

/// Reads most numbers: at most 15 digits with at most one point or comma. The quotient of two exact doubles is rounded once, as
/// the decimal number would be. Returns `None` for other texts.
pub(super) fn short(bytes: &[u8]) -> Option<(f64, Mark)> {
    let (negative, digits) = match bytes {
        [b'-', digits @ ..] => (true, digits),
        digits => (false, digits),
    };
    let (mut mantissa, mut point) = (0_u64, None);
    if digits.is_empty() || digits.len() > 16 {
        return None;
    }
    let mut position = 0;
    while position < digits.len() {
        match digits[position] {
            digit @ b'0'..=b'9' => mantissa = 10 * mantissa + u64::from(digit - b'0'),
            b'.' | b',' if point.is_none() => point = Some(position),
            _ => return None,
        }
        position += 1;
    }
    let count = digits.len() - usize::from(point.is_some());
    if count == 0 || count > 15 {
        return None;
    }
    let (mark, places) = match point {
        None => (Mark::Plain, 0),
        Some(point) => {
            let mark = mark_of(&digits[..point], &digits[point + 1..], digits[point] == b'.');
            (mark, digits.len() - point - 1)
        }
    };
    let number = mantissa as f64 / TENS[places];
    Some((if negative { -number } else { number }, mark))
}

/// Reads a text with a sign, an exponent, several marks, or letters.
fn spelled(text: &str) -> Written {
    // The minus of typesetters.
    let (negative, unsigned) = match text.strip_prefix('\u{2212}').or_else(|| text.strip_prefix('-')) {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    if ["nan", "inf", "infinity"].iter().any(|name| unsigned.eq_ignore_ascii_case(name)) {
        return Written::NotANumber;
    }
    let end = unsigned.find(['e', 'E']).unwrap_or(unsigned.len());
    let (mantissa, exponent) = unsigned.split_at(end);
    let Some((digits, mark)) = plain(mantissa, exponent.is_empty()) else { return Written::Text };
    let sign = if negative { "-" } else { "" };
    parsed(&format!("{sign}{digits}{}", exponent.replace('\u{2212}', "-")), mark)
}

/// Parses a number with a decimal point.
fn parsed(text: &str, mark: Mark) -> Written {
    // The standard library reads words such as "inf" as well.
    if !text.bytes().any(|byte| byte.is_ascii_digit()) {
        return Written::Text;
    }
    match text.parse::<f64>() {
        Ok(number) if number.is_finite() => Written::Number(number, mark),
        Ok(_) => Written::NotANumber,
        Err(_) => Written::Text,
    }
}

/// Returns the mark of a number with one mark, a point or a comma.
fn mark_of(whole: &[u8], fraction: &[u8], point: bool) -> Mark {
    let grouped = (1..=3).contains(&whole.len()) && whole[0] != b'0' && fraction.len() == 3;
    match (grouped && fraction.iter().all(u8::is_ascii_digit), point) {
        (true, true) => Mark::EitherPoint,
        (true, false) => Mark::EitherComma,
        (false, true) => Mark::Point,
        (false, false) => Mark::Comma,
    }
}

/// Returns the digits with a decimal point and without marks between groups; `None` if the marks make no sense.
fn plain(text: &str, groups: bool) -> Option<(String, Mark)> {
    let is_blank =
        |letter: char| matches!(letter, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}' | '\'' | '’' | '_');
    if !text
        .chars()
        .all(|letter| letter.is_ascii_digit() || letter == '.' || letter == ',' || is_blank(letter))
    {
        return None;
    }
    let (points, commas) = (text.matches('.').count(), text.matches(',').count());
    let blanks = text.chars().filter(|letter| is_blank(*letter)).count();
    // The last mark is the decimal one, if it occurs once.
    let decimal = match (text.rfind('.'), text.rfind(',')) {
        (Some(point), Some(comma)) if point > comma => (points == 1).then_some((point, '.')),
        (Some(_), Some(comma)) => (commas == 1).then_some((comma, ',')),
        (Some(point), None) if points == 1 => Some((point, '.')),
        (None, Some(comma)) if commas == 1 => Some((comma, ',')),
        _ => None,
    };
    let (whole, fraction) =
        decimal.map_or((text, ""), |(position, _)| (&text[..position], &text[position + 1..]));
    if !fraction.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let separators = whole.chars().filter(|letter| !letter.is_ascii_digit());
    let mark = match separators.clone().next() {
        None => match decimal {
            None => Mark::Plain,
            Some((_, '.')) if groups => mark_of(whole.as_bytes(), fraction.as_bytes(), true),
            Some((_, ',')) if groups => mark_of(whole.as_bytes(), fraction.as_bytes(), false),
            Some((_, mark)) => {
                if mark == '.' {
                    Mark::Point
                } else {
                    Mark::Comma
                }
            }
        },
        Some(separator) => {
            let mut parts = whole.split(|letter: char| !letter.is_ascii_digit());
            let first = parts.next().is_some_and(|part| (1..=3).contains(&part.len()));
            let one_kind = separators.clone().all(|other| other == separator);
            if !groups || !first || !one_kind || !parts.all(|part| part.len() == 3) {
                return None;
            }
            match (decimal, separator) {
                (Some((_, '.')), _) => Mark::Point,
                (Some(_), _) => Mark::Comma,
                (None, '.') => Mark::GroupedPoint,
                (None, ',') => Mark::GroupedComma,
                (None, _) => Mark::Plain,
            }
        }
    };
    debug_assert!(blanks <= text.len());
    let mut digits: String = whole.chars().filter(char::is_ascii_digit).collect();
    if decimal.is_some() {
        digits.push('.');
        digits.push_str(fraction);
    }
    Some((digits, mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_the_marks_that_people_write() {
        use Mark::{Comma, EitherComma, EitherPoint, GroupedComma, GroupedPoint, Plain, Point};
        for (text, number, mark) in [
            ("1", 1.0, Plain),
            ("-2.50", -2.5, Point),
            ("+.5e1", 5.0, Point),
            ("1e-3", 0.001, Plain),
            ("1.002", 1.002, EitherPoint),
            ("-998.123", -998.123, EitherPoint),
            ("+1.002", 1.002, EitherPoint),
            ("\u{2212}1.002", -1.002, EitherPoint),
            ("1,002", 1.002, EitherComma),
            ("0.125", 0.125, Point),
            ("-0.125", -0.125, Point),
            (".125", 0.125, Point),
            ("1234.567", 1234.567, Point),
            ("1.0025", 1.0025, Point),
            ("1.002e1", 10.02, Point),
            ("1,002e1", 10.02, Comma),
            ("0,125", 0.125, Comma),
            ("1234,567", 1234.567, Comma),
            ("1.002,5", 1002.5, Comma),
            ("1,002.5", 1002.5, Point),
            ("1.234.567", 1_234_567.0, GroupedPoint),
            ("1,234,567", 1_234_567.0, GroupedComma),
            ("1.234.567,89", 1_234_567.89, Comma),
            ("1 234", 1234.0, Plain),
            ("1\u{a0}234\u{a0}567,5", 1_234_567.5, Comma),
            ("1\u{202f}234,567", 1234.567, Comma),
            ("1'234.5", 1234.5, Point),
            ("\u{2212}12,5", -12.5, Comma),
            ("1e\u{2212}3", 0.001, Plain),
        ] {
            assert_eq!(read(text), Written::Number(number, mark), "{text:?}");
        }
        for text in [
            "",
            "-",
            ".",
            ",",
            "1.2.3",
            "1,2,3",
            "12.34.567",
            "1234.567.890",
            "1.234,567,8",
            "1 2",
            "1  234",
            "0x10",
            "true",
            "1-2",
            "--1",
            "1.234.567e3",
            "e5",
            "1e",
            "infinite",
            "\u{2212}",
            "12:30",
        ] {
            assert_eq!(read(text), Written::Text, "{text:?}");
        }
        for text in ["nan", "-Inf", "\u{2212}inf", "Infinity", "1e999"] {
            assert_eq!(read(text), Written::NotANumber, "{text:?}");
        }
        assert_eq!(read(&"1".repeat(129)), Written::Text);
    }

    #[test]
    fn short_numbers_are_those_of_the_standard_library() {
        for number in (0..200_000_u64).map(|k| k.wrapping_mul(0x9e37_79b9_7f4a_7c15) % 1_000_000_000_000_000)
        {
            let digits = number.to_string();
            for point in [0, 1, digits.len() / 2, digits.len()] {
                let text = format!("-{}.{}", &digits[..point], &digits[point..]);
                let Written::Number(read, _) = read(&text) else { panic!("{text}") };
                assert_eq!(read.to_bits(), text.parse::<f64>().unwrap().to_bits(), "{text}");
            }
        }
    }
}
