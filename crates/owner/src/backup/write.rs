//! A backup made: whole, or by a segment with the files that changed.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Read as _, Seek as _, SeekFrom, Write};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use sotto_keys::{KeyFile, PlantKey, Protection};
use sotto_ring::secure_rng;

use super::contents::{Entry, Folder, List, write_file_head, write_list};
use super::error::BackupError;
use super::folder::{digest, listed};
use super::head::{FileHead, Rest, SEGMENT_HEAD, SegmentHead};
use super::note::{BackupNote, take_note};
use super::open::Backup;
use super::stream::{Keys, Sealer};
use crate::declared::Plant;
use crate::error::{OwnerError, io};
use crate::files::random;
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
    // A backup under another key or an earlier passphrase is written anew.
    let existing = match to.exists() && !options.whole {
        true => Some(locked(&to)?)
            .filter(|backup| of_plant.as_ref().is_none_or(|file| *file == backup.heads.head.key_file)),
        false => None,
    };
    let mut done = match existing {
        Some(backup) => append(plant, &to, backup, progress)?,
        None => whole(plant, &to, of_plant, options.passphrase, progress)?,
    };
    done.changed = compared(plant, &to, &done.keys, progress)?;
    let note = BackupNote { version: 1, at: done.at, path: to.clone(), list: hex::encode(done.list) };
    take_note(plant.folder(), &note)?;
    let bytes = fs::metadata(&to).map_err(io(&to))?.len();
    let Done { files, written, is_whole, was_torn, changed, .. } = done;
    Ok(BackedUp { path: to, files, written, bytes, is_whole, was_torn, changed })
}

struct Done {
    keys: Keys,
    at: i64,
    list: [u8; 32],
    files: usize,
    written: usize,
    is_whole: bool,
    was_torn: bool,
    changed: Vec<String>,
}

/// Opens a backup for writing, and excludes other processes that write it.
fn locked(path: &Path) -> Result<Backup, OwnerError> {
    let file = File::options().read(true).write(true).open(path).map_err(io(path))?;
    Backup::of(path, exclusive(path, file)?)
}

fn exclusive(path: &Path, file: File) -> Result<File, OwnerError> {
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(BackupError::InUse { path: path.to_owned() }.into()),
        Err(TryLockError::Error(error)) => Err(io(path)(error)),
    }
}

/// Writes a new backup beside the file, and renames it into its place.
fn whole(
    plant: &Plant,
    to: &Path,
    of_plant: Option<Vec<u8>>,
    passphrase: Option<&str>,
    progress: OnProgress<'_>,
) -> Result<Done, OwnerError> {
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
    if to.exists() {
        // Replaces backups only.
        Backup::open(to)?;
    }
    let head = FileHead { key_file, salt: random()? };
    let keys = Keys::new(key, &head.salt);
    let mut name = to.file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    let partial = to.with_file_name(name);
    let written = || -> Result<Done, OwnerError> {
        let mut options = File::options();
        // What an interrupted backup left is overwritten.
        options.read(true).write(true).create(true).truncate(false);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(&partial).map_err(io(&partial))?;
        let mut file = exclusive(&partial, file)?;
        file.set_len(0).map_err(io(&partial))?;
        file.write_all(&head.bytes()).map_err(io(&partial))?;
        let mut backup = Backup::of(&partial, file)?;
        let list = List { version: 1, ..List::default() };
        let done = segment(plant, &mut backup, keys, &partial, &list, progress)?;
        fs::rename(&partial, to).map_err(io(to))?;
        if let Some(folder) = to.parent().filter(|_| cfg!(unix)) {
            File::open(folder).and_then(|folder| folder.sync_all()).map_err(io(folder))?;
        }
        Ok(Done { is_whole: true, ..done })
    };
    written().inspect_err(|error| {
        if !matches!(error, OwnerError::Backup(BackupError::InUse { .. })) {
            let _ = fs::remove_file(&partial);
        }
    })
}

/// Appends a segment, unless nothing changed. Cuts off a segment that was not finished.
fn append(
    plant: &Plant,
    to: &Path,
    mut backup: Backup,
    progress: OnProgress<'_>,
) -> Result<Done, OwnerError> {
    let was_torn = backup.heads.rest == Rest::Torn;
    if backup.heads.rest == Rest::Damaged {
        let segment = backup.last().map_or(0, |last| last + 1);
        let reason = "its head cannot be read".to_owned();
        return Err(BackupError::Damaged { path: to.to_owned(), segment, reason }.into());
    }
    let keys = backup.keys(&plant.secrets().key_of(to, &backup.heads.head.key_file)?);
    let list = backup.list(&keys)?;
    if was_torn {
        let end = backup.heads.end;
        backup.file().set_len(end).map_err(io(to))?;
    }
    let end = backup.heads.end;
    let done = segment(plant, &mut backup, keys, to, &list, progress).inspect_err(|_| {
        // As on a full disk: what was written makes room again.
        let _ = backup.file().set_len(end);
    })?;
    Ok(Done { was_torn, ..done })
}

/// Writes the files that are not in `before` at the end of a backup, then the new list.
fn segment(
    plant: &Plant,
    backup: &mut Backup,
    keys: Keys,
    path: &Path,
    before: &List,
    progress: OnProgress<'_>,
) -> Result<Done, OwnerError> {
    let number = backup.last().map_or(0, |last| last + 1);
    let at = Timestamp::now().as_millisecond();
    let (folders, mut files) = listed(plant.folder())?;
    let known: BTreeMap<&str, &Entry> =
        before.files.iter().map(|entry| (entry.path.as_str(), entry)).collect();
    let mut changed = Vec::new();
    for (place, entry) in files.iter_mut().enumerate() {
        let Some(digest) = digest(&plant.path(&entry.path))? else { continue };
        entry.digest = digest;
        match known.get(entry.path.as_str()) {
            Some(same) if same.digest == entry.digest => entry.segment = same.segment,
            _ => changed.push(place),
        }
    }
    files_there(&mut files, &mut changed);
    let last = backup.heads.last().copied();
    if let Some(last) = last.filter(|_| changed.is_empty() && is_same(before, &folders, &files)) {
        let (files, list) = (files.len(), last.list);
        return Ok(Done {
            keys,
            at,
            list,
            files,
            written: 0,
            is_whole: false,
            was_torn: false,
            changed: vec![],
        });
    }
    let head = SegmentHead { number, at, bytes: 0, list: [0; 32], nonce: random()? };
    let start = backup.heads.end;
    let associated = head.associated(&backup.heads.list_before(number));
    let file = backup.file();
    file.seek(SeekFrom::Start(start)).map_err(io(path))?;
    file.write_all(&[0; SEGMENT_HEAD]).map_err(io(path))?;
    let mut sealer = Sealer::new(BufWriter::with_capacity(1 << 17, &*file), &keys, &head.nonce, associated);
    let all: u64 = changed.iter().map(|place| files[*place].bytes).sum();
    let mut done = 0;
    for place in &changed {
        let entry = &mut files[*place];
        copy(plant, entry, &mut sealer, path)?;
        entry.segment = number;
        done += entry.bytes;
        // The comparison afterwards is the other half of the work.
        progress(done, 2 * all.max(1));
    }
    let list = List { version: 1, folders, files };
    let text = serde_json::to_vec(&list).map_err(|error| OwnerError::WrongAnswer(error.to_string()))?;
    write_list(&mut sealer, &text).map_err(io(path))?;
    let (out, bytes) = sealer.finish().map_err(io(path))?;
    drop(out);
    file.sync_all().map_err(io(path))?;
    let head = SegmentHead { bytes, list: keys.digest(&text), ..head };
    file.seek(SeekFrom::Start(start)).map_err(io(path))?;
    file.write_all(&head.bytes()).map_err(io(path))?;
    file.sync_all().map_err(io(path))?;
    let (files, written) = (list.files.len(), changed.len());
    Ok(Done { keys, at, list: head.list, files, written, is_whole: false, was_torn: false, changed: vec![] })
}

/// Drops files that were gone when they were read.
fn files_there(files: &mut Vec<Entry>, changed: &mut Vec<usize>) {
    let paths: Vec<String> = changed.iter().map(|place| files[*place].path.clone()).collect();
    files.retain(|entry| !entry.digest.is_empty());
    *changed = (0..files.len()).filter(|place| paths.binary_search(&files[*place].path).is_ok()).collect();
}

fn is_same(before: &List, folders: &[Folder], files: &[Entry]) -> bool {
    before.folders == folders && before.files == files
}

/// Copies one file as long as it is now, and notes length and digest of the copied bytes.
fn copy(plant: &Plant, entry: &mut Entry, out: &mut impl Write, backup: &Path) -> Result<(), OwnerError> {
    let path = plant.path(&entry.path);
    let changed = || BackupError::Changed { path: path.clone() };
    let file = match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Err(changed().into()),
        file => file.map_err(io(&path))?,
    };
    entry.bytes = file.metadata().map_err(io(&path))?.len();
    write_file_head(out, &entry.path, entry.bytes).map_err(io(backup))?;
    let (mut from, mut left, mut hasher) = (file, entry.bytes, blake3::Hasher::new());
    let mut buffer = zeroize::Zeroizing::new(vec![0; 64 << 10]);
    while left > 0 {
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let read = from.read(&mut buffer[..most]).map_err(io(&path))?;
        if read == 0 {
            return Err(changed().into());
        }
        hasher.update(&buffer[..read]);
        out.write_all(&buffer[..read]).map_err(io(backup))?;
        left -= read as u64;
    }
    entry.digest = hasher.finalize().to_hex().to_string();
    Ok(())
}

/// Reads the backup again and compares every file with the folder's. Returns those that changed in the folder meanwhile.
fn compared(
    plant: &Plant,
    path: &Path,
    keys: &Keys,
    progress: OnProgress<'_>,
) -> Result<Vec<String>, OwnerError> {
    let mut backup = Backup::open(path)?;
    let list = backup.list(keys)?;
    let wanted: BTreeMap<&str, &Entry> =
        list.files.iter().map(|entry| (entry.path.as_str(), entry)).collect();
    let all: u64 = list.files.iter().map(|entry| entry.bytes).sum();
    let mut done = 0;
    backup.files(keys, &wanted, |entry, _| {
        done += entry.bytes;
        progress(all + done, 2 * all.max(1));
        Ok(())
    })?;
    let mut changed = Vec::new();
    for entry in &list.files {
        if digest(&plant.path(&entry.path))?.as_deref() != Some(&entry.digest) {
            changed.push(entry.path.clone());
        }
    }
    Ok(changed)
}
