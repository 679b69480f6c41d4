//! A backup made: whole, or by a segment with the files that changed.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use sotto_keys::{KeyFile, PlantKey, Protection};
use sotto_ring::secure_rng;

use super::beside::{locked, partial};
use super::contents::{Entry, List};
use super::earlier::Earlier;
use super::error::BackupError;
use super::folder::{digest, listed};
use super::head::{FileHead, PLANT, Rest};
use super::kept::{Brought, brought, lost};
use super::note::{BackupNote, note, take_note};
use super::open::Backup;
use super::segment::{Done, Work};
use super::stream::Keys;
use crate::declared::Plant;
use crate::error::{OwnerError, io};
use crate::files::random;
use crate::links::refuse_links;
use crate::work::OnProgress;

/// Options of a backup.
///
/// Example: [`BackedUp`]
#[derive(Clone, Copy, Debug)]
pub struct BackupOptions<'a> {
    /// Write a whole new backup in place of the file, and not a segment with what changed.
    pub whole: bool,
    /// The passphrase of a new backup of a plant that has none ([`Plant::needs_backup_passphrase`]).
    pub passphrase: Option<&'a str>,
}

/// A backup that was made and compared with the folder.
///
/// ```
/// use sotto_owner::{BackedUp, BackupOptions, NewPlant, Plant};
///
/// # let folder = tempfile::tempdir()?;
/// # let here = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let plant = Plant::init(&folder.path().join("dairy"), &here)?;
/// let file = folder.path().join("dairy.backup");
/// let options = BackupOptions { whole: false, passphrase: Some("correct horse") };
/// let made: BackedUp = plant.backup(&file, options, &mut |_, _| {})?;
/// assert!(made.is_whole && made.written == made.files);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct BackedUp {
    /// The file, absolute.
    pub path: PathBuf,
    /// Number of files in the backup.
    pub files: usize,
    /// Number of files that were written this time.
    pub written: usize,
    /// Bytes of the backup.
    pub bytes: u64,
    /// True if the backup was written as a whole.
    pub is_whole: bool,
    /// True if the end of an interrupted backup was cut off before.
    pub was_torn: bool,
    /// Files that changed in the folder meanwhile: the next backup takes them.
    pub changed: Vec<String>,
    /// Secrets and records that the folder has lost, from earlier backups: a restore brings them back.
    pub kept: Vec<String>,
    /// The new place of the earlier backup, if that was damaged and this one is whole.
    pub damaged: Option<PathBuf>,
}

/// Returns true if a backup to this file needs a new passphrase, as the plant has none.
pub(crate) fn needs_passphrase(plant: &Plant, to: &Path, whole: bool) -> bool {
    !plant.has_passphrase() && (whole || !to.exists())
}

/// Writes a backup of the plant, compares it with the folder, and notes it there.
pub(crate) fn back_up(
    plant: &Plant,
    to: &Path,
    options: BackupOptions<'_>,
    progress: OnProgress<'_>,
) -> Result<BackedUp, OwnerError> {
    let to = std::path::absolute(to).map_err(io(to))?;
    let of_plant = plant.secrets().key_file()?.map(|file| file.to_vec());
    refuse_links(plant.folder())?;
    let _lock = locked(&to)?;
    let before = note(plant)?;
    let earlier = Earlier::open(plant, &to, before.as_ref(), options.passphrase)?;
    let of_earlier = earlier.as_ref().map(|earlier| earlier.backup.heads.head.plant);
    let of_note = before.as_ref().and_then(|note| id_of(&note.plant));
    let id = match of_earlier.or(of_note) {
        Some(id) => id,
        None => random()?,
    };
    let destroyed = before.map(|note| note.destroyed).unwrap_or_default();
    let work = Work { plant, to: &to, id, destroyed: &destroyed };
    // A backup under another key or an earlier passphrase is written anew.
    let continues =
        |head: &FileHead| !options.whole && of_plant.as_ref().is_none_or(|file| *file == head.key_file);
    let mut done = match earlier {
        Some(earlier) if continues(&earlier.backup.heads.head) => work.append(earlier, progress)?,
        earlier => work.whole(earlier, of_plant.clone(), options.passphrase, progress)?,
    };
    done.changed = compared(plant, &to, &done, progress)?;
    let list = hex::encode(done.list);
    let lock = plant.lock_folder()?;
    // Files may have been destroyed while the backup was written.
    let destroyed = note(plant)?.map_or(destroyed, |now| now.destroyed);
    let noted =
        BackupNote { version: 1, plant: hex::encode(id), at: done.at, path: to.clone(), list, destroyed };
    take_note(plant.folder(), &noted)?;
    drop(lock);
    let bytes = fs::metadata(&to).map_err(io(&to))?.len();
    let Done { files, written, is_whole, was_torn, changed, kept, damaged, .. } = done;
    Ok(BackedUp { path: to, files, written, bytes, is_whole, was_torn, changed, kept, damaged })
}

fn id_of(text: &str) -> Option<[u8; PLANT]> {
    hex::decode(text).ok()?.try_into().ok()
}

impl Work<'_> {
    /// Writes a new backup beside the file, and renames it into its place. A damaged one is put aside.
    fn whole(
        &self,
        earlier: Option<Earlier>,
        of_plant: Option<Vec<u8>>,
        passphrase: Option<&str>,
        progress: OnProgress<'_>,
    ) -> Result<Done, OwnerError> {
        let (plant, to) = (self.plant, self.to);
        let own;
        let (key, key_file) = match (of_plant, plant.secrets().key()?) {
            (Some(file), Some(key)) => (key, file),
            _ => {
                let passphrase = passphrase.ok_or(BackupError::NoPassphrase)?;
                let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
                own = PlantKey::generate(&mut rng);
                let protection = Protection::Passphrase(passphrase);
                let file = KeyFile::Plant.encode(own.expose_secret_bytes(), protection, &mut rng)?;
                (&own, file.to_vec())
            }
        };
        let (brought, is_damaged) = match earlier {
            Some(earlier) => self.brought(earlier)?,
            None => (Vec::new(), false),
        };
        let head = FileHead { key_file, plant: self.id, salt: random()? };
        let keys = Keys::new(key, &head.plant, &head.salt);
        let (partial, mut file) = partial(to)?;
        let written = || -> Result<Done, OwnerError> {
            file.write_all(&head.bytes()).map_err(io(&partial))?;
            let mut backup = Backup::of(&partial, file)?;
            let list = List { version: 1, ..List::default() };
            let done = self.segment(&mut backup, keys, &partial, &list, brought, progress)?;
            let damaged = if is_damaged { Some(put_aside(to)?) } else { None };
            fs::rename(&partial, to).map_err(io(to))?;
            if let Some(folder) = to.parent().filter(|_| cfg!(unix)) {
                File::open(folder).and_then(|folder| folder.sync_all()).map_err(io(folder))?;
            }
            Ok(Done { is_whole: true, damaged, ..done })
        };
        written().inspect_err(|_| {
            let _ = fs::remove_file(&partial);
        })
    }

    /// Returns the files of an earlier backup that the folder has lost, and true if some may be missing.
    fn brought(&self, mut earlier: Earlier) -> Result<(Vec<Brought>, bool), OwnerError> {
        let list = match earlier.list {
            Ok(list) => list,
            Err(OwnerError::Backup(BackupError::Damaged { .. })) => return Ok((Vec::new(), true)),
            Err(error) => return Err(error),
        };
        let (_, files) = listed(self.plant.folder())?;
        let lost = lost(&list, &files, self.destroyed);
        let is_cut = earlier.backup.heads.rest == Rest::Damaged;
        let (brought, is_damaged) =
            brought(self.plant, &mut earlier.backup, &earlier.key, &earlier.keys, &lost)?;
        Ok((brought, is_cut || is_damaged))
    }

    /// Appends a segment, unless nothing changed. Cuts off a segment that was not finished.
    fn append(&self, earlier: Earlier, progress: OnProgress<'_>) -> Result<Done, OwnerError> {
        let (to, Earlier { mut backup, keys, list, .. }) = (self.to, earlier);
        let was_torn = backup.heads.rest == Rest::Torn;
        if backup.heads.rest == Rest::Damaged {
            let segment = backup.last().map_or(0, |last| last + 1);
            let reason = "its head cannot be read".to_owned();
            return Err(BackupError::Damaged { path: to.to_owned(), segment, reason }.into());
        }
        let list = list?;
        let end = backup.heads.end;
        if was_torn {
            backup.file().set_len(end).map_err(io(to))?;
        }
        let done = self.segment(&mut backup, keys, to, &list, Vec::new(), progress).inspect_err(|_| {
            // A full disk gets its room back.
            let _ = backup.file().set_len(end);
        })?;
        Ok(Done { was_torn, ..done })
    }
}

/// Renames a damaged backup. Returns its new path.
fn put_aside(path: &Path) -> Result<PathBuf, OwnerError> {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".damaged-{}", Timestamp::now().as_millisecond()));
    let aside = path.with_file_name(name);
    fs::rename(path, &aside).map_err(io(path))?;
    Ok(aside)
}

/// Reads the backup again and compares every file with the folder's, but for those that the folder has lost. Returns those
/// that changed in the folder meanwhile.
fn compared(
    plant: &Plant,
    path: &Path,
    done: &Done,
    progress: OnProgress<'_>,
) -> Result<Vec<String>, OwnerError> {
    let mut backup = Backup::open(path)?;
    let list = backup.list(&done.keys)?;
    let wanted: BTreeMap<&str, &Entry> =
        list.files.iter().map(|entry| (entry.path.as_str(), entry)).collect();
    let all: u64 = list.files.iter().map(|entry| entry.bytes).sum();
    let mut read = 0;
    backup.files(&done.keys, &wanted, |entry, _| {
        read += entry.bytes;
        progress(all + read, 2 * all.max(1));
        Ok(())
    })?;
    let mut changed = Vec::new();
    for entry in list.files.iter().filter(|entry| !done.kept.contains(&entry.path)) {
        if digest(&plant.path(&entry.path))?.as_deref() != Some(&entry.digest) {
            changed.push(entry.path.clone());
        }
    }
    Ok(changed)
}
