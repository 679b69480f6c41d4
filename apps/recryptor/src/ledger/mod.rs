//! The ledger: durable counts, from which both quotas and the audit are computed.

mod charge;
mod startup;

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, Transaction, TransactionBehavior, params};
use serde::Serialize;
use sotto_service::folder::{self, FolderError};
use sotto_service::migrations::MigrationError;
use sotto_wire::UnreadRequests;

pub(crate) use charge::{Charge, MOST_ASKED};

/// An error of the ledger, for the log; callers get fewer details. It has no error source: the message contains the
/// reason, and a chain would print it twice.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LedgerError {
    #[error("the database: {0}")]
    Database(rusqlite::Error),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("the ledger has version {0}, which this program does not know")]
    Version(i64),
}

impl From<rusqlite::Error> for LedgerError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error)
    }
}

impl From<MigrationError> for LedgerError {
    fn from(error: MigrationError) -> Self {
        match error {
            MigrationError::Database(error) => Self::Database(error),
            MigrationError::Version(version) => Self::Version(version),
        }
    }
}

/// Days since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Day(pub(crate) i64);

impl Day {
    pub(crate) fn today() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self((since.as_secs() / 86_400) as i64)
    }
}

/// Numbers of requests in a batch, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RequestCounts {
    pub(crate) products: u64,
    pub(crate) to_elgamal: u64,
    pub(crate) to_paillier: u64,
}

impl RequestCounts {
    pub(crate) fn of(requests: &UnreadRequests<'_, '_>) -> Self {
        let [products, to_elgamal, to_paillier] = requests.counts();
        Self { products, to_elgamal, to_paillier }
    }

    fn plus(self, other: Self) -> Self {
        Self {
            products: self.products + other.products,
            to_elgamal: self.to_elgamal + other.to_elgamal,
            to_paillier: self.to_paillier + other.to_paillier,
        }
    }

    /// Returns the number of numbers that are decrypted for these requests.
    pub(crate) fn numbers(self) -> u64 {
        2 * self.products + self.to_elgamal + self.to_paillier
    }
}

/// A row of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Count {
    /// Days since 1970, UTC.
    pub(crate) day: i64,
    /// The caller's name; empty for unauthenticated requests.
    pub(crate) caller: String,
    /// `charged`; `asked-again`; `looked-at` for batches with numbers that are no ciphertexts; or `refused:` and the
    /// reason.
    pub(crate) event: String,
    pub(crate) batches: u64,
    pub(crate) products: u64,
    pub(crate) to_elgamal: u64,
    pub(crate) to_paillier: u64,
    /// Numbers decrypted for these requests; under `looked-at`, numbers that were checked but not decrypted.
    pub(crate) numbers: u64,
}

/// Events of refused batches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The batch was refused for a reason.
    Refused(&'static str),
    /// The numbers of the batch were checked before it was refused.
    LookedAt,
}

/// Day, caller, event.
type Refused = (Day, String, Event);

const LOOKED_AT: &str = "looked-at";

/// The ledger in one folder, opened for writing by one process only.
pub(crate) struct Ledger {
    connection: Mutex<Connection>,
    /// Refusals not written yet. Written together, so that unauthenticated requests cannot keep the disk busy.
    refusals: Mutex<BTreeMap<Refused, (u64, RequestCounts)>>,
    /// The file lock, held as long as the ledger is open.
    _lock: File,
}

impl Ledger {
    pub(crate) fn open(folder: &Path) -> Result<Self, LedgerError> {
        folder::make(folder)?;
        let lock = folder::lock(folder)?;
        let connection = Mutex::new(startup::connect(folder)?);
        Ok(Self { connection, refusals: Mutex::default(), _lock: lock })
    }

    /// Checks that the database answers.
    pub(crate) fn ping(&self) -> Result<(), LedgerError> {
        Ok(self.connection().query_row("SELECT 1", [], |_| Ok(()))?)
    }

    /// Counts a refusal in memory; [`Ledger::write_refusals`] makes it durable.
    pub(crate) fn refused(&self, day: Day, caller: &str, reason: &'static str) {
        self.note((day, caller.to_owned(), Event::Refused(reason)), 1, RequestCounts::default());
    }

    /// Counts in memory the numbers of a batch that were checked before it was refused.
    pub(crate) fn looked_at(&self, day: Day, caller: &str, asked: RequestCounts) {
        self.note((day, caller.to_owned(), Event::LookedAt), 1, asked);
    }

    fn note(&self, what: Refused, times: u64, asked: RequestCounts) {
        let mut refusals = self.refusals();
        let noted = refusals.entry(what).or_default();
        *noted = (noted.0 + times, noted.1.plus(asked));
    }

    fn refusals(&self) -> MutexGuard<'_, BTreeMap<Refused, (u64, RequestCounts)>> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the refusals counted since the last call.
    pub(crate) fn write_refusals(&self) -> Result<(), LedgerError> {
        let taken = core::mem::take(&mut *self.refusals());
        if taken.is_empty() {
            return Ok(());
        }
        let written = self.transaction(|transaction| {
            taken.iter().try_for_each(|((day, caller, event), (times, asked))| {
                let event = match event {
                    Event::Refused(reason) => format!("refused:{reason}"),
                    Event::LookedAt => LOOKED_AT.to_owned(),
                };
                count(transaction, *day, caller, &event, *times, *asked)
            })
        });
        if written.is_err() {
            taken.into_iter().for_each(|(what, (times, asked))| self.note(what, times, asked));
        }
        written
    }

    /// Locks the connection. A poisoned lock is usable: the panic rolled its transaction back.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Runs `work` in a transaction; rolls back on an error.
    fn transaction<T>(
        &self,
        work: impl FnOnce(&Transaction<'_>) -> Result<T, LedgerError>,
    ) -> Result<T, LedgerError> {
        let mut connection = self.connection();
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let done = work(&transaction)?;
        transaction.commit()?;
        Ok(done)
    }
}

/// Adds to a row of counts.
fn count(
    connection: &Connection,
    day: Day,
    caller: &str,
    event: &str,
    batches: u64,
    asked: RequestCounts,
) -> Result<(), LedgerError> {
    connection
        .prepare_cached(
            "INSERT INTO counts (day, caller, event, batches, products, to_elgamal, to_paillier)
             VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
             ON CONFLICT (day, caller, event) DO UPDATE SET batches = batches + ?4, products = products + ?5,
                 to_elgamal = to_elgamal + ?6, to_paillier = to_paillier + ?7",
        )?
        .execute(params![
            day.0,
            caller,
            event,
            batches as i64,
            asked.products as i64,
            asked.to_elgamal as i64,
            asked.to_paillier as i64
        ])?;
    Ok(())
}

/// Returns every row of the ledger in a folder, in order of day, caller and event; works while a recryptor writes to
/// it.
pub(crate) fn counts(folder: &Path) -> Result<Vec<Count>, LedgerError> {
    let connection = startup::look(folder)?;
    let mut query = connection.prepare(
        "SELECT day, caller, event, batches, products, to_elgamal, to_paillier FROM counts
         ORDER BY day, caller, event",
    )?;
    let rows = query.query_map([], |row| {
        let asked = RequestCounts {
            products: row.get::<_, i64>(4)? as u64,
            to_elgamal: row.get::<_, i64>(5)? as u64,
            to_paillier: row.get::<_, i64>(6)? as u64,
        };
        Ok(Count {
            day: row.get(0)?,
            caller: row.get(1)?,
            event: row.get(2)?,
            batches: row.get::<_, i64>(3)? as u64,
            products: asked.products,
            to_elgamal: asked.to_elgamal,
            to_paillier: asked.to_paillier,
            numbers: asked.numbers(),
        })
    })?;
    Ok(rows.collect::<Result<_, _>>()?)
}
