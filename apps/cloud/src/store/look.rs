//! Looks at a store that another process may have open, and changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags};
use serde::Serialize;
use sotto_service::migrations::version;

use super::bodies::Folder;
use super::error::failed_to;
use super::migrate::VERSION;
use super::{Store, StoreError, count};

/// The size of a store.
#[derive(Debug, Serialize)]
pub(crate) struct Report {
    /// The version of the database.
    pub(crate) version: i64,
    /// Bytes of all files of the store but those that were put aside.
    pub(crate) bytes: u64,
    /// Those of the database.
    pub(crate) database_bytes: u64,
    pub(crate) segments: u64,
    pub(crate) segment_bytes: u64,
    /// Windows in segments.
    pub(crate) sealed: u64,
    /// Windows of sums in the database, until a segment has them.
    pub(crate) waiting: u64,
    /// Envelopes that are files of their own.
    pub(crate) files: u64,
    /// Bytes of windows and envelopes as they were sent.
    pub(crate) sent_bytes: u64,
    /// Windows that the owner has deleted, whose leaves stay.
    pub(crate) deleted: u64,
    /// Sums in place of the bodies of old windows, and how many windows these are.
    pub(crate) roll_ups: u64,
    pub(crate) rolled: u64,
    /// Windows of blocks of time whose sums are there before anyone asks, and the bytes of these sums.
    pub(crate) summed: u64,
    pub(crate) sum_bytes: u64,
    /// Segments that the object store has, too, or alone, and their bytes.
    pub(crate) object_segments: u64,
    pub(crate) object_bytes: u64,
    /// Where backups went, and when the last one there was complete.
    pub(crate) backups: Vec<BackupReport>,
    /// Files that no row names, and files of before a restore: what could be freed.
    pub(crate) aside_files: u64,
    pub(crate) aside_bytes: u64,
    pub(crate) streams: Vec<StreamReport>,
}

/// A place that has backups, which may have windows that were deleted here since.
#[derive(Debug, Serialize)]
pub(crate) struct BackupReport {
    pub(crate) place: String,
    /// In UTC.
    pub(crate) at: String,
}

/// The windows of a stream of a device.
#[derive(Debug, Default, Serialize)]
pub(crate) struct StreamReport {
    pub(crate) device: String,
    pub(crate) stream: String,
    pub(crate) windows: u64,
    pub(crate) sent_bytes: u64,
    /// The times of the first and of the last reading, in UTC.
    pub(crate) from: Option<String>,
    pub(crate) to: Option<String>,
    /// Rows of the catalogue that its windows in segments take.
    pub(crate) runs: u64,
}

/// Opens the database of a store to read it.
fn open(data: &Path) -> Result<Connection, StoreError> {
    let file = data.join("cloud.sqlite");
    if !file.exists() {
        return Err(StoreError::NoStore(data.to_owned()));
    }
    let connection = Connection::open_with_flags(file, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    connection.busy_timeout(Duration::from_secs(10))?;
    Ok(connection)
}

impl Store {
    /// Opens a store of this version to read it, while another process may write it.
    ///
    /// # Errors
    /// [`StoreError::Version`] for a store of an earlier version.
    pub(crate) fn look(data: &Path) -> Result<Self, StoreError> {
        let connection = open(data)?;
        match version(&connection)? {
            VERSION => Ok(Self::of(connection, data, None)),
            other => Err(StoreError::Version(other)),
        }
    }
}

/// Measures a store of this version or an earlier one.
pub(crate) fn report(data: &Path) -> Result<Report, StoreError> {
    let connection = open(data)?;
    let version = version(&connection)?;
    let has_segments = version >= 16;
    let mut streams: BTreeMap<(String, String), StreamReport> = BTreeMap::new();
    let mut add = |query: &str| -> Result<(), StoreError> {
        let mut query = connection.prepare(query)?;
        let mut rows = query.query([])?;
        while let Some(row) = rows.next()? {
            let (device, stream): (String, String) = (row.get(0)?, row.get(1)?);
            let of = streams.entry((device.clone(), stream.clone())).or_insert_with(|| StreamReport {
                device,
                stream,
                ..StreamReport::default()
            });
            of.windows += count(row, 2)?;
            of.sent_bytes += count(row, 3)?;
            let (from, to): (Option<String>, Option<String>) = (row.get(4)?, row.get(5)?);
            of.from = [of.from.take(), from].into_iter().flatten().min();
            of.to = of.to.take().max(to);
            of.runs += count(row, 6)?;
        }
        Ok(())
    };
    let times = "strftime('%Y-%m-%dT%H:%M:%SZ', min(started_at) / 1000.0, 'unixepoch'),
        strftime('%Y-%m-%dT%H:%M:%SZ', max(ended_at) / 1000.0, 'unixepoch')";
    add(&format!("SELECT device, stream, count(*), sum(bytes), {times}, 0 FROM envelopes GROUP BY 1, 2"))?;
    if has_segments {
        add(&format!(
            "SELECT device, stream, sum(windows), sum(bytes), {times}, count(*)
             FROM runs JOIN logs ON logs.id = runs.log WHERE kind < 2 GROUP BY 1, 2"
        ))?;
    }
    let number = |query: &str| -> Result<u64, StoreError> {
        Ok(connection.query_row(query, [], |row| count(row, 0))?)
    };
    let sealed = |query: &str| if has_segments { number(query) } else { Ok(0) };
    let rolled = |query: &str| if version >= 17 { number(query) } else { Ok(0) };
    let in_objects = |query: &str| if version >= 18 { number(query) } else { Ok(0) };
    let summed = |query: &str| if version >= 19 { number(query) } else { Ok(0) };
    let mut backups = Vec::new();
    if version >= 18 {
        let at = "strftime('%Y-%m-%dT%H:%M:%SZ', made_at / 1000.0, 'unixepoch')";
        let mut query = connection.prepare(&format!("SELECT place, {at} FROM backups ORDER BY place"))?;
        let row = |row: &rusqlite::Row<'_>| Ok(BackupReport { place: row.get(0)?, at: row.get(1)? });
        backups = query.query_map([], row)?.collect::<Result<_, _>>()?;
    }
    let (mut aside_files, mut aside_bytes) = (0, 0);
    for folder in aside(data)? {
        let (files, bytes) = size_of(&folder)?;
        (aside_files, aside_bytes) = (aside_files + files, aside_bytes + bytes);
    }
    let bodies = Folder::ALL.iter().map(|folder| Ok(size_of(&data.join(folder.name()))?.1));
    let bodies = bodies.sum::<Result<u64, StoreError>>()?;
    let database_bytes = ["", "-wal", "-shm"]
        .into_iter()
        .filter_map(|end| fs::metadata(data.join(format!("cloud.sqlite{end}"))).ok())
        .map(|metadata| metadata.len())
        .sum();
    let streams: Vec<StreamReport> = streams.into_values().collect();
    let waiting = sealed("SELECT count(*) FROM envelopes WHERE message IS NOT NULL")?;
    let gone = "SELECT count(*) FROM log WHERE envelope IS NULL";
    Ok(Report {
        version,
        bytes: bodies + database_bytes,
        database_bytes,
        segments: sealed("SELECT count(*) FROM segments")?,
        segment_bytes: sealed("SELECT coalesce(sum(bytes), 0) FROM segments")?,
        sealed: sealed("SELECT coalesce(sum(windows), 0) FROM runs WHERE kind < 2")?,
        waiting,
        files: number("SELECT count(*) FROM envelopes")? - waiting,
        sent_bytes: streams.iter().map(|stream| stream.sent_bytes).sum(),
        deleted: number(gone)? + sealed("SELECT coalesce(sum(windows), 0) FROM runs WHERE kind = 2")?,
        roll_ups: rolled("SELECT count(*) FROM roll_ups")?,
        rolled: rolled("SELECT coalesce(sum(windows), 0) FROM roll_ups")?,
        summed: summed("SELECT coalesce(sum(windows), 0) FROM nodes")?,
        sum_bytes: summed("SELECT coalesce(sum(length(sums)), 0) FROM nodes")?,
        object_segments: in_objects("SELECT count(*) FROM segments WHERE object > 0")?,
        object_bytes: in_objects("SELECT coalesce(sum(bytes), 0) FROM segments WHERE object > 0")?,
        backups,
        aside_files,
        aside_bytes,
        streams,
    })
}

/// Returns the folders of files that this program never deletes.
fn aside(data: &Path) -> Result<Vec<std::path::PathBuf>, StoreError> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(data).map_err(failed_to("list a folder"))? {
        let entry = entry.map_err(failed_to("list a folder"))?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        if name == "orphans" || name.starts_with("before-restore-") {
            folders.push(entry.path());
        }
    }
    Ok(folders)
}

/// Returns the files of a folder and those below, and their bytes; none if it does not exist.
fn size_of(folder: &Path) -> Result<(u64, u64), StoreError> {
    let entries = match fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok((0, 0)),
        entries => entries.map_err(failed_to("list a folder"))?,
    };
    let (mut files, mut bytes) = (0, 0);
    for entry in entries {
        let entry = entry.map_err(failed_to("list a folder"))?;
        // A file may be removed meanwhile.
        let Ok(metadata) = entry.metadata() else { continue };
        let (more, length) = if metadata.is_dir() { size_of(&entry.path())? } else { (1, metadata.len()) };
        (files, bytes) = (files + more, bytes + length);
    }
    Ok((files, bytes))
}
