//! One line of InfluxDB's protocol. Names and texts without escapes are parts of the line: nothing is allocated for them.

use std::borrow::Cow;

use memchr::{memchr2, memchr3};
use zeroize::Zeroize as _;

/// Maximum number of tags, and of fields, of a line.
const MOST_PAIRS: usize = 4096;

/// A line. Names and values have no escapes any more.
pub(crate) struct Line<'t> {
    pub(crate) measurement: Cow<'t, str>,
    pub(crate) tags: Vec<(Cow<'t, str>, Cow<'t, str>)>,
    pub(crate) fields: Vec<(Cow<'t, str>, Value<'t>)>,
    /// The digits of the time.
    pub(crate) time: Option<&'t str>,
}

/// The value of a field.
#[derive(Clone, PartialEq, Eq)]
pub enum Value<'t> {
    /// A number in decimal text: the channel that takes it reads it, so that nothing is rounded twice.
    Number(Cow<'t, str>),
    /// A text, or a truth value as `true` and `false`: states of a channel, or a number within quotes.
    Text(Cow<'t, str>),
}

/// Shows the kind alone: the value is a reading.
impl std::fmt::Debug for Value<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str(match self {
            Self::Number(_) => "Number(..)",
            Self::Text(_) => "Text(..)",
        })
    }
}

impl Value<'_> {
    /// Returns the text of a number, or the text itself.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Number(text) | Self::Text(text) => text,
        }
    }

    /// Overwrites a text of its own. One that is part of a request is wiped with the request.
    pub(crate) fn wipe(&mut self) {
        let (Self::Number(text) | Self::Text(text)) = self;
        if let Cow::Owned(text) = text {
            text.zeroize();
        }
    }
}

/// Reason why a line is none of the protocol. Names no part of the line: it may be a reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Malformed {
    #[error("it has no measurement")]
    NoMeasurement,
    #[error("a tag has no value")]
    Tag,
    #[error("it has no fields")]
    NoFields,
    #[error("a field has no value")]
    Field,
    #[error("the text of a field does not end")]
    Unterminated,
    #[error("there is more behind the text of a field")]
    BehindText,
    #[error("its time is no whole number")]
    Time,
    #[error("it has more than 4096 tags or fields")]
    TooMany,
}

/// The rest of a line that is not parsed yet.
struct Rest<'t>(&'t str);

impl<'t> Line<'t> {
    /// Parses a line without its end.
    ///
    /// # Errors
    /// [`Malformed`]: the first fault.
    pub(crate) fn read(line: &'t str) -> Result<Self, Malformed> {
        let mut rest = Rest(line.trim());
        let measurement = unescaped(rest.until(b',', b' '));
        if measurement.is_empty() {
            return Err(Malformed::NoMeasurement);
        }
        let mut tags = Vec::new();
        while rest.skip(b',') {
            let name = rest.name().ok_or(Malformed::Tag)?;
            let text = unescaped(rest.until(b',', b' '));
            if text.is_empty() || tags.len() == MOST_PAIRS {
                return Err(if text.is_empty() { Malformed::Tag } else { Malformed::TooMany });
            }
            tags.push((name, text));
        }
        rest.skip_blanks();
        if rest.0.is_empty() {
            return Err(Malformed::NoFields);
        }
        let mut fields = Vec::new();
        loop {
            let name = rest.name().ok_or(Malformed::Field)?;
            fields.push((name, rest.value()?));
            if !rest.skip(b',') {
                break;
            }
            if fields.len() == MOST_PAIRS {
                return Err(Malformed::TooMany);
            }
        }
        rest.skip_blanks();
        let time = (!rest.0.is_empty()).then_some(rest.0);
        match time.is_none_or(is_whole) {
            true => Ok(Self { measurement, tags, fields, time }),
            false => Err(Malformed::Time),
        }
    }
}

/// Returns true for the digits of a whole number, 20 characters at most.
fn is_whole(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    (1..=19).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
}

impl<'t> Rest<'t> {
    /// Takes the text up to one of two characters that no backslash escapes.
    fn until(&mut self, one: u8, other: u8) -> &'t str {
        let (bytes, mut at) = (self.0.as_bytes(), 0);
        while let Some(found) = memchr3(one, other, b'\\', bytes.get(at..).unwrap_or_default()) {
            at += found;
            if bytes[at] != b'\\' {
                break;
            }
            at += 2;
            if at >= bytes.len() {
                at = bytes.len();
            }
        }
        let ends_here = |at: &usize| bytes.get(*at).is_some_and(|byte| *byte == one || *byte == other);
        let end = Some(at).filter(ends_here).unwrap_or(bytes.len());
        // A separator is ASCII: the end is between characters.
        let (text, rest) = self.0.split_at(end);
        self.0 = rest;
        text
    }

    /// Takes a name and the sign behind it.
    fn name(&mut self) -> Option<Cow<'t, str>> {
        let name = self.until(b'=', b',');
        (self.skip(b'=') && !name.is_empty()).then(|| unescaped(name))
    }

    /// Takes the value of a field.
    fn value(&mut self) -> Result<Value<'t>, Malformed> {
        if !self.skip(b'"') {
            let text = self.until(b',', b' ');
            return Ok(match text {
                "t" | "T" | "true" | "True" | "TRUE" => Value::Text(Cow::Borrowed("true")),
                "f" | "F" | "false" | "False" | "FALSE" => Value::Text(Cow::Borrowed("false")),
                _ => Value::Number(unescaped(text.strip_suffix(['i', 'u']).unwrap_or(text))),
            });
        }
        let (bytes, mut at) = (self.0.as_bytes(), 0);
        let end = loop {
            let found = memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default());
            at += found.ok_or(Malformed::Unterminated)?;
            if bytes[at] == b'"' {
                break at;
            }
            at += 2;
        };
        let (text, rest) = self.0.split_at(end);
        self.0 = &rest[1..];
        if !matches!(self.0.as_bytes().first(), None | Some(b',' | b' ')) {
            return Err(Malformed::BehindText);
        }
        Ok(Value::Text(match text.contains('\\') {
            true => Cow::Owned(text.replace("\\\"", "\"").replace("\\\\", "\\")),
            false => Cow::Borrowed(text),
        }))
    }

    /// Takes a character if it is the next one.
    fn skip(&mut self, byte: u8) -> bool {
        let is_next = self.0.as_bytes().first() == Some(&byte);
        if is_next {
            self.0 = &self.0[1..];
        }
        is_next
    }

    fn skip_blanks(&mut self) {
        self.0 = self.0.trim_start_matches(' ');
    }
}

/// Removes the escapes of a name.
fn unescaped(text: &str) -> Cow<'_, str> {
    match text.contains('\\') {
        true => Cow::Owned(text.replace("\\,", ",").replace("\\=", "=").replace("\\ ", " ")),
        false => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_split_where_nothing_is_escaped_or_quoted() {
        let line = Line::read(
            r#"my\ room,loc=a\,b,x\=y=z,q=it"s t=1.5,n=3i,s="a, \"b\" c=d",ok=true,no=F  1700000000000000000"#,
        )
        .unwrap();
        let tags: Vec<(&str, &str)> = line.tags.iter().map(|(name, text)| (&**name, &**text)).collect();
        assert_eq!(
            (&*line.measurement, &tags[..]),
            ("my room", &[("loc", "a,b"), ("x=y", "z"), ("q", "it\"s")][..])
        );
        let fields: Vec<(&str, &str)> =
            line.fields.iter().map(|(name, value)| (&**name, value.text())).collect();
        let expected = [("t", "1.5"), ("n", "3"), ("s", "a, \"b\" c=d"), ("ok", "true"), ("no", "false")];
        assert_eq!((&fields[..], line.time), (&expected[..], Some("1700000000000000000")));
        assert_eq!(Line::read("a,b=c\\ d e=1").unwrap().tags[0].1, "c d");
    }

    #[test]
    fn a_malformed_line_has_its_reason() {
        for (line, reason) in [
            ("", Malformed::NoMeasurement),
            (",a=b t=1", Malformed::NoMeasurement),
            ("a", Malformed::NoFields),
            ("a,b", Malformed::Tag),
            ("a,b= t=1", Malformed::Tag),
            ("a b", Malformed::Field),
            ("a t=1,", Malformed::Field),
            ("a =1", Malformed::Field),
            ("a t=\"x", Malformed::Unterminated),
            ("a t=\"x\\", Malformed::Unterminated),
            ("a t=\"x\"y", Malformed::BehindText),
            ("a t=1 x", Malformed::Time),
            ("a t=1 1 2", Malformed::Time),
            ("a t=1 99999999999999999999", Malformed::Time),
            ("2024-01-01 00:00,1", Malformed::Field),
        ] {
            assert_eq!(Line::read(line).err(), Some(reason), "{line}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_text_makes_it_panic(line in "[a-z,= \\\\\"0-9é\n]{0,40}") {
            if let Ok(read) = Line::read(&line) {
                proptest::prop_assert!(!read.measurement.is_empty() && !read.fields.is_empty());
            }
        }
    }
}
