//! The catalogue: the database of a cloud, or a copy of it in a backup. It is read in one transaction for each query, so a query
//! sees one moment.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, OptionalExtension as _, Row};
use sotto_wire::{Digest, StreamHeader, StreamTag};

use super::files::Files;
use super::filter::Filter;
use super::place::Place;
use crate::LakeError;

/// The version of the cloud's tables that this program reads.
pub const VERSION: i64 = 20;
const DATABASE: &str = "cloud.sqlite";

/// The catalogue of a store.
pub struct Catalogue {
    pub(super) connection: Mutex<Connection>,
}

/// A header that the cloud registered.
pub(super) struct Registered {
    pub(super) header: Arc<StreamHeader>,
    pub(super) frame: Vec<u8>,
}

/// Whole windows of a block, whose numbers follow each other.
#[derive(Clone, Debug)]
pub(super) struct Run {
    pub(super) log: i64,
    pub(super) tag: StreamTag,
    pub(super) number: u64,
    pub(super) windows: u64,
    pub(super) segment: Digest,
    pub(super) block: u32,
    pub(super) row: u32,
    /// The times of the first and the last reading; None without a reading.
    pub(super) times: Option<(i64, i64)>,
    /// True if one of them names windows in whose place it comes; None if the catalogue does not know.
    pub(super) replaces: Option<bool>,
}

/// A window that no segment has yet.
pub(super) struct Waiting {
    pub(super) log: (String, String),
    pub(super) tag: StreamTag,
    pub(super) message: Vec<u8>,
    pub(super) digest: Digest,
    pub(super) position: u64,
    pub(super) stored_at: i64,
}

/// A sum that the cloud keeps in place of its windows.
pub(super) struct RolledUp {
    pub(super) frame: Vec<u8>,
    pub(super) stored_at: i64,
    /// Runs of numbers: the first, and how many.
    pub(super) runs: Vec<(u64, u64)>,
    /// The run of heads that the first window is in.
    pub(super) head: Run,
}

/// All that the catalogue says about the windows of some devices and streams.
#[derive(Default)]
pub(super) struct Snapshot {
    pub(super) headers: HashMap<StreamTag, Registered>,
    /// Device and stream by number.
    pub(super) logs: HashMap<i64, (String, String)>,
    /// In the order of logs and numbers.
    pub(super) runs: Vec<Run>,
    pub(super) waiting: Vec<Waiting>,
    pub(super) rolled: Vec<RolledUp>,
}

impl Catalogue {
    /// Opens the catalogue of a place. Writes nothing there.
    ///
    /// # Errors
    /// [`LakeError`] if the place has none, or one of another version.
    pub async fn open(place: &Place, files: &Files) -> Result<Self, LakeError> {
        let live = match place {
            Place::Folder(folder) => Some(folder.join(DATABASE)).filter(|file| file.exists()),
            Place::Bucket { .. } => None,
        };
        let connection = match live {
            Some(file) => beside_the_cloud(&file)?,
            None => copy(&files.newest_catalogue(place).await?)?,
        };
        connection.busy_timeout(Duration::from_secs(10))?;
        connection.pragma_update(None, "query_only", true)?;
        let found = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        if found != VERSION {
            return Err(LakeError::Version { found, known: VERSION });
        }
        Ok(Self { connection: Mutex::new(connection) })
    }

    /// Returns the frame of a stream's header.
    ///
    /// # Errors
    /// The catalogue cannot be read.
    pub fn header(&self, tag: StreamTag) -> Result<Option<Vec<u8>>, LakeError> {
        let connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let query = "SELECT header FROM streams WHERE tag = ?1";
        Ok(connection.query_row(query, [tag.0], |row| row.get(0)).optional()?)
    }

    /// Reads everything about the windows that may match, but for their times.
    pub(super) fn snapshot(&self, filter: &Filter) -> Result<Snapshot, LakeError> {
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        let moment = connection.transaction()?;
        let mut found = Snapshot { headers: headers(&moment, filter)?, ..Snapshot::default() };
        let mut logs = moment.prepare("SELECT id, device, stream FROM logs")?;
        let mut rows = logs.query([])?;
        while let Some(row) = rows.next()? {
            let (log, device, stream): (i64, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
            if filter.has_device(&device) && filter.has_stream(&stream) {
                found.logs.insert(log, (device, stream));
            }
        }
        drop(rows);
        drop(logs);
        found.runs = runs(&moment, &found.logs)?;
        found.waiting = waiting(&moment, filter)?;
        found.rolled = rolled(&moment, &found.logs)?;
        found.runs.retain(|run| found.headers.contains_key(&run.tag));
        found.rolled.retain(|rolled| found.headers.contains_key(&rolled.head.tag));
        found.waiting.retain(|window| found.headers.contains_key(&window.tag));
        Ok(found)
    }
}

/// Opens the database of a store that a cloud may use. SQLite keeps notes about readers beside a write-ahead log, so it is opened
/// to be written, if that is allowed, and asked to refuse writing. The log is the cloud's: it is not moved into the database when
/// this program ends.
fn beside_the_cloud(file: &Path) -> Result<Connection, LakeError> {
    let open = |flags| Connection::open_with_flags(file, flags);
    let connection =
        open(OpenFlags::SQLITE_OPEN_READ_WRITE).or_else(|_| open(OpenFlags::SQLITE_OPEN_READ_ONLY))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    Ok(connection)
}

/// Opens a copy of a database that nobody writes.
fn copy(file: &PathBuf) -> Result<Connection, LakeError> {
    let uri = url::Url::from_file_path(std::path::absolute(file).map_err(LakeError::file("find", file))?);
    let uri = uri.map_err(|()| LakeError::NoStore(file.display().to_string()))?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_URI;
    Ok(Connection::open_with_flags(format!("{uri}?immutable=1"), flags)?)
}

fn headers(connection: &Connection, filter: &Filter) -> Result<HashMap<StreamTag, Registered>, LakeError> {
    let mut query = connection.prepare("SELECT device, header FROM streams")?;
    let (mut rows, mut headers) = (query.query([])?, HashMap::new());
    while let Some(row) = rows.next()? {
        if !filter.has_device(&row.get::<_, String>(0)?) {
            continue;
        }
        let frame: Vec<u8> = row.get(1)?;
        let header = StreamHeader::read_stored(&frame);
        let header =
            header.map_err(|error| LakeError::Damaged(format!("the header of a stream: {error}")))?;
        if header.is_of_sums() && filter.has_stream(header.stream()) {
            headers.insert(header.id().tag(), Registered { header: Arc::new(header), frame });
        }
    }
    Ok(headers)
}

fn unsigned(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::cast_unsigned)
}

const COLUMNS: &str = "log, stream_tag, number, runs.windows, digest, block, row, started_at, ended_at,
                       replaces";
const FROM: &str = "FROM runs JOIN segments ON segments.id = runs.segment";

fn run(row: &Row<'_>) -> rusqlite::Result<Run> {
    Ok(Run {
        log: row.get(0)?,
        tag: StreamTag(row.get(1)?),
        number: unsigned(row, 2)?,
        windows: unsigned(row, 3)?,
        segment: row.get(4)?,
        block: row.get(5)?,
        row: row.get(6)?,
        times: row.get::<_, Option<i64>>(7)?.zip(row.get(8)?),
        replaces: row.get(9)?,
    })
}

/// Logs from which on all runs are read by one statement.
const MANY_LOGS: usize = 64;

fn runs(connection: &Connection, logs: &HashMap<i64, (String, String)>) -> Result<Vec<Run>, LakeError> {
    let mut all: Vec<i64> = logs.keys().copied().collect();
    all.sort_unstable();
    let mut found = Vec::new();
    if all.len() > MANY_LOGS {
        let order = "WHERE kind = 0 ORDER BY log, number";
        let mut query = connection.prepare(&format!("SELECT {COLUMNS} {FROM} {order}"))?;
        for run in query.query_map([], run)? {
            let run = run?;
            found.extend(logs.contains_key(&run.log).then_some(run));
        }
        return Ok(found);
    }
    let order = "WHERE kind = 0 AND log = ?1 ORDER BY number";
    let mut query = connection.prepare(&format!("SELECT {COLUMNS} {FROM} {order}"))?;
    for log in all {
        for run in query.query_map([log], run)? {
            found.push(run?);
        }
    }
    Ok(found)
}

fn waiting(connection: &Connection, filter: &Filter) -> Result<Vec<Waiting>, LakeError> {
    let mut query = connection.prepare(
        "SELECT envelopes.device, envelopes.stream, stream_tag, message, digest, position, stored_at
         FROM envelopes JOIN log ON log.envelope = envelopes.id
         WHERE stream_tag IS NOT NULL AND message IS NOT NULL
         ORDER BY envelopes.device, envelopes.stream, envelopes.sequence",
    )?;
    let (mut rows, mut found) = (query.query([])?, Vec::new());
    while let Some(row) = rows.next()? {
        let log: (String, String) = (row.get(0)?, row.get(1)?);
        if filter.has_device(&log.0) && filter.has_stream(&log.1) {
            found.push(Waiting {
                log,
                tag: StreamTag(row.get(2)?),
                message: row.get(3)?,
                digest: row.get(4)?,
                position: unsigned(row, 5)?,
                stored_at: row.get(6)?,
            });
        }
    }
    Ok(found)
}

fn rolled(
    connection: &Connection,
    logs: &HashMap<i64, (String, String)>,
) -> Result<Vec<RolledUp>, LakeError> {
    let mut heads = connection.prepare(&format!(
        "SELECT {COLUMNS} {FROM} WHERE kind = 1 AND log = ?1 AND number <= ?2 ORDER BY number DESC LIMIT 1"
    ))?;
    let mut query = connection.prepare(
        "SELECT roll_ups.id, rolled.log, number, rolled.windows, sums, rolled_at
         FROM rolled JOIN roll_ups ON roll_ups.id = roll_up ORDER BY roll_ups.id, number",
    )?;
    let (mut rows, mut found) = (query.query([])?, Vec::<RolledUp>::new());
    let mut last = None;
    while let Some(row) = rows.next()? {
        let (id, log): (i64, i64) = (row.get(0)?, row.get(1)?);
        let numbers = (unsigned(row, 2)?, unsigned(row, 3)?);
        if !logs.contains_key(&log) {
            continue;
        }
        if last.replace(id) != Some(id) {
            let head = heads.query_row([log, numbers.0.cast_signed()], run).optional()?;
            let lost = || LakeError::Damaged(format!("roll-up {id} lacks the head of its first window"));
            let head = head.filter(|head| numbers.0 - head.number < head.windows).ok_or_else(lost)?;
            found.push(RolledUp { frame: row.get(4)?, stored_at: row.get(5)?, runs: Vec::new(), head });
        }
        if let Some(of) = found.last_mut() {
            of.runs.push(numbers);
        }
    }
    Ok(found)
}
