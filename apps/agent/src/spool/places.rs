//! Windows of places in a spool: earlier programs put them there, and no cloud takes them any more.

use std::collections::BTreeMap;
use std::path::Path;

use sotto_pack::Clock;
use sotto_wire::{Envelope, LARGEST_ENVELOPE, SignedHeader, WireError};

use super::entry::Entry;
use super::error::SpoolError;
use super::folder::{REFUSED, bytes_of, entries};
use super::places_wait::PlacesWait;

/// Refuses a spool of a device with windows of places. Looks at those that wait, and with `refused` also at those that
/// the cloud has refused.
///
/// # Errors
/// [`SpoolError::Places`] if there are any; another [`SpoolError`] if the folder cannot be read.
pub fn refuse_places(folder: &Path, device: &str, clock: &Clock, refused: bool) -> Result<(), SpoolError> {
    let mut folders = vec![folder.to_owned()];
    folders.extend(refused.then(|| folder.join(REFUSED)));
    let (mut windows, mut readings, mut times) = (0, 0, None::<(i64, i64)>);
    // All windows of a stream have one form, so one that can be read tells it.
    let mut streams: BTreeMap<String, bool> = BTreeMap::new();
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for entry in entries(folder)? {
            if !streams.contains_key(&entry.stream)
                && let Some(of_places) = is_of_places(folder, &entry)?
            {
                streams.insert(entry.stream.clone(), of_places);
            }
            if streams.get(&entry.stream) != Some(&true) {
                continue;
            }
            windows += 1;
            let Ok(signed) = SignedHeader::of_kept(&bytes_of(folder, &entry)?, LARGEST_ENVELOPE) else {
                continue;
            };
            let header = signed.header();
            readings += u64::from(header.readings);
            let (first, last) = times.unwrap_or((header.started_at, header.ended_at));
            times = Some((first.min(header.started_at), last.max(header.ended_at)));
        }
    }
    if windows == 0 {
        return Ok(());
    }
    streams.retain(|_, of_places| *of_places);
    let times = times.map(|(first, last)| (clock.rfc3339(first), clock.rfc3339(last)));
    let (folder, device, streams) = (folder.to_owned(), device.to_owned(), streams.into_keys().collect());
    Err(SpoolError::Places(Box::new(PlacesWait { folder, device, streams, windows, readings, times })))
}

/// Returns true if a message is a window of places; `None` if it cannot be read.
fn is_of_places(folder: &Path, entry: &Entry) -> Result<Option<bool>, SpoolError> {
    Ok(match Envelope::read_kept(&bytes_of(folder, entry)?, LARGEST_ENVELOPE) {
        Ok(_) => Some(false),
        Err(WireError::Places) => Some(true),
        Err(_) => None,
    })
}
