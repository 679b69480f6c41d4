//! Replaces a store by a backup.

use std::fs::{self, File};
use std::path::Path;

use rusqlite::{Connection, OpenFlags};
use sotto_service::folder;
use sotto_wire::Digest;

use super::super::bodies::{Folder, sync_folder};
use super::super::error::{StoreError, failed_to};
use super::super::sealed::name_of;
use super::super::tier::hashed;
use super::super::{recover, startup, writes};
use super::{Copied, DATABASE, Moment, moments, object, remove_database};
use crate::id::Id;
use crate::objects::{Objects, ObjectsError};

/// What a restore has fetched so far; one that was interrupted goes on with it.
const RESTORING: &str = "restoring";

/// Replaces a store that is not in use by a backup: the last moment of it, or the last one that is not after `until`. Existing
/// files are moved to `before-restore-…` beside them, once everything is fetched. Returns the moment; `None` for a backup that
/// has none, of an earlier version.
///
/// # Errors
/// The store is in use, the backup is incomplete or damaged, or a folder cannot be read or written.
pub(crate) fn restore(
    data: &Path,
    from: &Objects,
    until: Option<Moment>,
    now: i64,
    mut progress: impl FnMut(usize, usize),
) -> Result<(Copied, Option<Moment>), StoreError> {
    let all = moments(from)?;
    let moment = all.iter().map(|(moment, _)| *moment).rfind(|at| until.is_none_or(|until| *at <= until));
    let catalogue = match (moment, until) {
        (Some(moment), _) => moment.database()?,
        (None, None) if all.is_empty() => DATABASE.to_owned(),
        (None, _) => {
            let first = all.first().map(|(moment, _)| format!(": the first one is of {}", moment.shown()));
            return Err(StoreError::Backup(format!(
                "it has nothing of that time{}",
                first.unwrap_or_default()
            )));
        }
    };
    folder::make(data)?;
    let _lock = folder::lock(data)?;
    let restoring = data.join(RESTORING);
    folder::make_inside(&restoring)?;
    let database = restoring.join(DATABASE);
    remove_database(&database)?;
    match from.fetch(&catalogue, &database) {
        Err(ObjectsError::Missing { .. }) => {
            return Err(StoreError::Backup("it is no backup of a cloud".to_owned()));
        }
        fetched => fetched?,
    }
    // Refuse a backup of another version, or a damaged one, before moving anything.
    let source = Connection::open_with_flags(&database, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    startup::check(&source)?;
    let copied = match fetch_all(&source, from, &restoring, &mut progress) {
        Err(error @ StoreError::Backup(_)) => {
            // To go on with it would not help.
            fs::remove_dir_all(&restoring).map_err(failed_to("remove an incomplete copy"))?;
            return Err(error);
        }
        copied => copied?,
    };
    writes::set_apart(&source)?;
    if source.column_exists(None, "segments", "object")? {
        // What the object store has now is not known: everything is sent again.
        source.execute("UPDATE segments SET object = 0", [])?;
    }
    drop(source);
    sync(&database)?;
    replace(data, &restoring, now)?;
    Ok((copied, moment))
}

/// Fetches the files that a database names and that are not fetched yet.
fn fetch_all(
    source: &Connection,
    from: &Objects,
    to: &Path,
    progress: &mut impl FnMut(usize, usize),
) -> Result<Copied, StoreError> {
    let mut named = Vec::new();
    for kind in Folder::ALL {
        let there = from.list(kind.name())?;
        for name in recover::names(source, kind)? {
            let Some(bytes) = there.get(&name) else {
                return Err(StoreError::Backup(format!("{} is missing in it", object(kind, &name))));
            };
            named.push((kind, name, *bytes));
        }
    }
    let mut copied = Copied { files: named.len(), ..Copied::default() };
    for kind in Folder::ALL {
        let target = to.join(kind.name());
        folder::make_inside(&target)?;
        // Of a restore to another moment.
        let is_named = |file: &str| named.iter().any(|(of, name, _)| *of == kind && name == file);
        for entry in fs::read_dir(&target).map_err(failed_to("list a folder"))? {
            let entry = entry.map_err(failed_to("list a folder"))?;
            if !is_named(&entry.file_name().to_string_lossy()) {
                fs::remove_file(entry.path()).map_err(failed_to("remove an incomplete copy"))?;
            }
        }
        for (_, name, bytes) in named.iter().filter(|(of, ..)| *of == kind) {
            progress(copied.new, copied.files);
            copied.new += 1;
            let file = target.join(name);
            if fs::metadata(&file).is_ok_and(|metadata| metadata.len() == *bytes) {
                continue;
            }
            let incoming = to.join(Id::random()?.to_string());
            from.fetch(&object(kind, name), &incoming)?;
            if kind == Folder::Segments {
                check_segment(&incoming, name)?;
            }
            fs::rename(&incoming, &file).map_err(failed_to("name a copy"))?;
            copied.bytes += bytes;
        }
        sync_folder(&target)?;
    }
    Ok(copied)
}

/// Refuses a segment whose bytes are not those that its name says.
pub(super) fn check_segment(file: &Path, name: &str) -> Result<(), StoreError> {
    let digest: Digest = hashed(file)?;
    if name_of(&digest) == name {
        return Ok(());
    }
    Err(StoreError::Backup(format!(
        "{} has other bytes than those that were written",
        object(Folder::Segments, name)
    )))
}

/// Moves the present files aside, and the fetched ones into their places: the database last.
fn replace(data: &Path, restoring: &Path, now: i64) -> Result<(), StoreError> {
    let aside = data.join(format!("before-restore-{now}"));
    let folders = || Folder::ALL.map(Folder::name).into_iter();
    for name in [DATABASE, "cloud.sqlite-wal", "cloud.sqlite-shm", "orphans"].into_iter().chain(folders()) {
        let there = data.join(name);
        if there.exists() {
            folder::make_inside(&aside)?;
            fs::rename(there, aside.join(name)).map_err(failed_to("move the files that are there"))?;
        }
    }
    for name in folders().chain([DATABASE]) {
        fs::rename(restoring.join(name), data.join(name)).map_err(failed_to("name a copy"))?;
    }
    sync_folder(data)?;
    fs::remove_dir_all(restoring).map_err(failed_to("remove an incomplete copy"))
}

fn sync(path: &Path) -> Result<(), StoreError> {
    File::open(path).and_then(|file| file.sync_all()).map_err(failed_to("sync a copy"))
}
