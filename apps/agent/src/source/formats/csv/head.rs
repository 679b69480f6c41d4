//! Finds the line that names the columns, and the delimiter.

use std::path::Path;

use super::split::{Fields, Found, count, without_end};
use crate::source::SourceError;
use crate::source::files::columns::Wanted;
use crate::source::files::encoding::decode;
use crate::source::files::places::Places;

/// Lines among which the names of the columns are looked for.
pub(super) const MOST_HEAD_LINES: u64 = 60;
/// The possible delimiters. If two are equally frequent, the earlier one wins.
const DELIMITERS: &[u8] = b"\t;|,";

/// The delimiter and the columns of a file. A file that replaces it may have no header.
#[derive(Clone, Debug)]
pub(in crate::source) struct Header {
    pub(super) delimiter: u8,
    pub(super) places: Places,
    /// The line of the names; 0 if the file has none.
    pub(super) line: u64,
}

/// Looks for the names of the columns, line by line.
pub(super) struct Search<'w> {
    pub(super) wanted: &'w Wanted,
    pub(super) path: &'w Path,
    /// The delimiter, if given or named by a line `sep=;`.
    pub(super) delimiter: Option<u8>,
    /// The names and the error of the line that is most likely the header.
    likely: Option<(usize, SourceError)>,
}

impl<'w> Search<'w> {
    pub(super) fn new(wanted: &'w Wanted, path: &'w Path, delimiter: Option<u8>) -> Self {
        Self { wanted, path, delimiter, likely: None }
    }

    /// Returns the header if this line names the columns. `line` is its number.
    pub(super) fn look(&mut self, bytes: &[u8], line: u64) -> Option<Header> {
        let bytes = without_end(bytes);
        if let [b's', b'e', b'p', b'=', delimiter] = *bytes {
            self.delimiter = self.delimiter.or(Some(delimiter));
            return None;
        }
        let comment = bytes.strip_prefix(b"#").map(<[u8]>::trim_ascii_start);
        // The names may stand in a comment.
        for bytes in [Some(bytes), comment].into_iter().flatten() {
            for delimiter in self.delimiters(bytes) {
                let names = names(bytes, delimiter);
                match Places::find(&names, self.wanted, self.path) {
                    Ok(places) => return Some(Header { delimiter, places, line }),
                    // Blanks separate the words of any text.
                    Err(_) if delimiter == b' ' && self.delimiter.is_none() => {}
                    Err(error) => self.keep(&names, comment.is_some(), error),
                }
            }
        }
        None
    }

    /// Returns the possible delimiters of a line, the most likely one first.
    fn delimiters(&self, line: &[u8]) -> Vec<u8> {
        if let Some(delimiter) = self.delimiter {
            return vec![delimiter];
        }
        let first = guess(line, true);
        let others = DELIMITERS.iter().copied().filter(|other| *other != first && line.contains(other));
        [first].into_iter().chain(others).chain(line.contains(&b' ').then_some(b' ')).collect()
    }

    /// Keeps the error about the line with the most names.
    fn keep(&mut self, names: &[String], comment: bool, error: SourceError) {
        let is_name = |name: &&String| name.chars().any(char::is_alphabetic);
        let count = if comment { 0 } else { names.iter().filter(is_name).count() };
        if self.likely.as_ref().is_none_or(|(most, _)| count > *most) {
            self.likely = Some((count, error));
        }
    }

    /// Returns the number of names of the line that is most likely the header.
    pub(super) fn likely_names(&self) -> usize {
        self.likely.as_ref().map_or(0, |(count, _)| *count)
    }

    /// Returns the error about the line that is most likely the header; `None` if there was no line.
    pub(super) fn error(self) -> Option<SourceError> {
        self.likely.map(|(_, error)| error)
    }
}

/// Returns the names in a line.
pub(super) fn names(line: &[u8], delimiter: u8) -> Vec<String> {
    let mut fields = Fields::default();
    if fields.split(line, delimiter) != Found::Regular {
        fields.mend(line, delimiter, [count(line, delimiter); 2]);
    }
    let name = |position| {
        let name = decode(fields.get(line, position).unwrap_or_default());
        name.trim().trim_matches('"').trim().to_owned()
    };
    (0..fields.len()).map(name).collect()
}

/// Returns the most frequent delimiter outside quotes. Without a header, a comma wins only if no other delimiter
/// occurs: it may be the decimal mark.
pub(super) fn guess(line: &[u8], header: bool) -> u8 {
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
