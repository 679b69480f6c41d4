//! Percent-encoding of texts in addresses.

use core::fmt::Write as _;

/// Percent-encodes a segment of a path.
pub(crate) fn segment(text: &str) -> String {
    // As segments, `.` and `..` would lead elsewhere.
    encoded(text, if text.len() > 2 { "_-~." } else { "_-~" })
}

/// Percent-encodes a value of a query.
pub(crate) fn value(text: &str) -> String {
    encoded(text, "_-~./")
}

fn encoded(text: &str, kept: &str) -> String {
    let mut encoded = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || kept.as_bytes().contains(&byte) {
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
    fn segments_stay_segments() {
        assert_eq!(segment("kitchen_1.a-B"), "kitchen_1.a-B");
        assert_eq!(segment("../x?y=1&z#\u{e4}"), "..%2Fx%3Fy%3D1%26z%23%C3%A4");
        assert_eq!(segment(".."), "%2E%2E");
    }

    #[test]
    fn values_stay_values() {
        assert_eq!(value("kitchen/load/17"), "kitchen/load/17");
        assert_eq!(value("a&b=c d%"), "a%26b%3Dc%20d%25");
    }
}
