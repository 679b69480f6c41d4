//! Percent-encoding of names in addresses.

use core::fmt::Write as _;

/// Percent-encodes a path segment or a query value.
pub(crate) fn encoded(text: &str) -> String {
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
    fn segments_stay_segments() {
        assert_eq!(encoded("kitchen_1.a-B"), "kitchen_1.a-B");
        assert_eq!(encoded("../x?y=1&z#\u{e4}"), "..%2Fx%3Fy%3D1%26z%23%C3%A4");
        assert_eq!(encoded(".."), "%2E%2E");
    }
}
