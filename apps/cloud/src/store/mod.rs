//! The cloud's storage: rows in SQLite, bodies in files. A row is committed only after its file is durable, so no row
//! lacks its body.
//!
//! The database may be an older copy than the files. Therefore, at the start, an envelope without a row gets one, and
//! other files without a row are put aside.

mod bodies;
mod check;
mod commit;
mod copy;
mod device;
mod dropped;
mod earlier;
mod envelope;
mod error;
mod exporting;
mod forget;
mod held;
mod job;
mod keys;
mod lead;
mod log;
mod look;
mod migrate;
mod nodes;
mod orders;
mod page;
mod parameters;
mod plan;
mod position;
mod questions;
mod record;
mod recover;
mod removal;
mod repair;
mod repeated;
mod rolled;
mod run;
mod sealed;
mod sent;
mod startup;
mod stored;
mod stream;
mod sums;
mod tail;
mod ticks;
mod tier;
mod upload;
mod waiting;
mod writes;

use std::collections::HashSet;
use std::fs::File;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use rusqlite::{Connection, Row, Transaction, TransactionBehavior};
use sotto_service::folder;

pub(crate) use bodies::Folder;
pub(crate) use commit::ended_early;
pub(crate) use copy::{Moment, backup, moments, restore};
pub(crate) use device::{Device, NewDevice, Registering, Revoking, Source};
pub(crate) use earlier::EarlierUpload;
pub(crate) use error::StoreError;
pub(crate) use held::Sealing;
pub(crate) use job::{Job, NewJob, SubmissionName, Submitted};
pub(crate) use lead::{Kept, New};
pub(crate) use log::Logged;
pub(crate) use look::{Report, StreamReport, report};
pub(crate) use nodes::Nodes;
pub(crate) use page::{LARGEST_PAGE, Page, limit};
pub(crate) use position::LastWindows;
pub(crate) use record::Record;
pub(crate) use recover::Recovered;
pub(crate) use rolled::{Rolled, RolledUp, Summed};
pub(crate) use run::Run;
pub(crate) use stored::StoredRow;
pub(crate) use sums::{Scanned, Taken};
pub(crate) use ticks::TakenTick;
pub(crate) use tier::Tier;
pub(crate) use upload::Upload;
pub(crate) use writes::Write;

use crate::id::Id;
use bodies::Bodies;
use device::Registered;
use held::Held;
use lead::Commits;
use log::Trees;
use stream::Streams;
use tail::Tails;

/// The store in one folder, opened by one process only.
pub(crate) struct Store {
    connection: Mutex<Connection>,
    bodies: Bodies,
    streams: Streams,
    trees: Trees,
    recovered: OnceLock<Recovered>,
    commits: Commits,
    held: Held,
    tails: Tails,
    registered: Registered,
    /// Locked while segments are replaced.
    sealing: Mutex<()>,
    /// Windows that stay in the database when others are sealed: young pieces, and damaged ones.
    staying: Mutex<HashSet<Id>>,
    /// Windows of sums in the database, and the bytes of their messages.
    waiting_windows: AtomicU64,
    waiting_bytes: AtomicU64,
    tier: Option<Tier>,
    /// The file lock, held as long as the store is open to write.
    _lock: Option<File>,
}

/// Purpose of opening a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// To serve: refuses envelope files beside an empty database.
    Serve,
    /// To rebuild the rows of envelopes.
    Rebuild,
}

impl Store {
    pub(crate) fn open(folder: &Path, opening: Opening) -> Result<Self, StoreError> {
        folder::make(folder)?;
        let lock = folder::lock(folder)?;
        let bodies = Bodies::open(folder)?;
        let connection = startup::connect(&folder.join("cloud.sqlite"))?;
        let envelopes = bodies.names(Folder::Envelopes)?.len() + bodies.names(Folder::Segments)?.len();
        if opening == Opening::Serve && envelopes > 0 && startup::is_empty(&connection)? {
            return Err(StoreError::NoRows { envelopes });
        }
        let store = Self::of(connection, folder, Some(lock));
        store.count_waiting()?;
        Ok(store)
    }

    fn of(connection: Connection, folder: &Path, lock: Option<File>) -> Self {
        Self {
            connection: Mutex::new(connection),
            bodies: Bodies::at(folder),
            streams: Streams::default(),
            trees: Trees::default(),
            recovered: OnceLock::new(),
            commits: Commits::default(),
            held: Held::default(),
            tails: Tails::default(),
            registered: Registered::default(),
            sealing: Mutex::default(),
            staying: Mutex::default(),
            waiting_windows: AtomicU64::default(),
            waiting_bytes: AtomicU64::default(),
            tier: None,
            _lock: lock,
        }
    }

    /// Returns the number of rows whose body was missing at the start.
    pub(crate) fn missing_bodies(&self) -> usize {
        self.recovered.get().map_or(0, |recovered| recovered.missing)
    }

    /// Returns the number of files put aside, in this run or an earlier one.
    pub(crate) fn orphans(&self) -> Result<usize, StoreError> {
        self.bodies.orphan_count()
    }

    /// Checks that the database answers.
    pub(crate) fn ping(&self) -> Result<(), StoreError> {
        Ok(self.connection().query_row("SELECT 1", [], |_| Ok(()))?)
    }

    /// Locks the connection. A poisoned lock is usable: the panic rolled its transaction back.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` in a transaction; rolls back on an error.
    fn transaction<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }
}

/// Returns a column that counts; SQLite's integers have a sign.
fn count(row: &Row<'_>, column: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(column).map(i64::unsigned_abs)
}

fn now() -> i64 {
    milliseconds(SystemTime::now())
}

/// Returns a time in milliseconds since 1970, rounded down; 0 for earlier times.
pub(crate) fn milliseconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}

impl ToSql for Id {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(ValueRef::Blob(&self.0)))
    }
}

impl FromSql for Id {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        FromSql::column_result(value).map(Self)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    #[test]
    fn others_cannot_look_into_a_folder_that_was_open_to_them() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path();
        let open = |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
        open(root, 0o755);
        // A new store, then an existing one.
        for _ in 0..2 {
            let store = Store::open(root, Opening::Serve).unwrap();
            store.connection().execute("DELETE FROM plans", []).unwrap();
            let mut found = 0;
            for entry in fs::read_dir(root).unwrap() {
                let entry = entry.unwrap();
                let (metadata, name) = (entry.metadata().unwrap(), entry.file_name());
                let private = if metadata.is_dir() { 0o700 } else { 0o600 };
                // The lock file is empty.
                if name != "lock" {
                    assert_eq!(metadata.permissions().mode() & 0o777, private, "{name:?}");
                    found += 1;
                }
            }
            assert_eq!(found, Folder::ALL.len() + 4, "bodies and what comes in; the database's three files");
            drop(store);
            open(&root.join("cloud.sqlite"), 0o644);
            open(&root.join("envelopes"), 0o755);
        }
    }
}
