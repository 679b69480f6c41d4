//! Names of channels.

/// Maximum length of a channel's name, in bytes.
const LONGEST: usize = 64;

/// Returns the name of the channel of a field: small letters, digits, and one `_` for everything between them.
///
/// ```
/// assert_eq!(sotto_preset::channel_name(["AM2301", "DewPoint °C"]), "am2301_dewpoint_c");
/// ```
#[must_use]
pub fn channel_name<'k>(keys: impl IntoIterator<Item = &'k str>) -> String {
    let mut name = String::new();
    for key in keys {
        let mut gap = !name.is_empty();
        for letter in key.chars() {
            if name.len() >= LONGEST {
                return name;
            }
            if letter.is_ascii_alphanumeric() {
                if std::mem::take(&mut gap) && !name.is_empty() {
                    name.push('_');
                }
                name.push(letter.to_ascii_lowercase());
            } else {
                gap = true;
            }
        }
    }
    name.truncate(LONGEST);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_letters_digits_and_single_lines() {
        assert_eq!(channel_name(["ENERGY", "Total", "0"]), "energy_total_0");
        assert_eq!(channel_name(["  a--b  ", "!"]), "a_b");
        assert_eq!(channel_name(["°"]), "");
        assert_eq!(channel_name(["x".repeat(100).as_str()]).len(), 64);
        assert_eq!(channel_name(["x".repeat(63).as_str(), "y"]).len(), 64);
    }
}
