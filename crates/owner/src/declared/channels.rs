//! Removal of channels.

use super::plant::Plant;
use super::{conditions, edit, questions};
use crate::error::OwnerError;

/// Removes a channel from `sotto.toml`. Stored windows keep it, but no question about it is answered.
pub(crate) fn remove_channel(plant: &mut Plant, name: &str) -> Result<(), OwnerError> {
    let mut first = Vec::new();
    for question in
        questions::questions(plant)?.iter().filter(|(_, question)| question.channels().contains(name))
    {
        first.push(format!("`sotto question remove {}`", question.0));
    }
    for alarm in plant.settings().alarms.keys() {
        if conditions::alarm(plant, alarm)?.channels().contains(name) {
            first.push(format!("`sotto alarm remove {alarm}`"));
        }
    }
    for (derived, settings) in &plant.settings().channels {
        if settings.derived.as_ref().is_some_and(|formula| formula.channels().contains(name)) {
            first.push(format!("`sotto channel remove {derived}`"));
        }
    }
    for (device, settings) in &plant.settings().devices {
        if settings.channels.iter().any(|channel| channel == name) {
            first.push(format!(
                "`sotto device remove {device}`, or take {name} out of [devices.{device}] in sotto.toml"
            ));
        }
    }
    if !first.is_empty() {
        return Err(OwnerError::InUse { channel: name.to_owned(), first });
    }
    plant.edit(|document| edit::remove_channel(document, name))
}
