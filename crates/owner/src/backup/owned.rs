//! The plant that a backup is of.

use std::path::Path;

use super::contents::List;
use super::folder::digest;
use super::head::PLANT;
use super::note::BackupNote;
use crate::error::OwnerError;

/// Returns true if a folder is of the plant with this id, by the folder's note. Without a note it is if it has a file below
/// a folder as the backup's list has it, such as the owner's token, or none of the files that the list has.
pub(super) fn is_of_plant(
    folder: &Path,
    note: Option<&BackupNote>,
    id: &[u8; PLANT],
    list: &List,
) -> Result<bool, OwnerError> {
    if let Some(note) = note {
        return Ok(note.plant == hex::encode(id));
    }
    let mut has_other = false;
    for entry in list.files.iter().filter(|entry| entry.path.contains('/')) {
        match digest(&folder.join(&entry.path))? {
            Some(here) if here == entry.digest => return Ok(true),
            Some(_) => has_other = true,
            None => {}
        }
    }
    Ok(!has_other)
}
