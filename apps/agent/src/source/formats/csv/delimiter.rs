//! Guesses the delimiter from the first line.

use crate::source::SourceError;
use crate::source::files::input::Input;

/// The possible delimiters. If two are equally frequent, the earlier one wins.
const DELIMITERS: &[u8] = b"\t;|,";

/// Skips empty lines, and a first line `sep=;` as spreadsheets write it. Returns the number of skipped lines and the
/// delimiter.
pub(super) fn first_line(input: &mut Input, header: bool) -> Result<(u64, u8), SourceError> {
    let mut skipped = 0;
    loop {
        let end = input.line(skipped + 1, true)?.unwrap_or(input.bytes().len());
        let line = input.bytes()[..end].trim_ascii_end();
        let named = match *line {
            [b's', b'e', b'p', b'=', delimiter] => Some(delimiter),
            _ if line.is_empty() && end > 0 => None,
            _ => return Ok((skipped, guess(line, header))),
        };
        skipped += u64::from(input.bytes()[end - 1] == b'\n');
        input.consume(end);
        if let Some(delimiter) = named {
            return Ok((skipped, delimiter));
        }
    }
}

/// Returns the most frequent delimiter outside quotes. Without a header, a comma wins only if no other delimiter
/// occurs: it may be the decimal mark.
fn guess(line: &[u8], header: bool) -> u8 {
    let mut counts = [0usize; DELIMITERS.len()];
    let mut quoted = false;
    for byte in line {
        quoted ^= *byte == b'"';
        if let Some(position) = DELIMITERS.iter().position(|delimiter| delimiter == byte && !quoted) {
            counts[position] += 1;
        }
    }
    let others = counts[..3].iter().any(|count| *count > 0);
    if !header && others {
        counts[3] = 0;
    }
    let most = counts.iter().max().copied().unwrap_or_default();
    let position = counts.iter().position(|count| *count == most && most > 0);
    position.map_or(b',', |position| DELIMITERS[position])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_guessed_from_the_first_line() {
        for (line, header, delimiter) in [
            ("time,flow", true, b','),
            ("Zeit;Fluss [l/s];Temp, aussen", true, b';'),
            ("a\tb\tc", true, b'\t'),
            ("a|b", true, b'|'),
            ("\"a;b;c\",d", true, b','),
            ("load", true, b','),
            ("14.02.2014 21:30;3,14;2,71;1,41", false, b';'),
            ("1,2,3", false, b','),
        ] {
            assert_eq!(guess(line.as_bytes(), header), delimiter, "{line}");
        }
    }
}
