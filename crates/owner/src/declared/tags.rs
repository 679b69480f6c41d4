//! Tags of devices and channels in `sotto.toml`.

use crate::language::limits;

/// Checks the tags of a device or a channel.
pub(super) fn check(tags: &[String]) -> Result<(), String> {
    if tags.len() > limits::TAGS {
        return Err(format!("{} tags; at most {} are allowed", tags.len(), limits::TAGS));
    }
    for (at, tag) in tags.iter().enumerate() {
        if !sotto_program::is_name(tag) {
            return Err(format!("tag {tag:?}: a tag has 1 to 64 of A-Z a-z 0-9 _ . -"));
        }
        if tags[..at].contains(tag) {
            return Err(format!("the tag {tag} comes twice: remove one"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_a_name_and_comes_once() {
        let check = |tags: &[&str]| check(&tags.iter().map(|tag| (*tag).to_owned()).collect::<Vec<_>>());
        assert_eq!(check(&["barn", "first-floor", "2.og"]), Ok(()));
        assert!(check(&["barn", "barn"]).unwrap_err().contains("twice"));
        assert!(check(&["the barn"]).unwrap_err().contains("the barn"));
        assert!(check(&[""]).is_err());
        let many: Vec<String> = (0..=limits::TAGS).map(|number| format!("t{number}")).collect();
        assert!(super::check(&many).unwrap_err().contains("65 tags"));
    }
}
