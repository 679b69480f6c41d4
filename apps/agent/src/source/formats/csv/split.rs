//! Splits a line into fields. Quotes may stray: a quote that does not end where a field ends is a character.

use zeroize::Zeroizing;

/// Quotes of a line that are taken for characters one after another, before all of them are.
const MOST_STRAY: usize = 8;

/// The fields of a row. A field lies in the row's bytes, or in `copied` if its quotes had to be removed.
#[derive(Debug, Default)]
pub(super) struct Fields {
    spans: Vec<Span>,
    copied: Zeroizing<Vec<u8>>,
    /// Number of fields before the first quote that does not match, if the row has not the usual number of fields.
    sure: Option<usize>,
}

#[derive(Clone, Copy, Debug)]
struct Span {
    start: usize,
    end: usize,
    copied: bool,
}

/// How quotes are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Quotes {
    /// A quote within a quoted field ends it; characters up to the delimiter belong to it.
    End,
    /// A quote within a quoted field is a character, unless a delimiter follows.
    Inner,
    /// Every quote is a character.
    None,
}

/// What the quotes of a line are like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// Every field that begins with a quote ends with one.
    Regular,
    /// The field whose quote is at this position has another quote that is neither doubled nor before a delimiter.
    Stray(usize),
    /// The quote at this position has no end, and no quote before it is a stray one.
    Open(usize),
}

impl Fields {
    /// Returns the number of fields.
    pub(super) fn len(&self) -> usize {
        self.spans.len()
    }

    /// Returns true if a field is before every quote that does not match, or if the row has the usual number of fields.
    pub(super) fn is_sure(&self, position: usize) -> bool {
        self.sure.is_none_or(|sure| position < sure)
    }

    /// Returns true if a quote does not match, and the row has not the usual number of fields.
    pub(super) fn is_unsure(&self) -> bool {
        self.sure.is_some()
    }

    /// Returns a field; `None` if the row has fewer.
    pub(super) fn get<'r>(&'r self, row: &'r [u8], position: usize) -> Option<&'r [u8]> {
        let Span { start, end, copied } = *self.spans.get(position)?;
        if copied { self.copied.get(start..end) } else { row.get(start..end) }
    }

    /// Splits a row, which may have several lines.
    pub(super) fn split(&mut self, row: &[u8], delimiter: u8) -> Found {
        self.sure = None;
        if memchr::memchr(b'"', row).is_some() {
            return self.read(row, delimiter, Quotes::End, &[]);
        }
        self.spans.clear();
        let mut start = 0;
        for end in memchr::memchr_iter(delimiter, row) {
            self.spans.push(Span { start, end, copied: false });
            start = end + 1;
        }
        self.spans.push(Span { start, end: row.len(), copied: false });
        self.join_blanks(row, delimiter);
        Found::Regular
    }

    /// Takes several blanks for one delimiter, as columns are aligned with them.
    fn join_blanks(&mut self, row: &[u8], delimiter: u8) {
        if delimiter == b' ' {
            let is_quoted = |start: usize| start > 0 && row[start - 1] == b'"';
            self.spans.retain(|span| span.copied || span.start < span.end || is_quoted(span.start));
        }
    }

    /// Splits a line whose quotes do not match, so that it has one of the expected numbers of fields if possible.
    pub(super) fn mend(&mut self, line: &[u8], delimiter: u8, expected: [usize; 2]) {
        self.sure = None;
        for quotes in [Quotes::End, Quotes::Inner] {
            let mut stray = Vec::new();
            while let Found::Stray(quote) | Found::Open(quote) = self.read(line, delimiter, quotes, &stray) {
                if stray.len() >= MOST_STRAY {
                    break;
                }
                stray.push(quote);
            }
            if stray.len() < MOST_STRAY && expected.contains(&self.len()) {
                return;
            }
        }
        // A quoted field may also reach to the end of the line.
        for quotes in [Quotes::Inner, Quotes::None, Quotes::End] {
            let found = self.read(line, delimiter, quotes, &[]);
            if expected.contains(&self.len()) {
                return;
            }
            if let Found::Stray(quote) | Found::Open(quote) = found {
                let sure = |span: &&Span| !span.copied && span.end < quote;
                self.sure = Some(self.spans.iter().take_while(sure).count());
            }
        }
    }

    fn read(&mut self, row: &[u8], delimiter: u8, quotes: Quotes, stray: &[usize]) -> Found {
        self.spans.clear();
        self.copied.clear();
        let (mut at, mut found) = (0, Found::Regular);
        loop {
            let quote = if quotes == Quotes::None { None } else { quote_at(row, at, delimiter) };
            let quote = quote.filter(|quote| !stray.contains(quote));
            let end = match quote {
                None => {
                    let end = memchr::memchr(delimiter, &row[at..]).map_or(row.len(), |length| at + length);
                    self.spans.push(Span { start: at, end, copied: false });
                    end
                }
                Some(quote) => self.quoted(row, quote, delimiter, quotes, &mut found),
            };
            if end >= row.len() {
                self.join_blanks(row, delimiter);
                return found;
            }
            at = end + 1;
        }
    }

    /// Reads the field whose quote is at `quote`. Returns the position of the delimiter behind it, or the row's length.
    fn quoted(
        &mut self,
        row: &[u8],
        quote: usize,
        delimiter: u8,
        quotes: Quotes,
        found: &mut Found,
    ) -> usize {
        let start = quote + 1;
        let (mut at, mut copied) = (start, None);
        loop {
            let Some(length) = memchr::memchr(b'"', &row[at..]) else {
                if *found == Found::Regular {
                    *found = Found::Open(quote);
                }
                self.push(row, start, at, row.len(), copied);
                return row.len();
            };
            let end = at + length;
            if row.get(end + 1) == Some(&b'"') {
                // A doubled quote is one.
                let from = self.copy(row, start, at, end + 1, copied);
                (at, copied) = (end + 2, Some(from));
                continue;
            }
            let behind = row[end + 1..].iter().take_while(|byte| **byte == b' ' && delimiter != b' ').count();
            match row.get(end + 1 + behind) {
                Some(byte) if *byte != delimiter && !b"\r\n".contains(byte) => {
                    if *found == Found::Regular {
                        *found = Found::Stray(quote);
                    }
                    if quotes == Quotes::Inner {
                        let from = self.copy(row, start, at, end + 1, copied);
                        (at, copied) = (end + 1, Some(from));
                        continue;
                    }
                    let from = self.copy(row, start, at, end, copied);
                    let rest = end + 1;
                    let next =
                        memchr::memchr(delimiter, &row[rest..]).map_or(row.len(), |length| rest + length);
                    self.push(row, start, rest, next, Some(from));
                    return next;
                }
                _ => {
                    self.push(row, start, at, end, copied);
                    return end + 1 + behind;
                }
            }
        }
    }

    /// Copies bytes of a field. Returns the field's start in `copied`.
    fn copy(&mut self, row: &[u8], start: usize, at: usize, end: usize, copied: Option<usize>) -> usize {
        let from = copied.unwrap_or(self.copied.len());
        let begin = if copied.is_none() { start } else { at };
        self.copied.extend_from_slice(&row[begin..end]);
        from
    }

    /// Adds a field: `row[start..end]`, or the copied bytes with `row[at..end]` behind them.
    fn push(&mut self, row: &[u8], start: usize, at: usize, end: usize, copied: Option<usize>) {
        let span = match copied {
            None => Span { start, end, copied: false },
            Some(from) => {
                self.copied.extend_from_slice(&row[at..end]);
                Span { start: from, end: self.copied.len(), copied: true }
            }
        };
        self.spans.push(span);
    }
}

/// Returns the position of the quote with which a field begins; blanks may stand before it.
fn quote_at(row: &[u8], at: usize, delimiter: u8) -> Option<usize> {
    let blanks = row[at..].iter().take_while(|byte| **byte == b' ' && delimiter != b' ').count();
    (row.get(at + blanks) == Some(&b'"')).then_some(at + blanks)
}

/// Counts the fields of a line if its quotes are characters.
pub(super) fn count(line: &[u8], delimiter: u8) -> usize {
    match delimiter {
        b' ' => fields_of(line, delimiter).count(),
        _ => memchr::memchr_iter(delimiter, line).count() + 1,
    }
}

/// Returns the fields of a line if its quotes are characters.
pub(super) fn fields_of(line: &[u8], delimiter: u8) -> impl Iterator<Item = &[u8]> {
    let fields = line.split(move |byte| *byte == delimiter);
    fields.filter(move |field| delimiter != b' ' || !field.is_empty())
}

/// Returns a line without its end.
pub(super) fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(fields: &Fields, row: &[u8]) -> Vec<String> {
        let text = |position| String::from_utf8_lossy(fields.get(row, position).unwrap()).into_owned();
        (0..fields.len()).map(text).collect()
    }

    fn split(row: &str) -> (Vec<String>, Found) {
        let mut found = Fields::default();
        let what = found.split(row.as_bytes(), b',');
        (fields(&found, row.as_bytes()), what)
    }

    #[test]
    fn regular_quotes_enclose_fields() {
        for (row, expected) in [
            ("a,b", &["a", "b"][..]),
            ("", &[""]),
            (",", &["", ""]),
            ("\"a,b\",c", &["a,b", "c"]),
            ("\"\",\"\"", &["", ""]),
            ("\"a \"\"b\"\"\",c", &["a \"b\"", "c"]),
            ("\"\"\"\"", &["\""]),
            ("1, \"2\" ,3", &["1", "2", "3"]),
            ("\"a\nb\",c", &["a\nb", "c"]),
            ("a\",b\"c", &["a\"", "b\"c"]),
        ] {
            assert_eq!(
                split(row),
                (expected.iter().map(|text| (*text).to_owned()).collect(), Found::Regular),
                "{row}"
            );
        }
        assert_eq!(split("a,\"b,c").1, Found::Open(2));
        assert_eq!(split("\"5\" in,c"), (vec!["5 in".into(), "c".into()], Found::Stray(0)));
    }

    #[test]
    fn stray_quotes_are_characters_if_the_row_then_has_its_fields() {
        for (line, expected, mended) in [
            ("a,\"b,c", 3, &["a", "\"b", "c"][..]),
            ("a,b,\"c", 3, &["a", "b", "\"c"]),
            ("\"a,b,\"c\"", 3, &["\"a", "b", "c"]),
            ("a,\"21,\"50,60", 4, &["a", "\"21", "\"50", "60"]),
            ("a,\"b, c", 2, &["a", "b, c"]),
            ("a,\"6\" x 4, c\",d", 3, &["a", "6\" x 4, c", "d"]),
        ] {
            let mut found = Fields::default();
            found.mend(line.as_bytes(), b',', [expected; 2]);
            assert_eq!(fields(&found, line.as_bytes()), mended, "{line}");
            assert!(found.is_sure(expected - 1));
        }
        let mut found = Fields::default();
        found.mend(b"a,b,\"c,d", b',', [7; 2]);
        assert_eq!([0, 1, 2].map(|position| found.is_sure(position)), [true, true, false]);
    }
}
