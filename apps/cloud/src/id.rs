//! Ids, and hexadecimal digits.

use core::fmt;

use sotto_wire::{STREAM_TAG_BYTES, StreamTag, sums_window_id};

/// The id of an envelope, a job or a file: 16 bytes, shown as 32 hexadecimal digits. They are random, but for windows of
/// sums: `stream's tag 8 ‖ sequence number 8, the highest byte first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Id(pub(crate) [u8; 16]);

impl Id {
    pub(crate) fn random() -> Result<Self, getrandom::Error> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes)?;
        Ok(Self(bytes))
    }

    /// Returns the id of a window of sums.
    pub(crate) fn of_window(stream: StreamTag, sequence: u64) -> Self {
        Self(sums_window_id(stream, sequence))
    }

    /// Returns the stream's tag and the number that the id has if it is one of a window of sums.
    pub(crate) fn window(self) -> (StreamTag, u64) {
        let (tag, number) = self.0.split_at(STREAM_TAG_BYTES);
        let tag = StreamTag(tag.try_into().unwrap_or_default());
        (tag, u64::from_be_bytes(number.try_into().unwrap_or_default()))
    }

    /// Parses the hexadecimal digits.
    pub(crate) fn parse(digits: &str) -> Option<Self> {
        from_hex(digits).map(Self)
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// Parses exactly N bytes from lower-case hexadecimal digits. Upper case is refused, so that each id has one spelling.
pub(crate) fn from_hex<const N: usize>(digits: &str) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let lower = !digits.bytes().any(|digit| digit.is_ascii_uppercase());
    (lower && hex::decode_to_slice(digits, &mut bytes).is_ok()).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_as_many_lower_case_digits_as_there_are_bytes() {
        assert_eq!(from_hex("0aff"), Some([10, 255]));
        for wrong in ["0AFF", "0af", "0aff00", "0afg", ""] {
            assert_eq!(from_hex::<2>(wrong), None, "{wrong}");
        }
        let id = Id::random().unwrap();
        assert_eq!(Id::parse(&id.to_string()), Some(id));
    }
}
