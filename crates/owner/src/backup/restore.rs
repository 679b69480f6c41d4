//! A plant's folder restored from a backup.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::Timestamp;
use sotto_keys::PlantKey;
use zeroize::Zeroizing;

use super::contents::{Entry, List};
use super::error::BackupError;
use super::fate::{Contents, Fate, LARGEST_DECIDING, Target, decides};
use super::head::Rest;
use super::note::{BackupNote, note_in, take_note};
use super::open::Backup;
use super::owned::is_of_plant;
use crate::error::{OwnerError, io};
use crate::files::make_folder;
use crate::secrets::{KEY, SECRETS, Secrets, Unlock};
use crate::work::OnProgress;

/// The file that makes a folder a plant; written last.
const SETTINGS: &str = "sotto.toml";

/// Options of a restore.
///
/// Example: [`RestoredFolder`]
#[derive(Clone, Copy, Debug, Default)]
pub struct RestoreOptions {
    /// Take the backup's files where the folder has others, which are moved to `before-restore-TIME`. Never secrets.
    pub replace: bool,
    /// Change nothing: tell what would be done.
    pub dry_run: bool,
}

/// A folder that was restored, or would be.
///
/// ```
/// use sotto_owner::{BackupOptions, NewPlant, Plant, RestoreOptions, RestoredFolder, Unlock, restore_backup};
///
/// # let folder = tempfile::tempdir()?;
/// # let here = NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let (file, passphrase) = (folder.path().join("dairy.backup"), folder.path().join("passphrase"));
/// # sotto_keys::make_private(&passphrase, b"correct horse")?;
/// # let plant = Plant::init(&folder.path().join("dairy"), &here)?;
/// # let options = BackupOptions { whole: false, passphrase: Some("correct horse") };
/// # plant.backup(&file, options, &mut |_, _| {})?;
/// // `file` is a backup of `plant`.
/// let again = folder.path().join("again");
/// let unlock = Unlock::by_file(passphrase);
/// let done: RestoredFolder = restore_backup(&file, &again, RestoreOptions::default(), &unlock, &mut |_, _| {})?;
/// assert!(done.restored.contains(&"secrets/owner-token".to_owned()) && done.refused.is_empty());
/// assert_eq!(Plant::open(&again)?.token()?, plant.token()?);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, serde::Serialize)]
pub struct RestoredFolder {
    /// The folder.
    pub folder: PathBuf,
    /// Time of the backup, in milliseconds since 1970.
    pub at: i64,
    /// Number of files in the backup.
    pub files: usize,
    /// Files that the folder lacked, or whose backup is newer.
    pub restored: Vec<String>,
    /// Files of which the folder has others, which stay.
    pub kept: Vec<String>,
    /// Files of which the folder has newer ones, which stay.
    pub newer: Vec<String>,
    /// Secrets of which the folder has others, which stay.
    pub refused: Vec<String>,
    /// Where the folder's files are that others took the place of.
    pub moved_to: Option<PathBuf>,
    /// True if the end of the backup is missing or damaged: the segments before were used.
    pub is_cut: bool,
}

/// Restores a plant from a backup: into a missing or an empty folder the whole plant; into an existing one the files that it
/// lacks, and records of devices that are newer in the backup. Secrets are never overwritten.
///
/// # Errors
/// [`BackupError`](crate::BackupError) if the file is no backup, is damaged, or of another plant than the folder; another [`OwnerError`] if no passphrase opens
/// it, or a file cannot be written.
pub fn restore_backup(
    file: &Path,
    to: &Path,
    options: RestoreOptions,
    unlock: &Unlock,
    progress: OnProgress<'_>,
) -> Result<RestoredFolder, OwnerError> {
    let mut backup = Backup::open(file)?;
    let secrets = Secrets::of(to).unlocking(unlock.clone());
    let key = secrets.key_of(file, &backup.heads.head.key_file)?;
    let keys = backup.keys(&key);
    let list = backup.list(&keys)?;
    let (id, note) = (backup.heads.head.plant, note_in(to)?);
    if to.join(SETTINGS).exists() && !is_of_plant(to, note.as_ref(), &id, &list)? {
        return Err(BackupError::OtherFolder { path: file.to_owned(), folder: to.to_owned() }.into());
    }
    let deciding = list.files.iter().filter(|entry| decides(&entry.path) || entry.path == SETTINGS);
    let deciding: BTreeMap<&str, &Entry> = deciding.map(|entry| (entry.path.as_str(), entry)).collect();
    let mut contents = Contents::new();
    backup.files(&keys, &deciding, |entry, from| {
        let mut bytes = Zeroizing::new(Vec::new());
        from.take(LARGEST_DECIDING).read_to_end(&mut bytes)?;
        contents.insert(entry.path.clone(), bytes);
        Ok(())
    })?;
    let target =
        Target { folder: to, secrets: &secrets, key: &key, contents: &contents, replace: options.replace };
    let fates = target.fates(&list)?;
    let mut report = report(&list, &fates, to);
    report.at = backup.heads.last().map_or(0, |last| last.at);
    report.is_cut = backup.heads.rest != Rest::Nothing;
    let is_taken = |fate: &Fate| matches!(fate, Fate::Put | Fate::Take);
    let taken: Vec<(&Entry, Fate)> =
        list.files.iter().zip(fates).filter(|(_, fate)| is_taken(fate)).collect();
    let mut writer = Writer::new(to, &secrets, &key, options.dry_run);
    writer.folders(&list)?;
    // The plant's key first, as it says how the others are protected.
    let (deciding, others): (Vec<_>, Vec<_>) =
        taken.iter().partition(|(entry, _)| contents.contains_key(&entry.path));
    let is_key = |entry: &Entry| entry.path == format!("{SECRETS}/{KEY}");
    let (first, rest): (Vec<_>, Vec<_>) = deciding.into_iter().partition(|(entry, _)| is_key(entry));
    let (last, middle): (Vec<_>, Vec<_>) = rest.into_iter().partition(|(entry, _)| entry.path == SETTINGS);
    for (entry, fate) in first.iter().chain(&middle) {
        writer.write_small(entry, *fate, &contents)?;
    }
    let wanted: BTreeMap<&str, &Entry> =
        others.iter().map(|(entry, _)| (entry.path.as_str(), *entry)).collect();
    let by_path: BTreeMap<&str, Fate> =
        others.iter().map(|(entry, fate)| (entry.path.as_str(), *fate)).collect();
    let (all, mut done) = (wanted.values().map(|entry| entry.bytes).sum::<u64>(), 0);
    let mut failed = None;
    backup
        .files(&keys, &wanted, |entry, from| {
            done += entry.bytes;
            progress(done, all.max(1));
            let fate = by_path.get(entry.path.as_str()).copied().unwrap_or(Fate::Put);
            writer.write_stream(entry, fate, from).map_err(|error| {
                failed = Some(error);
                io::Error::other("a file cannot be written")
            })
        })
        .map_err(|error| failed.take().unwrap_or(error))?;
    for (entry, fate) in &last {
        writer.write_small(entry, *fate, &contents)?;
    }
    report.moved_to = writer.moved_to();
    if !options.dry_run {
        let path = std::path::absolute(file).map_err(io(file))?;
        let list = backup.heads.last().map_or_else(String::new, |last| hex::encode(last.list));
        let destroyed = note.map(|note| note.destroyed).unwrap_or_default();
        let plant = hex::encode(id);
        take_note(to, &BackupNote { version: 1, plant, at: report.at, path, list, destroyed })?;
    }
    Ok(report)
}

fn report(list: &List, fates: &[Fate], to: &Path) -> RestoredFolder {
    let of = |wanted: &[Fate]| {
        let chosen = list.files.iter().zip(fates).filter(|(_, fate)| wanted.contains(fate));
        chosen.map(|(entry, _)| entry.path.clone()).collect()
    };
    RestoredFolder {
        folder: to.to_owned(),
        files: list.files.len(),
        restored: of(&[Fate::Put, Fate::Take]),
        kept: of(&[Fate::Keep]),
        newer: of(&[Fate::Newer]),
        refused: of(&[Fate::Refuse]),
        ..RestoredFolder::default()
    }
}

/// Writes files into the folder; nothing in a dry run.
struct Writer<'a> {
    folder: &'a Path,
    secrets: &'a Secrets,
    key: &'a PlantKey,
    dry_run: bool,
    aside: PathBuf,
    has_moved: bool,
}

impl<'a> Writer<'a> {
    fn new(folder: &'a Path, secrets: &'a Secrets, key: &'a PlantKey, dry_run: bool) -> Self {
        let aside = folder.join(format!("before-restore-{}", Timestamp::now().as_millisecond()));
        Self { folder, secrets, key, dry_run, aside, has_moved: false }
    }

    fn moved_to(&self) -> Option<PathBuf> {
        self.has_moved.then(|| self.aside.clone())
    }

    /// Makes the folders that are missing.
    fn folders(&self, list: &List) -> Result<(), OwnerError> {
        if self.dry_run {
            return Ok(());
        }
        make_folder(self.folder, false)?;
        for folder in &list.folders {
            let path = self.folder.join(&folder.path);
            if !path.exists() {
                make_folder(&path, folder.mode & 0o077 == 0)?;
            }
        }
        Ok(())
    }

    /// Writes a file whose contents are in memory.
    fn write_small(&mut self, entry: &Entry, fate: Fate, contents: &Contents) -> Result<(), OwnerError> {
        let Some(bytes) = contents.get(&entry.path).filter(|_| !self.dry_run) else { return Ok(()) };
        let path = self.folder.join(&entry.path);
        if !entry.path.starts_with("secrets/") {
            return self.write_stream(entry, fate, &mut bytes.as_slice());
        }
        self.secrets.bring_back(&path, bytes, self.key)?;
        let file = File::options().write(true).open(&path).map_err(io(&path))?;
        file.set_modified(time_of(entry)).map_err(io(&path))
    }

    fn write_stream(&mut self, entry: &Entry, fate: Fate, from: &mut dyn Read) -> Result<(), OwnerError> {
        if self.dry_run {
            return Ok(());
        }
        let path = self.folder.join(&entry.path);
        if let Some(parent) = path.parent() {
            make_folder(parent, false)?;
        }
        let mut name = path.file_name().unwrap_or_default().to_owned();
        name.push(format!(".{}.partial", std::process::id()));
        let partial = path.with_file_name(name);
        let mut written = || -> io::Result<()> {
            match fs::remove_file(&partial) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut options = File::options();
            options.write(true).create_new(true);
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let mut file = options.open(&partial)?;
            io::copy(from, &mut file)?;
            file.flush()?;
            file.set_modified(time_of(entry))?;
            #[cfg(unix)]
            {
                use std::os::unix::fs::PermissionsExt as _;
                file.set_permissions(fs::Permissions::from_mode(entry.mode & 0o777))?;
            }
            file.sync_all()
        };
        written().map_err(|error| {
            let _ = fs::remove_file(&partial);
            io(&path)(error)
        })?;
        if fate == Fate::Take && path.exists() {
            let aside = self.aside.join(&entry.path);
            make_folder(aside.parent().unwrap_or(&self.aside), true)?;
            fs::rename(&path, &aside).map_err(io(&path))?;
            self.has_moved = true;
        }
        fs::rename(&partial, &path).map_err(io(&path))
    }
}

/// Returns a file's time, which decides whether a registration is older than a revocation.
fn time_of(entry: &Entry) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(entry.modified).unwrap_or(0))
}
