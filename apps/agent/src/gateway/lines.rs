//! A request of line protocol: its lines become points, a few thousand at a time, so that no request takes much memory.

use std::io::{self, Read};

use memchr::{memchr, memrchr};
use zeroize::Zeroizing;

use super::point::{Intake, IntakeError, Point, Taken};
use crate::source::{Line, Malformed, Value};

/// Bytes of lines that are parsed at a time; no line may be longer.
const PART: usize = 256 << 10;
/// Maximum bytes of a request, once inflated.
pub(super) const LARGEST: u64 = 64 << 20;
/// The text of a field may have ends of lines: so many, in so many bytes.
const MOST_ENDS: usize = 8;
const LONGEST_WITH_ENDS: usize = 4096;

/// The unit of the times of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Precision {
    /// `ns` or `n`, and if none is given.
    #[default]
    Nanoseconds,
    /// `us`, `u` or `µ`.
    Microseconds,
    /// `ms`.
    Milliseconds,
    /// `s`.
    Seconds,
    /// `m`.
    Minutes,
    /// `h`.
    Hours,
}

impl Precision {
    /// Parses a precision; `None` for an unknown one.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "" | "ns" | "n" => Self::Nanoseconds,
            "us" | "u" | "µ" => Self::Microseconds,
            "ms" => Self::Milliseconds,
            "s" => Self::Seconds,
            "m" => Self::Minutes,
            "h" => Self::Hours,
            _ => return None,
        })
    }

    /// Returns the nanoseconds of one.
    fn nanoseconds(self) -> i64 {
        match self {
            Self::Nanoseconds => 1,
            Self::Microseconds => 1000,
            Self::Milliseconds => 1_000_000,
            Self::Seconds => 1_000_000_000,
            Self::Minutes => 60_000_000_000,
            Self::Hours => 3_600_000_000_000,
        }
    }
}

/// The outcome of a request. The readings that were taken are durable.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinesTaken {
    /// Counts of the points that were taken.
    pub taken: Taken,
    /// Number of lines that were not taken.
    pub malformed: u64,
    /// The number of the first of them, from 1, and the reason.
    pub first: Option<(u64, String)>,
}

/// Reason why a request was not taken to its end. Lines before may be durable: the sender has to send all of them again.
#[derive(Debug, thiserror::Error)]
pub enum LinesError {
    /// The intake did not take points.
    #[error(transparent)]
    Intake(#[from] IntakeError),
    /// The request is too long.
    #[error("the request has more than {LARGEST} bytes once inflated: send fewer lines at a time")]
    TooLong,
    /// The request ends before its time, or is not gzip.
    #[error("the request cannot be read: {0}")]
    Unreadable(io::Error),
}

/// Takes all lines of a request.
///
/// # Errors
/// [`LinesError`]
pub fn take_lines(
    intake: &dyn Intake,
    request: impl Read,
    precision: Precision,
    sender: &str,
) -> Result<LinesTaken, LinesError> {
    let mut lines = Lines { intake, precision, sender, taken: LinesTaken::default(), line: 0 };
    let mut request = request.take(LARGEST + 1);
    let (mut part, mut filled, mut skips) = (Zeroizing::new(vec![0; PART]), 0, false);
    loop {
        let read = match request.read(&mut part[filled..]) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            read => read.map_err(LinesError::Unreadable)?,
        };
        if request.limit() == 0 {
            return Err(LinesError::TooLong);
        }
        filled += read;
        let is_end = read == 0;
        if !is_end && filled < PART {
            continue;
        }
        let mut whole =
            if is_end { filled } else { memrchr(b'\n', &part[..filled]).map_or(0, |end| end + 1) };
        let mut begin = 0;
        if skips {
            // The rest of a line that is too long.
            match memchr(b'\n', &part[..filled]) {
                Some(end) => (begin, skips) = (end + 1, false),
                None => (whole, filled) = (0, 0),
            }
        }
        if whole == 0 && filled == PART {
            lines.line += 1;
            lines.fault("it is longer than 256 KiB");
            (filled, skips) = (0, true);
            continue;
        }
        let rest =
            if begin < whole { begin + lines.part(&part[begin..whole], is_end)? } else { whole.min(filled) };
        part.copy_within(rest..filled, 0);
        filled -= rest;
        if is_end {
            return Ok(lines.taken);
        }
    }
}

/// The lines of a request so far.
struct Lines<'l> {
    intake: &'l dyn Intake,
    precision: Precision,
    sender: &'l str,
    taken: LinesTaken,
    /// The number of the last line.
    line: u64,
}

impl Lines<'_> {
    /// Takes whole lines. Returns the bytes that were taken: the text of a field may go on behind them.
    fn part(&mut self, bytes: &[u8], is_end: bool) -> Result<usize, IntakeError> {
        let (mut points, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let end = |from: usize| memchr(b'\n', &bytes[from..]).map_or(bytes.len(), |end| from + end);
            let mut until = end(at);
            let mut read = self.read(&bytes[at..until]);
            let first = until;
            if matches!(read, Err(Fault::Line(Malformed::Unterminated))) {
                for _ in 0..MOST_ENDS {
                    if until >= bytes.len() || until - at > LONGEST_WITH_ENDS {
                        break;
                    }
                    until = end(until + 1);
                    read = self.read(&bytes[at..until]);
                    if !matches!(read, Err(Fault::Line(Malformed::Unterminated))) {
                        break;
                    }
                }
                let is_open = matches!(read, Err(Fault::Line(Malformed::Unterminated)));
                if is_open
                    && !is_end
                    && until >= bytes.len()
                    && bytes.len() - at < LONGEST_WITH_ENDS
                    && at > 0
                {
                    break;
                }
                if read.is_err() {
                    until = first;
                }
            }
            self.line += bytes[at..until].iter().filter(|byte| **byte == b'\n').count() as u64 + 1;
            match read {
                Ok(point) => points.extend(point),
                Err(fault) => self.fault(&fault.to_string()),
            }
            at = until + 1;
        }
        if !points.is_empty() {
            self.taken.taken.add(self.intake.take(&points, self.sender)?);
        }
        Ok(at.min(bytes.len()))
    }

    /// Parses a line; `None` for an empty one and a comment.
    fn read<'t>(&self, line: &'t [u8]) -> Result<Option<Point<'t>>, Fault> {
        let text = std::str::from_utf8(line).map_err(|_| Fault::Encoding)?.trim();
        if text.is_empty() || text.starts_with('#') {
            return Ok(None);
        }
        let Line { measurement, tags, fields, time } = Line::read(text).map_err(Fault::Line)?;
        let is_number = |value: &Value<'_>| match value {
            Value::Text(_) => true,
            Value::Number(text) => is_number(text),
        };
        if !fields.iter().all(|(_, value)| is_number(value)) {
            return Err(Fault::Number);
        }
        let time = match time {
            None => None,
            Some(digits) => {
                let time: i64 = digits.parse().map_err(|_| Fault::Line(Malformed::Time))?;
                Some(time.checked_mul(self.precision.nanoseconds()).ok_or(Fault::Time)?)
            }
        };
        Ok(Some(Point { measurement, tags, fields, time }))
    }

    fn fault(&mut self, reason: &str) {
        self.taken.malformed += 1;
        let line = self.line;
        self.taken.first.get_or_insert_with(|| (line, reason.to_owned()));
    }
}

/// Reason why a line is not taken. Names no part of it: it may be a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Fault {
    #[error(transparent)]
    Line(Malformed),
    #[error("it is not UTF-8")]
    Encoding,
    #[error("a field is no number, no truth value, and no text in quotes")]
    Number,
    #[error("its time is beyond the year 2262: look at the precision")]
    Time,
}

/// Returns true for a decimal number.
fn is_number(text: &str) -> bool {
    let is_of_number = |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'+' | b'-' | b'.' | b'e' | b'E');
    text.len() <= 64
        && text.as_bytes().iter().all(is_of_number)
        && text.bytes().any(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;

    /// Keeps the points that it takes as text.
    #[derive(Default)]
    struct Kept(Mutex<Vec<String>>);

    impl Intake for Kept {
        fn take(&self, points: &[Point<'_>], sender: &str) -> Result<Taken, IntakeError> {
            let mut kept = self.0.lock().unwrap();
            for point in points {
                let fields: Vec<String> =
                    point.fields.iter().map(|(name, value)| format!("{name}={}", value.text())).collect();
                kept.push(format!("{sender} {} {} {:?}", point.measurement, fields.join(","), point.time));
            }
            Ok(Taken { readings: points.len() as u64, unclaimed: 0 })
        }
    }

    fn taken(request: impl Read, precision: Precision) -> (Result<LinesTaken, LinesError>, Vec<String>) {
        let kept = Kept::default();
        let taken = take_lines(&kept, request, precision, "t");
        (taken, kept.0.into_inner().unwrap())
    }

    #[test]
    fn every_precision_is_converted_to_nanoseconds() {
        for (text, time) in [
            ("", 7_i64),
            ("ns", 7),
            ("n", 7),
            ("us", 7000),
            ("u", 7000),
            ("ms", 7_000_000),
            ("s", 7_000_000_000),
        ]
        .into_iter()
        .chain([("m", 420_000_000_000), ("h", 25_200_000_000_000)])
        {
            let (_, points) = taken(&b"a f=1 7"[..], Precision::parse(text).unwrap());
            assert_eq!(points, [format!("t a f=1 Some({time})")], "{text}");
        }
        assert_eq!(Precision::parse("d"), None);
        let (found, _) = taken(&b"a f=1 9223372036854775807"[..], Precision::Seconds);
        assert_eq!(found.unwrap().malformed, 1);
    }

    #[test]
    fn good_lines_are_taken_and_the_first_fault_is_named() {
        let request = "# comment\n\na f=1i,g=t 1\r\nbroken\na f=x 1\na f=\"two\nlines\",g=2 3\na f=\"open\nb f=4\n\u{0}\n";
        let (found, points) = taken(request.as_bytes(), Precision::default());
        let found = found.unwrap();
        assert_eq!(points, ["t a f=1,g=true Some(1)", "t a f=two\nlines,g=2 Some(3)", "t b f=4 None"]);
        assert_eq!((found.malformed, found.first), (4, Some((4, "it has no fields".to_owned()))));
        let (found, _) = taken(&b""[..], Precision::default());
        assert_eq!(found.unwrap(), LinesTaken::default());
        let (found, _) = taken(&b"a f=\xff"[..], Precision::default());
        assert_eq!(found.unwrap().first.unwrap().1, "it is not UTF-8");
    }

    #[test]
    fn a_long_request_is_taken_in_parts() {
        let lines: String = (0..50_000).map(|at| format!("a,tag=value f={at} {at}\n")).collect();
        let (found, points) = taken(lines.as_bytes(), Precision::default());
        assert_eq!((found.unwrap().malformed, points.len()), (0, 50_000));
        assert_eq!(points[49_999], "t a f=49999 Some(49999)");
        let long = format!("a f=1\nb f=\"{}\"\nc f=2\n", "x".repeat(3 * PART));
        let (found, points) = taken(long.as_bytes(), Precision::default());
        let found = found.unwrap();
        assert_eq!((found.malformed, found.first.unwrap().0), (1, 2));
        assert_eq!(points, ["t a f=1 None", "t c f=2 None"]);
    }

    #[test]
    fn a_request_without_end_is_refused() {
        let endless = io::repeat(b'a');
        assert!(matches!(taken(endless, Precision::default()).0, Err(LinesError::TooLong)));
        let lines =
            std::iter::repeat_n(&b"a f=1\n"[..], LARGEST as usize / 6 + 1).collect::<Vec<_>>().concat();
        assert!(matches!(taken(&lines[..], Precision::default()).0, Err(LinesError::TooLong)));
    }

    proptest::proptest! {
        #[test]
        fn no_bytes_make_it_panic(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200)) {
            let _ = taken(&bytes[..], Precision::Seconds);
        }

        /// Every line is a point, a fault, empty, or a comment.
        #[test]
        fn a_broken_line_costs_no_other(at in 0_usize..20, junk in "[a-z =,\"\\\\]{0,30}") {
            let mut lines: Vec<String> = (0..20).map(|line| format!("m f={line}i")).collect();
            lines.insert(at, junk);
            let (_, points) = taken(lines.join("\n").as_bytes(), Precision::default());
            let kept = (0..20).filter(|line| points.iter().any(|point| point == &format!("t m f={line} None"))).count();
            // A text that is open may take the line behind it.
            proptest::prop_assert!(kept >= 19, "{kept}");
        }
    }
}
