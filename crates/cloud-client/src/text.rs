//! Text from the cloud: bounded, and safe to show in a terminal.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer};

/// Longest explanation, in characters.
const LONGEST_TEXT: usize = 400;
/// Longest name or id, in bytes.
const LONGEST_NAME: usize = 64;

/// Removes control characters and cuts after [`LONGEST_TEXT`] characters.
pub(crate) fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(LONGEST_TEXT).collect()
}

fn is_name(text: &str) -> bool {
    (1..=LONGEST_NAME).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

/// Reads a name or an identifier: 1 to 64 of `A-Z a-z 0-9 _ . -`.
pub(crate) fn name<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    let text = String::deserialize(from)?;
    if is_name(&text) { Ok(text) } else { Err(D::Error::custom("a name has 1 to 64 of A-Z a-z 0-9 _ . -")) }
}

/// Reads names or identifiers.
pub(crate) fn names<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(serde::Deserialize)]
    struct Name(#[serde(deserialize_with = "name")] String);
    Ok(Vec::<Name>::deserialize(from)?.into_iter().map(|Name(name)| name).collect())
}

/// Reads bytes in hexadecimal.
pub(crate) fn bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
    hex::decode(String::deserialize(from)?).map_err(D::Error::custom)
}

/// Reads optional bytes in hexadecimal.
pub(crate) fn optional_bytes<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Vec<u8>>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    text.map(|text| hex::decode(text).map_err(D::Error::custom)).transpose()
}

/// Reads a digest of 32 bytes in hexadecimal.
pub(crate) fn digest<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 32], D::Error> {
    let mut digest = [0; 32];
    hex::decode_to_slice(String::deserialize(from)?, &mut digest).map_err(D::Error::custom)?;
    Ok(digest)
}

/// Reads an optional id of an envelope: 32 hexadecimal digits.
pub(crate) fn id<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    let text = Option::<String>::deserialize(from)?;
    match text {
        Some(text)
            if text.len() != 32
                || !text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
                || text.bytes().all(|byte| byte == b'0') =>
        {
            Err(D::Error::custom("an envelope's name has 32 lower-case hexadecimal digits, not all zero"))
        }
        text => Ok(text),
    }
}

/// Reads text to be shown to people.
pub(crate) fn line<'de, D: Deserializer<'de>>(from: D) -> Result<String, D::Error> {
    Ok(shown(&String::deserialize(from)?))
}

/// Reads counters by name.
pub(crate) fn counters<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, u64>, D::Error> {
    let counters = BTreeMap::<String, u64>::deserialize(from)?;
    if counters.keys().all(|name| is_name(name)) {
        Ok(counters)
    } else {
        Err(D::Error::custom("a counter's name has 1 to 64 of A-Z a-z 0-9 _ . -"))
    }
}

/// Percent-encodes a path segment or a query value.
pub(crate) fn encoded(text: &str) -> String {
    use core::fmt::Write as _;
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"_-~".contains(&byte) || (byte == b'.' && text.len() > 2) {
            encoded.push(char::from(byte));
        } else {
            // Writing to a string cannot fail.
            let _ = write!(encoded, "%{byte:02X}");
        }
    }
    encoded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn explanations_cannot_control_the_terminal() {
        let hostile = format!("no\u{1b}]0;title\u{7}\n{}", "x".repeat(1000));
        let shown = shown(&hostile);
        assert!(shown.starts_with("no]0;titlexx") && shown.chars().count() == LONGEST_TEXT, "{shown:?}");
    }

    #[test]
    fn segments_stay_segments() {
        assert_eq!(encoded("kitchen_1.a-B"), "kitchen_1.a-B");
        assert_eq!(encoded("../x?y=1&z#\u{e4}"), "..%2Fx%3Fy%3D1%26z%23%C3%A4");
        assert_eq!(encoded(".."), "%2E%2E");
    }
}
