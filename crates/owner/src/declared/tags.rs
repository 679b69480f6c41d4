//! Tags of devices and channels: checked in `sotto.toml`, and where a question names them.

use super::plant::Plant;
use super::settings::Settings;
use crate::error::OwnerError;
use crate::language::{TextSpans, limits, near};

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

/// Refuses a question that names a tag which nothing has.
pub(super) fn check_known(plant: &Plant, places: &TextSpans) -> Result<(), OwnerError> {
    let known = plant.settings().tags();
    let unknown = places.tags.iter().find(|(tag, _)| !known.contains(tag.as_str()));
    unknown.map_or(Ok(()), |(tag, _)| {
        let error = places.error_at_tag(tag, no_tag(plant.settings(), tag));
        Err(OwnerError::Question(error.to_string()))
    })
}

fn no_tag(settings: &Settings, tag: &str) -> String {
    let known: Vec<&str> = settings.tags().into_iter().collect();
    let there = match (near(tag, &known), known.is_empty()) {
        (Some(near), _) => format!("; did you mean {near}? There are {}", listed(&known)),
        (None, false) => format!("; there are {}", listed(&known)),
        (None, true) => String::new(),
    };
    format!("nothing has the tag {tag}{there}. Give it to a device with `sotto device tag NAME {tag}`")
}

/// Returns names with commas: the first twenty.
pub(super) fn listed(names: &[&str]) -> String {
    const MOST: usize = 20;
    let more = if names.len() > MOST { format!(" and {} more", names.len() - MOST) } else { String::new() };
    format!("{}{more}", names[..names.len().min(MOST)].join(", "))
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
