//! Conditions of writes: the writer names the state to replace (RFC 9110, section 13).

/// The header of a condition on a stored object.
pub const IF_MATCH: &str = "if-match";
/// The header of the condition that there is no such object.
pub const IF_NONE_MATCH: &str = "if-none-match";

/// The state that a write replaces. The service refuses the write in any other state.
///
/// ```
/// use sotto_api::{Condition, IF_MATCH, IF_NONE_MATCH};
///
/// assert_eq!(Condition::Generation(7).header(), (IF_MATCH, "\"7\"".to_owned()));
/// assert_eq!(Condition::New.header(), (IF_NONE_MATCH, "*".to_owned()));
/// assert_eq!(Condition::read(IF_MATCH, b"\"7\""), Some(Condition::Generation(7)));
/// assert_eq!(Condition::read(IF_MATCH, b"*"), Some(Condition::Existing));
/// assert_eq!(Condition::read(IF_MATCH, b"7"), None, "a tag stands in quotes");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// There is no such object: `If-None-Match: *`.
    New,
    /// The object is there, with this generation: `If-Match: "GENERATION"`.
    Generation(u64),
    /// The object is there, whatever its generation: `If-Match: *`. It may undo the writes of others.
    Existing,
}

impl Condition {
    /// Returns the name and the value of the condition's header.
    #[must_use]
    pub fn header(self) -> (&'static str, String) {
        match self {
            Self::New => (IF_NONE_MATCH, "*".to_owned()),
            Self::Generation(generation) => (IF_MATCH, format!("\"{generation}\"")),
            Self::Existing => (IF_MATCH, "*".to_owned()),
        }
    }

    /// Reads the condition in a header. Returns None if the value has another form: a generation is a number from 1 in
    /// quotes.
    #[must_use]
    pub fn read(header: &str, value: &[u8]) -> Option<Self> {
        match (header, value) {
            (IF_NONE_MATCH, b"*") => Some(Self::New),
            (IF_MATCH, b"*") => Some(Self::Existing),
            (IF_MATCH, quoted) => {
                let digits = quoted.strip_prefix(b"\"")?.strip_suffix(b"\"")?;
                let is_number = digits.len() <= 19 && digits.iter().all(u8::is_ascii_digit);
                let number = is_number.then(|| core::str::from_utf8(digits).ok()?.parse().ok()).flatten();
                number.filter(|number| *number > 0).map(Self::Generation)
            }
            _ => None,
        }
    }

    /// Returns true if an object with this generation, or none, is in the state.
    #[must_use]
    pub fn holds(self, stored: Option<u64>) -> bool {
        match (self, stored) {
            (Self::New, stored) => stored.is_none(),
            (Self::Existing, stored) => stored.is_some(),
            (Self::Generation(generation), stored) => stored == Some(generation),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_are_read_as_they_are_written() {
        for condition in
            [Condition::New, Condition::Existing, Condition::Generation(1), Condition::Generation(1 << 62)]
        {
            let (header, value) = condition.header();
            assert_eq!(Condition::read(header, value.as_bytes()), Some(condition));
        }
        for wrong in
            ["", "\"\"", "\"0\"", "\"-1\"", "W/\"1\"", "\"1\", \"2\"", "\"99999999999999999999\"", "\"1"]
        {
            assert_eq!(Condition::read(IF_MATCH, wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(Condition::read(IF_NONE_MATCH, b"\"1\""), None);
    }

    #[test]
    fn a_condition_holds_in_its_state_alone() {
        assert!(Condition::New.holds(None) && !Condition::New.holds(Some(1)));
        assert!(Condition::Existing.holds(Some(9)) && !Condition::Existing.holds(None));
        assert!(Condition::Generation(2).holds(Some(2)) && !Condition::Generation(2).holds(Some(3)));
        assert!(!Condition::Generation(2).holds(None));
    }
}
