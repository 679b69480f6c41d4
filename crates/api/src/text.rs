//! Texts of answers, which may come from a hostile service: bounded, and safe to show in a terminal.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer};

/// Longest explanation, in characters.
const LONGEST_TEXT: usize = 400;
/// Longest name or id, in bytes.
const LONGEST_NAME: usize = 64;

/// Removes control characters, those of writing direction too, and cuts after 400 characters.
#[must_use]
pub fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control() && !is_direction(*c)).take(LONGEST_TEXT).collect()
}

/// Returns true for a character that changes the direction of the text behind it, so that a terminal shows another text than
/// there is (UAX #9, section 2).
#[must_use]
pub fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Returns true for a name or an identifier: 1 to 64 of `A-Z a-z 0-9 _ . -`.
pub(crate) fn is_name(text: &str) -> bool {
    (1..=LONGEST_NAME).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
}

/// Reads a name or an identifier.
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

/// Bytes as hexadecimal digits.
pub(crate) mod bytes {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex::encode(bytes))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        hex::decode(String::deserialize(from)?).map_err(D::Error::custom)
    }
}

/// A digest or key of 32 bytes as hexadecimal digits.
pub(crate) mod digest {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(crate) fn serialize<S: Serializer>(digest: &[u8; 32], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hex::encode(digest))
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; 32], D::Error> {
        let mut digest = [0; 32];
        hex::decode_to_slice(String::deserialize(from)?, &mut digest).map_err(D::Error::custom)?;
        Ok(digest)
    }
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
}
