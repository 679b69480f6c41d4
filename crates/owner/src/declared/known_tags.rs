//! Tags that a question names: there must be some device or channel with each.

use super::plant::Plant;
use super::settings::Settings;
use crate::error::OwnerError;
use crate::language::{TextSpans, near};

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
fn listed(names: &[&str]) -> String {
    const MOST: usize = 20;
    let more = if names.len() > MOST { format!(" and {} more", names.len() - MOST) } else { String::new() };
    format!("{}{more}", names[..names.len().min(MOST)].join(", "))
}
