//! The ledger: quotas and the audit, both out of the same durable counts.

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
use sotto_wire::UnreadRequests;

pub(crate) use charge::{Charge, MOST_ASKED};

/// What can go wrong with the ledger. For the log: callers hear less.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LedgerError {
    #[error("the database: {0}")]
    Database(#[from] rusqlite::Error),
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error("the ledger has version {0}, which this program does not know")]
    Version(i64),
}

/// A day since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Day(pub(crate) i64);

impl Day {
    pub(crate) fn today() -> Self {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self((since.as_secs() / 86_400) as i64)
    }
}

/// What a batch asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Asked {
    pub(crate) products: u64,
    pub(crate) to_elgamal: u64,
    pub(crate) to_paillier: u64,
}

impl Asked {
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

    /// Numbers that are decrypted for it.
    pub(crate) fn numbers(self) -> u64 {
        2 * self.products + self.to_elgamal + self.to_paillier
    }
}

/// A row of the audit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Count {
    /// Since 1970, UTC.
    pub(crate) day: i64,
    /// Empty for strangers.
    pub(crate) caller: String,
    /// `charged`, `asked-again`, `looked-at` for batches with numbers that are no ciphertexts, or `refused:` and the reason.
    pub(crate) event: String,
    pub(crate) batches: u64,
    pub(crate) products: u64,
    pub(crate) to_elgamal: u64,
    pub(crate) to_paillier: u64,
    /// Decrypted for these requests; under `looked-at`, numbers that were checked and none decrypted.
    pub(crate) numbers: u64,
}

/// What of refused batches is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// For a reason.
    Refused(&'static str),
    /// After its numbers were checked.
    LookedAt,
}

/// Day, caller, event.
type Refused = (Day, String, Event);

const LOOKED_AT: &str = "looked-at";

/// The ledger in one folder, which no second process opens to write.
pub(crate) struct Ledger {
    connection: Mutex<Connection>,
    /// Refusals that are not written yet. Not each for itself: a stranger would keep the disk busy.
    refusals: Mutex<BTreeMap<Refused, (u64, Asked)>>,
    /// Locked as long as the ledger is open.
    _lock: File,
}

impl Ledger {
    pub(crate) fn open(folder: &Path) -> Result<Self, LedgerError> {
        folder::make(folder)?;
        let lock = folder::lock(folder)?;
        let connection = Mutex::new(startup::connect(folder)?);
        Ok(Self { connection, refusals: Mutex::default(), _lock: lock })
    }

    /// Whether the database answers.
    pub(crate) fn ping(&self) -> Result<(), LedgerError> {
        Ok(self.connection().query_row("SELECT 1", [], |_| Ok(()))?)
    }

    /// Counts a refusal; [`Ledger::write_refusals`] makes it durable.
    pub(crate) fn refused(&self, day: Day, caller: &str, reason: &'static str) {
        self.note((day, caller.to_owned(), Event::Refused(reason)), (1, Asked::default()));
    }

    /// Counts the numbers of a batch that were checked before it was refused.
    pub(crate) fn looked_at(&self, day: Day, caller: &str, asked: Asked) {
        self.note((day, caller.to_owned(), Event::LookedAt), (1, asked));
    }

    fn note(&self, what: Refused, (times, asked): (u64, Asked)) {
        let mut refusals = self.refusals();
        let noted = refusals.entry(what).or_default();
        *noted = (noted.0 + times, noted.1.plus(asked));
    }

    fn refusals(&self) -> MutexGuard<'_, BTreeMap<Refused, (u64, Asked)>> {
        self.refusals.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes the refusals that were counted since the last time.
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
            taken.into_iter().for_each(|(what, times)| self.note(what, times));
        }
        written
    }

    /// A panic while it was held has rolled its transaction back, so it can be used again.
    fn connection(&self) -> MutexGuard<'_, Connection> {
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All of it or nothing.
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

/// Adds to a row.
fn count(
    connection: &Connection,
    day: Day,
    caller: &str,
    event: &str,
    batches: u64,
    asked: Asked,
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

/// Every row of the ledger in a folder, in order of day, caller and event; also while a recryptor writes to it.
pub(crate) fn counts(folder: &Path) -> Result<Vec<Count>, LedgerError> {
    let connection = startup::look(folder)?;
    let mut query = connection.prepare(
        "SELECT day, caller, event, batches, products, to_elgamal, to_paillier FROM counts
         ORDER BY day, caller, event",
    )?;
    let rows = query.query_map([], |row| {
        let asked = Asked {
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
