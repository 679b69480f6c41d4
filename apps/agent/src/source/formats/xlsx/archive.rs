//! The zip archive of a workbook, read once before the crate reads it: nothing in it may be larger than it should.

use std::io::{Read, Seek};

use zip::ZipArchive;

/// Maximum number of files in a workbook.
const MOST_PARTS: usize = 10_000;
/// Maximum bytes of a sheet: 4 GiB. A million rows of twenty columns take 700 MB.
const LARGEST_SHEET: u64 = 4 << 30;
/// Maximum bytes of any other part, such as the texts: 128 MiB.
const LARGEST_PART: u64 = 128 << 20;
/// Maximum bytes of a tag, of a text between two tags, or of a comment: 1 MiB.
const LONGEST: usize = 1 << 20;
/// Fewest bytes of a text in the list of texts.
const SHORTEST_TEXT: u64 = 5;
/// A list of texts may claim this many without a look at its bytes.
const FEW_TEXTS: u64 = 10_000;

/// Checks the parts of an archive.
pub(super) fn check(file: impl Read + Seek) -> Result<(), String> {
    let damaged = |_| "it is no zip archive, or damaged: copy it again".to_owned();
    let mut archive = ZipArchive::new(file).map_err(damaged)?;
    if archive.len() > MOST_PARTS {
        return Err(format!("it holds {} files, more than {MOST_PARTS}", archive.len()));
    }
    if !archive.file_names().flatten().any(|name| name.eq_ignore_ascii_case("[content_types].xml")) {
        return Err("it is a zip archive but no workbook: unpack it, and name the files in it".to_owned());
    }
    let mut room = vec![0; 64 << 10];
    for position in 0..archive.len() {
        let part = archive.by_index(position).map_err(|error| error.to_string())?;
        let name = part.name().map_err(|error| error.to_string())?.to_ascii_lowercase();
        // The other parts, such as pictures, are not read.
        if name.ends_with(".xml") || name.ends_with(".rels") {
            look(part, &name, &mut room).map_err(|reason| format!("its part {name}: {reason}"))?;
        }
    }
    Ok(())
}

/// Reads a part to its end.
fn look(mut part: impl Read, name: &str, room: &mut [u8]) -> Result<(), String> {
    let mut tokens = Tokens { texts: name.ends_with("sharedstrings.xml"), ..Tokens::default() };
    let mut bytes = 0_u64;
    loop {
        let count = part.read(room).map_err(|error| error.to_string())?;
        if count == 0 {
            break;
        }
        bytes += count as u64;
        tokens.look(&room[..count])?;
        let most = if tokens.sheet && !tokens.texts { LARGEST_SHEET } else { LARGEST_PART };
        if bytes > most {
            return Err(format!(
                "it has more than {} MiB: write the rows as CSV, or into several workbooks",
                most >> 20
            ));
        }
    }
    if tokens.claimed > (bytes / SHORTEST_TEXT).max(FEW_TEXTS) {
        return Err(format!("it claims {} texts in {bytes} bytes", tokens.claimed));
    }
    Ok(())
}

/// A place in XML.
#[derive(Clone, Copy, Default, PartialEq)]
enum Place {
    #[default]
    Text,
    /// Behind a `<`.
    Opened,
    /// Behind a `<!` and one more character.
    Declared(u8),
    Tag,
    /// Within quotes in a tag.
    Quoted(u8),
    /// Up to these characters, of which so many have come.
    Until(&'static [u8], usize),
}

/// The tokens of XML, and how long they are.
#[derive(Default)]
struct Tokens {
    place: Place,
    /// Bytes of the open token.
    length: usize,
    /// The first bytes of the open tag.
    begin: Vec<u8>,
    /// True once the first tag was seen, and true if it is that of a sheet.
    first: bool,
    sheet: bool,
    /// True in the part with the texts.
    texts: bool,
    /// The largest number in the tag that says how many texts there are.
    claimed: u64,
}

/// Bytes of a tag that are kept.
const KEPT: usize = 4096;

impl Tokens {
    fn look(&mut self, mut bytes: &[u8]) -> Result<(), String> {
        while let Some(&byte) = bytes.first() {
            let (took, next) = match self.place {
                Place::Text => match memchr::memchr(b'<', bytes) {
                    Some(at) => (at + 1, Place::Opened),
                    None => (bytes.len(), Place::Text),
                },
                Place::Opened => match byte {
                    b'!' => (1, Place::Declared(0)),
                    b'?' => (1, Place::Until(b"?>", 0)),
                    _ => (0, Place::Tag),
                },
                Place::Declared(0) => (1, Place::Declared(byte)),
                Place::Declared(before) => match (before, byte) {
                    (b'-', b'-') => (1, Place::Until(b"-->", 0)),
                    (b'[', b'C') => (1, Place::Until(b"]]>", 0)),
                    _ => return Err("it declares a type of document, as no workbook does".to_owned()),
                },
                Place::Tag => match memchr::memchr3(b'>', b'"', b'\'', bytes) {
                    Some(at) if bytes[at] == b'>' => (at + 1, Place::Text),
                    Some(at) => (at + 1, Place::Quoted(bytes[at])),
                    None => (bytes.len(), Place::Tag),
                },
                Place::Quoted(quote) => match memchr::memchr(quote, bytes) {
                    Some(at) => (at + 1, Place::Tag),
                    None => (bytes.len(), Place::Quoted(quote)),
                },
                Place::Until(end, come) if byte == end[come] => {
                    (1, if come + 1 == end.len() { Place::Text } else { Place::Until(end, come + 1) })
                }
                // Of three characters the first two are equal: a third one of them moves the end by one.
                Place::Until(end, 2) if end[0] == end[1] && byte == end[0] => (1, Place::Until(end, 2)),
                Place::Until(end, come) => (usize::from(come == 0), Place::Until(end, 0)),
            };
            self.took(&bytes[..took], next)?;
            bytes = &bytes[took..];
        }
        Ok(())
    }

    fn took(&mut self, bytes: &[u8], next: Place) -> Result<(), String> {
        let in_tag = matches!(self.place, Place::Tag | Place::Quoted(_));
        if in_tag && (!self.first || self.texts) {
            let room = KEPT.saturating_sub(self.begin.len());
            self.begin.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        self.length += bytes.len();
        if self.length > LONGEST {
            return Err("a tag or a text in it has more than 1 MiB".to_owned());
        }
        if next == Place::Text && self.place != Place::Text || next == Place::Opened {
            self.length = 0;
        }
        if in_tag && next == Place::Text {
            self.tag();
        }
        self.place = next;
        Ok(())
    }

    /// Looks at a whole tag.
    fn tag(&mut self) {
        let end = self.begin.iter().position(|byte| b" \t\r\n/>".contains(byte)).unwrap_or(self.begin.len());
        let name = self.begin[..end].rsplit(|byte| *byte == b':').next().unwrap_or_default();
        self.sheet |= !self.first && name == b"worksheet";
        self.first = true;
        if name == b"sst" {
            let numbers = self.begin.split(|byte| !byte.is_ascii_digit());
            let number = |digits: &[u8]| {
                digits.iter().fold(0_u64, |number, digit| {
                    number.saturating_mul(10).saturating_add(u64::from(digit - b'0'))
                })
            };
            self.claimed = self.claimed.max(numbers.map(number).max().unwrap_or_default());
        }
        self.begin.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looked(xml: &[u8], name: &str) -> Result<(), String> {
        // In pieces, so that every token is cut somewhere.
        for size in [1, 7, xml.len().max(1)] {
            let mut room = vec![0; size];
            look(xml, name, &mut room)?;
        }
        Ok(())
    }

    #[test]
    fn tokens_are_short() {
        let long = "x".repeat(LONGEST);
        for (xml, fine) in [
            (
                "<?xml version=\"1.0\"?><worksheet><c r=\"A1\">1</c><!-- a --- b --></worksheet>".to_owned(),
                true,
            ),
            (format!("<a>{}</a>", "<b/>".repeat(LONGEST)), true),
            (format!("<a>{long}xx</a>"), false),
            (format!("<a b='{}'/>", "<>".repeat(LONGEST)), false),
            (format!("<a b=\"{}\"/>", "'>".repeat(LONGEST)), false),
            (format!("<!--{}-->", "<a>->".repeat(LONGEST)), false),
            (format!("<![CDATA[{}]]>", "<a>".repeat(LONGEST)), false),
            (format!("<?x {} ?>", "> <a".repeat(LONGEST)), false),
            (format!("<a><!-- {long}"), false),
            ("<!DOCTYPE a><a/>".to_owned(), false),
            ("<a><![CDATA[]]]]></a>".to_owned(), true),
        ] {
            let mut tokens = Tokens::default();
            assert_eq!(tokens.look(xml.as_bytes()).is_ok(), fine, "{xml:.60}");
            assert!(!fine || tokens.place == Place::Text, "{xml:.60}");
        }
    }

    #[test]
    fn claims_are_compared_with_bytes() {
        let texts = |count: &str| {
            format!("<x:sst xmlns=\"http://a/2006\" count=\"1\" uniqueCount=\"{count}\"><si/></x:sst>")
        };
        let name = "xl/sharedstrings.xml";
        assert_eq!(looked(texts("9999").as_bytes(), name), Ok(()));
        for count in ["99999999999", "99999999999999999999999999"] {
            assert!(
                looked(texts(count).as_bytes(), name).is_err_and(|why| why.contains("texts in")),
                "{count}"
            );
        }
        let mut sheet = Tokens::default();
        sheet.look(b"<?xml?>\n<x:worksheet a='b'><sst>").unwrap();
        assert!(sheet.sheet);
    }
}
