//! JSON objects one after another: a line each, or the elements of an array.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::source::SourceError;
use crate::source::files::encoding::decode;
use crate::source::files::input::{Input, LONGEST_ROW, More, refused, too_long};

/// Where an object ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Layout {
    /// At the end of its line.
    Lines,
    /// At its closing brace.
    Values,
}

/// The objects of a file.
pub(super) struct Objects {
    pub(super) input: Input,
    layout: Layout,
    /// Line ends consumed.
    lines: u64,
    /// The first line of the last object, from 1.
    pub(super) line: u64,
}

impl Objects {
    pub(super) fn new(input: Input, layout: Layout) -> Self {
        Self { input, layout, lines: 0, line: 0 }
    }

    /// Returns the first object; `None` if the file has no text.
    ///
    /// # Errors
    /// [`SourceError`] if the file begins with something else.
    pub(super) fn first(&mut self) -> Result<Option<Map<String, Value>>, SourceError> {
        match self.next()? {
            Some(None) => Err(refused(&self.input.path, format!("line {} holds no JSON object", self.line))),
            Some(object) => Ok(object),
            None => Ok(None),
        }
    }

    /// Returns the next object, or `None` in its place for a line that holds none; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Option<Map<String, Value>>>, SourceError> {
        match self.layout {
            Layout::Lines => self.next_line(),
            Layout::Values => Ok(self.next_value()?.map(Some)),
        }
    }

    fn next_line(&mut self) -> Result<Option<Option<Map<String, Value>>>, SourceError> {
        loop {
            let ended = self.input.line(0, self.lines + 1)?;
            let end = ended.unwrap_or(self.input.bytes().len());
            if end == 0 {
                return Ok(None);
            }
            self.lines += 1;
            self.line = self.lines;
            let line = &self.input.bytes()[..end];
            let object = (!line.trim_ascii().is_empty()).then(|| object(line).ok());
            self.input.consume(end);
            if object.is_some() {
                return Ok(object);
            }
        }
    }

    /// Reads an object that ends at its closing brace.
    fn next_value(&mut self) -> Result<Option<Map<String, Value>>, SourceError> {
        // Between objects.
        loop {
            let blank = self.input.bytes().iter().take_while(|byte| b" \t\r\n,[]".contains(byte)).count();
            self.skip(blank);
            if !self.input.bytes().is_empty() {
                break;
            }
            if self.input.more()? != More::Bytes {
                return Ok(None);
            }
        }
        self.line = self.lines + 1;
        let mut scan = Scan::default();
        let end = loop {
            if let Some(end) = scan.end(self.input.bytes()) {
                break end;
            }
            if self.input.bytes().len() > LONGEST_ROW {
                return Err(too_long(&self.input.path, self.line));
            }
            if self.input.more()? != More::Bytes {
                let reason = format!("the object in line {} has no end", self.line);
                return Err(refused(&self.input.path, reason));
            }
        };
        let object = object(&self.input.bytes()[..end]);
        let line = self.line;
        let object = object
            .map_err(|why| refused(&self.input.path, format!("line {line} holds no JSON object: {why}")))?;
        self.skip(end);
        Ok(Some(object))
    }

    fn skip(&mut self, count: usize) {
        self.lines += memchr::memchr_iter(b'\n', &self.input.bytes()[..count]).count() as u64;
        self.input.consume(count);
    }
}

/// Looks for the end of an object or of another value.
#[derive(Default)]
struct Scan {
    looked: usize,
    depth: usize,
    string: bool,
    escaped: bool,
}

impl Scan {
    /// Returns the length of the first value; `None` if more bytes decide.
    fn end(&mut self, bytes: &[u8]) -> Option<usize> {
        for (position, byte) in bytes.iter().enumerate().skip(self.looked) {
            self.looked = position + 1;
            if self.string {
                let escaped = std::mem::take(&mut self.escaped);
                match byte {
                    b'\\' => self.escaped = !escaped,
                    b'"' if !escaped => self.string = false,
                    _ => {}
                }
                continue;
            }
            match byte {
                b'"' => self.string = true,
                b'{' | b'[' => self.depth += 1,
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(position + 1);
                    }
                }
                b'\n' | b',' if self.depth == 0 => return Some(position + 1),
                _ => {}
            }
        }
        None
    }
}

/// Parses an object. Words that JSON does not have, such as NaN, cost their own members alone.
fn object(bytes: &[u8]) -> Result<Map<String, Value>, String> {
    let text = decode(bytes);
    let parsed = serde_json::from_str(&text).or_else(|error| match quoted(&text) {
        Cow::Owned(quoted) => serde_json::from_str(&quoted),
        Cow::Borrowed(_) => Err(error),
    });
    match parsed {
        Ok(Value::Object(object)) => Ok(object),
        Ok(_) => Err("it is another value".to_owned()),
        Err(error) => Err(error.to_string()),
    }
}

/// Puts words that are no JSON, and numbers beyond the largest one, into quotes.
fn quoted(text: &str) -> Cow<'_, str> {
    let (mut out, mut at, mut copied) = (String::new(), 0, 0);
    let bytes = text.as_bytes();
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += 1 + usize::from(bytes[at] == b'\\');
                }
                at += 1;
            }
            byte if byte.is_ascii_alphanumeric() || b"+-".contains(&byte) => {
                let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-._".contains(byte);
                let end = at + bytes[at..].iter().take_while(|byte| is_word(byte)).count();
                let word = &text[at..end];
                if let Some(replaced) = replaced(word) {
                    out.push_str(&text[copied..at]);
                    out.push_str(&replaced);
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[copied..]);
    Cow::Owned(out)
}

/// Returns the JSON for a word or a number that JSON does not have.
fn replaced(word: &str) -> Option<String> {
    if matches!(word, "true" | "false" | "null") {
        return None;
    }
    match word {
        "True" => return Some("true".to_owned()),
        "False" => return Some("false".to_owned()),
        "None" | "undefined" => return Some("null".to_owned()),
        _ => {}
    }
    // NaN, Infinity, -inf, 1e999.
    let number = word.parse::<f64>().ok()?;
    (!number.is_finite()).then(|| format!("{word:?}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_are_no_json_cost_their_own_member() {
        let read = |text: &str| object(text.as_bytes()).map(|object| Value::Object(object).to_string());
        for (text, json) in [
            (r#"{"a":NaN,"b":1}"#, r#"{"a":"NaN","b":1}"#),
            (r#"{"a":[-Infinity, +inf],"b":1e999}"#, r#"{"a":["-Infinity","+inf"],"b":"1e999"}"#),
            (r#"{"NaN":"x: NaN, \"NaN","b":None,"c":True}"#, r#"{"NaN":"x: NaN, \"NaN","b":null,"c":true}"#),
        ] {
            assert_eq!(read(text).unwrap(), json);
        }
        for text in [r#"{"a":nothing}"#, r#"{"a":1"#, "[1]", "\"NaN", r#"{"a":"NaN\"#] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn an_object_ends_at_its_brace() {
        for (text, end) in [
            (r#"{"a":"}","b":{"c":[1]}} {"#, Some(23)),
            (r#"{"a":"\"}"}x"#, Some(11)),
            (r#"{"a":"\\"}"#, Some(10)),
            (r#"{"a":1"#, None),
            ("1,2", Some(2)),
        ] {
            assert_eq!(Scan::default().end(text.as_bytes()), end, "{text}");
        }
    }
}
