//! Copies a store to a folder or a bucket.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::backup::Backup;
use rusqlite::{Connection, OpenFlags, params};
use sotto_service::folder;

use super::super::bodies::Folder;
use super::super::error::{StoreError, failed_to};
use super::super::{Tier, now, recover};
use super::{Copied, DATABASE, Moment, moments, object, remove_database};
use crate::id::Id;
use crate::objects::{Objects, ObjectsError, Place};

/// Pages of the database copied at a time, and the pause between, in which uploads continue.
const PAGES: i32 = 256;
const PAUSE: Duration = Duration::from_millis(2);
/// Maximum number of attempts to copy the database: files that it names may be deleted before they are copied.
const ATTEMPTS: usize = 5;

/// Copies a store, which may be in use, to a place that is empty or has earlier backups. The copy has every envelope whose
/// receipt was given before it began. Moments older than `keep` milliseconds are removed. `tier` has segments that are not in
/// the folder. `progress` is told the files that are done, and all of them.
///
/// # Errors
/// The store cannot be read, the place cannot be written, or files kept being deleted during every attempt.
pub(crate) fn backup(
    data: &Path,
    tier: Option<&Tier>,
    place: &Place,
    keep: i64,
    progress: impl FnMut(usize, usize),
) -> Result<Copied, StoreError> {
    let from = data.join(DATABASE);
    if !from.exists() {
        return Err(StoreError::NoStore(data.to_owned()));
    }
    let to = Objects::open(place)?;
    let source = Connection::open_with_flags(&from, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    source.busy_timeout(Duration::from_secs(10))?;
    let incoming = data.join("incoming");
    folder::make_inside(&incoming)?;
    let scratch = incoming.join(Id::random()?.to_string());
    let mut copying = Copying { data, tier, to: &to, scratch: scratch.clone(), progress };
    let copied = copying.copy(&source);
    remove_database(&scratch)?;
    let mut copied = copied?;
    copied.expired = moments::expire(&to, Moment(now().saturating_sub(keep)), &scratch)?;
    // A store of an earlier version is brought over at its next start.
    if source.table_exists(None, "backups")? {
        let note = "INSERT INTO backups VALUES (?1, ?2) ON CONFLICT (place) DO UPDATE SET made_at = ?2";
        source.execute(note, params![place.to_string(), now()])?;
    }
    Ok(copied)
}

struct Copying<'c, P> {
    data: &'c Path,
    tier: Option<&'c Tier>,
    to: &'c Objects,
    /// A file that may be written.
    scratch: PathBuf,
    progress: P,
}

/// A file that was deleted after the database was copied, by the owner or because it expired.
struct Vanished(String);

impl<P: FnMut(usize, usize)> Copying<'_, P> {
    fn copy(&mut self, source: &Connection) -> Result<Copied, StoreError> {
        let mut lost = String::new();
        for _ in 0..ATTEMPTS {
            let moment = Moment(now());
            remove_database(&self.scratch)?;
            folder::keep_database_private(&self.scratch)?;
            let mut target = Connection::open(&self.scratch)?;
            Backup::new(source, &mut target)?.run_to_completion(PAGES, PAUSE, None)?;
            // Without write-ahead log, so that the copy is one file.
            target.pragma_update(None, "journal_mode", "DELETE")?;
            let mut names = Vec::new();
            for folder in Folder::ALL {
                names.extend(recover::names(&target, folder)?.into_iter().map(|name| (folder, name)));
            }
            drop(target);
            match self.copy_files(&names)? {
                Ok(mut copied) => {
                    let list = self.scratch.with_extension("files");
                    let put = write_list(&list, &names)
                        .map_err(failed_to("write the list of a backup's files"))
                        .and_then(|()| Ok(self.to.put(&moment.files()?, &list)?))
                        .and_then(|()| Ok(self.to.put(&moment.database()?, &self.scratch)?));
                    let _ = fs::remove_file(&list);
                    put?;
                    let database = fs::metadata(&self.scratch).map_err(failed_to("read the copy"))?;
                    copied.bytes += database.len();
                    return Ok(copied);
                }
                Err(Vanished(name)) => lost = name,
            }
        }
        Err(StoreError::Damaged(format!("{lost} is missing: the copy is not complete")))
    }

    /// Copies every file that the place lacks.
    fn copy_files(&mut self, names: &[(Folder, String)]) -> Result<Result<Copied, Vanished>, StoreError> {
        let mut copied = Copied { files: names.len(), ..Copied::default() };
        let mut done = 0;
        for folder in Folder::ALL {
            let there = self.to.list(folder.name())?;
            for (_, name) in names.iter().filter(|(of, _)| *of == folder) {
                (self.progress)(done, names.len());
                done += 1;
                let file = self.data.join(folder.name()).join(name);
                let bytes = fs::metadata(&file).ok().map(|metadata| metadata.len());
                // A file under its name is complete and never changes; one of another length is not ours.
                if there.get(name).is_some_and(|there| bytes.is_none_or(|bytes| bytes == *there)) {
                    continue;
                }
                match bytes {
                    Some(bytes) => match self.to.put(&object(folder, name), &file) {
                        Err(ObjectsError::Local { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
                            return Ok(Err(Vanished(object(folder, name))));
                        }
                        put => {
                            put?;
                            copied.bytes += bytes;
                        }
                    },
                    None => match self.copy_away(folder, name)? {
                        Some(bytes) => copied.bytes += bytes,
                        None => return Ok(Err(Vanished(object(folder, name)))),
                    },
                }
                copied.new += 1;
            }
        }
        Ok(Ok(copied))
    }

    /// Copies a segment that is in the object store alone. Returns its bytes; `None` if it is not there.
    fn copy_away(&self, folder: Folder, name: &str) -> Result<Option<u64>, StoreError> {
        let Some(tier) = self.tier.filter(|_| folder == Folder::Segments) else { return Ok(None) };
        let file = self.scratch.with_extension("segment");
        let copied = match tier.objects().fetch(&object(folder, name), &file) {
            Err(ObjectsError::Missing { .. }) => Ok(None),
            fetched => fetched.map_err(StoreError::from).and_then(|()| {
                super::restore::check_segment(&file, name)?;
                self.to.put(&object(folder, name), &file)?;
                let metadata = fs::metadata(&file).map_err(failed_to("read a segment"))?;
                Ok(Some(metadata.len()))
            }),
        };
        let _ = fs::remove_file(&file);
        copied
    }
}

fn write_list(file: &Path, names: &[(Folder, String)]) -> io::Result<()> {
    let mut out = io::BufWriter::new(File::create(file)?);
    let names: BTreeSet<String> = names.iter().map(|(folder, name)| object(*folder, name)).collect();
    names.iter().try_for_each(|name| writeln!(out, "{name}"))?;
    out.flush()
}
