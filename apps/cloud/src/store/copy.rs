//! Backup of a store, which may be in use, and restore.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags};
use sotto_service::folder;

use super::bodies::Folder;
use super::error::{StoreError, failed_to};
use super::{recover, startup, writes};

const DATABASE: &str = "cloud.sqlite";
/// The name of a copied database until all of its files are copied.
const PARTIAL: &str = "cloud.sqlite.partial";
/// Pages of the database copied at a time, and the pause between, in which uploads continue.
const PAGES: i32 = 256;
const PAUSE: Duration = Duration::from_millis(2);
/// Maximum number of attempts to copy the database: files that it names may be deleted before they are copied.
const ATTEMPTS: usize = 5;

/// Counts of a copy.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Copied {
    /// Number of files, in all folders.
    pub(crate) files: usize,
    /// Number of files copied now; the others exist from an earlier backup.
    pub(crate) new: usize,
    /// Bytes of the files copied now.
    pub(crate) bytes: u64,
}

/// Copies a store, which may be in use, to a folder that is empty or holds an earlier backup. The copy has every
/// envelope whose receipt was given before it began.
///
/// # Errors
/// A folder cannot be read or written, or files kept being deleted during every attempt.
pub(crate) fn backup(data: &Path, to: &Path) -> Result<Copied, StoreError> {
    folder::make(to)?;
    let _lock = folder::lock(to)?;
    let from = data.join(DATABASE);
    if !from.exists() {
        return Err(StoreError::NoStore(data.to_owned()));
    }
    let source = Connection::open_with_flags(&from, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    source.busy_timeout(Duration::from_secs(10))?;
    let partial = to.join(PARTIAL);
    let mut lost = None;
    for _ in 0..ATTEMPTS {
        remove_database(&partial)?;
        folder::keep_database_private(&partial)?;
        let mut target = Connection::open(&partial)?;
        Backup::new(&source, &mut target)?.run_to_completion(PAGES, PAUSE, None)?;
        // Without write-ahead log, so that the copy is one file.
        target.pragma_update(None, "journal_mode", "DELETE")?;
        let copied = copy_named(&target, data, to)?;
        drop(target);
        match copied {
            Ok(copied) => {
                sync(&partial)?;
                fs::rename(&partial, to.join(DATABASE)).map_err(failed_to("name the copy"))?;
                sync(to)?;
                return Ok(copied);
            }
            // The file was deleted after the database was copied, by the owner or because it expired.
            Err(vanished) => lost = Some(vanished),
        }
    }
    let lost = lost.unwrap_or_default();
    Err(StoreError::Damaged(format!("{} is missing: the copy is not complete", lost.display())))
}

/// Replaces a store that is not in use by a backup. Existing files are moved to `before-restore-…` beside them.
///
/// # Errors
/// The store is in use, the backup is incomplete, or a folder cannot be read or written.
pub(crate) fn restore(data: &Path, from: &Path, now: i64) -> Result<Copied, StoreError> {
    let backup = from.join(DATABASE);
    if !backup.exists() {
        return Err(StoreError::NoStore(from.to_owned()));
    }
    folder::make(data)?;
    let _lock = folder::lock(data)?;
    // Refuse a backup of another version, or a damaged one, before moving anything.
    let source = Connection::open_with_flags(&backup, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    startup::check(&source)?;
    for folder in Folder::ALL {
        for name in recover::names(&source, folder)? {
            let file = from.join(folder.name()).join(name);
            if !file.exists() {
                return Err(StoreError::Damaged(format!("{} is missing in the backup", file.display())));
            }
        }
    }
    let aside = data.join(format!("before-restore-{now}"));
    for name in [DATABASE, "cloud.sqlite-wal", "cloud.sqlite-shm", "orphans"]
        .into_iter()
        .chain(Folder::ALL.map(Folder::name))
    {
        let there = data.join(name);
        if there.exists() {
            folder::make_inside(&aside)?;
            fs::rename(there, aside.join(name)).map_err(failed_to("move the files that are there"))?;
        }
    }
    let copied = copy_named(&source, from, data)?
        .map_err(|lost| StoreError::Damaged(format!("{} is missing in the backup", lost.display())))?;
    drop(source);
    let partial = data.join(PARTIAL);
    remove_database(&partial)?;
    folder::keep_database_private(&partial)?;
    fs::copy(&backup, &partial).map_err(failed_to("copy the database"))?;
    let database = Connection::open(&partial)?;
    writes::set_apart(&database)?;
    drop(database);
    sync(&partial)?;
    fs::rename(&partial, data.join(DATABASE)).map_err(failed_to("name the database"))?;
    sync(data)?;
    Ok(copied)
}

/// Copies every file that a database names and that the target lacks. Returns the first missing file, if any, as the
/// inner error.
fn copy_named(database: &Connection, from: &Path, to: &Path) -> Result<Result<Copied, PathBuf>, StoreError> {
    let mut copied = Copied::default();
    for kind in Folder::ALL {
        let (source, target) = (from.join(kind.name()), to.join(kind.name()));
        folder::make_inside(&target)?;
        let there: BTreeSet<String> = names(&target)?;
        for name in recover::names(database, kind)? {
            copied.files += 1;
            // A file under its final name is complete and never changes.
            if there.contains(&name) {
                continue;
            }
            let partial = to.join(PARTIAL.replace("sqlite", "body"));
            match fs::copy(source.join(&name), &partial) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Err(source.join(&name))),
                bytes => copied.bytes += bytes.map_err(failed_to("copy a body"))?,
            }
            sync(&partial)?;
            fs::rename(&partial, target.join(&name)).map_err(failed_to("name a copy"))?;
            copied.new += 1;
        }
        sync(&target)?;
    }
    Ok(Ok(copied))
}

fn names(folder: &Path) -> Result<BTreeSet<String>, StoreError> {
    let name = |entry: io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let entries = fs::read_dir(folder).and_then(|entries| entries.map(name).collect());
    entries.map_err(failed_to("list a folder"))
}

/// Removes an incomplete database.
fn remove_database(file: &Path) -> Result<(), StoreError> {
    for end in ["", "-journal", "-wal", "-shm"] {
        let mut name = file.as_os_str().to_owned();
        name.push(end);
        match fs::remove_file(PathBuf::from(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(failed_to("remove an incomplete copy")(error));
            }
            _ => {}
        }
    }
    Ok(())
}

fn sync(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(failed_to("sync a copy"))
}
