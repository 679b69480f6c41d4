//! Names of devices and streams.

/// Maximum length of a name in bytes.
const NAME_BYTES: usize = 64;

/// Returns true if `name` is a valid name of a device or a stream: 1 to 64 bytes of `A-Z a-z 0-9 _ . -`. Inputs and
/// outputs of a plan are named by the same rule.
#[must_use]
pub fn is_name(name: &str) -> bool {
    (1..=NAME_BYTES).contains(&name.len())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-'))
}

#[cfg(all(test, feature = "plan"))]
mod tests {
    use super::is_name;

    /// Every character of the first planes alone, and every length around the limit.
    #[test]
    fn names_in_frames_and_in_programs_follow_one_rule() {
        let characters = ('\0'..='\u{ffff}').map(String::from);
        let lengths = (0..=66).map(|length| "x".repeat(length));
        let mut valid = 0;
        for name in characters.chain(lengths) {
            assert_eq!(is_name(&name), sotto_program::is_name(&name), "{name:?}");
            valid += usize::from(is_name(&name));
        }
        assert_eq!(valid, 26 + 26 + 10 + 3 + 64);
    }
}
