//! The days on which the cloud did not give what repeating the work behind an answer needs: `answers/NAME.open`.
//!
//! A cloud that is away for a day proves nothing. One that holds back the same windows on three days may hide a lie.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::{pretty, read_json, remove_if_there, write_private};
use crate::trust::MOST_DAYS;

/// The days, by the plant's clock, as 2026-03-01. Not more than [`MOST_DAYS`].
#[derive(Debug, Default, Serialize, Deserialize)]
struct OpenDays {
    days: BTreeSet<String>,
}

fn path(plant: &Plant, answer: &str) -> PathBuf {
    plant.path("answers").join(format!("{answer}.open"))
}

/// Notes that work behind an answer could not be repeated today. Returns the number of days on which it could not.
pub(super) fn note(plant: &Plant, answer: &str) -> Result<u64, OwnerError> {
    let path = path(plant, answer);
    let _lock = plant.lock_folder()?;
    let mut known: OpenDays = if path.exists() { read_json(&path)? } else { OpenDays::default() };
    let now = jiff::Timestamp::now().as_millisecond();
    let today = plant.settings().clock()?.local(now).date().to_string();
    if (known.days.len() as u64) < MOST_DAYS && known.days.insert(today) {
        write_private(&path, &pretty(&known)?)?;
    }
    Ok(known.days.len() as u64)
}

/// Forgets the days of an answer: its work was repeated.
pub(super) fn clear(plant: &Plant, answer: &str) -> Result<(), OwnerError> {
    remove_if_there(&path(plant, answer))
}
