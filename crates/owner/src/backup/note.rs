//! The note of the last backup, and the folder compared with it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::fate::decides;
use super::open::Backup;
use super::paths::NOTE;
use crate::declared::Plant;
use crate::devices::Fault;
use crate::error::{OwnerError, unlinked};
use crate::files::{pretty, read_json, write_private};
use crate::links::links;

/// The last backup of a plant, or the one that it was restored from: `backup.json` in its folder.
///
/// ```no_run
/// use sotto_owner::{BackupNote, Plant};
///
/// match Plant::open("dairy".as_ref())?.last_backup()? {
///     Some(BackupNote { at, path, .. }) => println!("{}, {at} ms since 1970", path.display()),
///     None => println!("no backup yet"),
/// }
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackupNote {
    /// The version of this format: 1.
    pub version: u32,
    /// The plant's id, random, in hexadecimal: that in the heads of its backups.
    pub plant: String,
    /// Milliseconds since 1970.
    pub at: i64,
    /// The backup's file, absolute.
    pub path: PathBuf,
    /// The digest of the list of files, in hexadecimal: that of the backup's last segment.
    pub list: String,
    /// Files that were destroyed by name, with the times in milliseconds since 1970: no later backup keeps them.
    #[serde(default)]
    pub destroyed: BTreeMap<String, i64>,
}

/// Returns the note of the last backup; None if there was none.
pub(crate) fn note(plant: &Plant) -> Result<Option<BackupNote>, OwnerError> {
    note_in(plant.folder())
}

/// Returns the note in a folder; None if there is none.
pub(super) fn note_in(folder: &Path) -> Result<Option<BackupNote>, OwnerError> {
    let path = folder.join(NOTE);
    if path.exists() { read_json(&path).map(Some) } else { Ok(None) }
}

/// Notes that files of the folder were destroyed by name. Without a backup there is nothing to note.
pub(crate) fn note_destroyed(plant: &Plant, files: &[PathBuf]) -> Result<(), OwnerError> {
    let _lock = plant.lock_folder()?;
    let Some(mut note) = note(plant)? else { return Ok(()) };
    let now = Timestamp::now().as_millisecond();
    let paths = files.iter().filter_map(|file| file.strip_prefix(plant.folder()).ok());
    let paths = paths.map(|path| path.to_string_lossy().into_owned()).filter(|path| decides(path));
    note.destroyed.extend(paths.map(|path| (path, now)));
    take_note(plant.folder(), &note)
}

/// Writes the note of a backup into a plant's folder.
pub(super) fn take_note(folder: &Path, note: &BackupNote) -> Result<(), OwnerError> {
    write_private(&folder.join(NOTE), &pretty(note)?)
}

/// Returns the faults of which a backup tells, or that keep one from being made: links, and a folder that is older than its
/// backup.
pub(crate) fn check(plant: &Plant) -> Result<Vec<Fault>, OwnerError> {
    let fault = |path: PathBuf| Fault {
        file: path.strip_prefix(plant.folder()).unwrap_or(&path).display().to_string(),
        what: "is a link, which no backup holds and no passphrase protects".to_owned(),
        cure: unlinked(&path),
        lost: false,
    };
    let mut faults: Vec<Fault> = links(plant.folder())?.into_iter().map(fault).collect();
    faults.extend(older(plant)?);
    Ok(faults)
}

/// Returns a fault if the backup that the note names has a later segment: then the folder is an older copy. Reads heads only,
/// which need no passphrase.
fn older(plant: &Plant) -> Result<Option<Fault>, OwnerError> {
    let Ok(Some(note)) = note(plant) else { return Ok(None) };
    // A disk that is elsewhere is no fault.
    let Ok(backup) = Backup::open(&note.path) else { return Ok(None) };
    let is_own = hex::encode(backup.heads.head.plant) == note.plant;
    let Some(last) = backup.heads.last().filter(|last| is_own && last.at > note.at) else { return Ok(None) };
    let when = plant.settings().clock()?.rfc3339(last.at);
    Ok(Some(Fault {
        file: ".".to_owned(),
        what: format!("is older than the backup of {when} in {}", note.path.display()),
        cure: format!("sotto restore {}", note.path.display()),
        lost: false,
    }))
}
