//! Charges each batch once, before it is answered.

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_wire::BatchId;

use super::{Day, Event, LOOKED_AT, Ledger, LedgerError, RequestCounts, count};
use crate::callers::Caller;

/// Maximum number of times that one batch may be sent, even if its answers were lost.
pub(crate) const MOST_ASKED: i64 = 16;

/// Outcome of charging a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Charge {
    /// The batch is charged now: answer it.
    Charged,
    /// The batch was charged before: answer it.
    AskedAgain,
    /// The batch was sent too often.
    TooOften,
    /// The numbers of the caller that were checked and refused today have reached its quota.
    RefusedTooOften,
    /// Other requests had the same batch name.
    NameTaken,
    /// The batch has more numbers than the caller has left today.
    OverQuota {
        /// Numbers left.
        left: u64,
    },
}

impl Ledger {
    /// Charges a batch to a caller, durably: if the process is killed after the charge, the next one finds the batch
    /// charged.
    pub(crate) fn charge(
        &self,
        day: Day,
        caller: &Caller,
        batch: BatchId,
        digest: &[u8; 32],
        asked: RequestCounts,
    ) -> Result<Charge, LedgerError> {
        self.transaction(|transaction| {
            // Forget batches of days that are too old to be repeated.
            transaction.prepare_cached("DELETE FROM batches WHERE day < ?1")?.execute([day.0 - 1])?;
            let charge = foresee(transaction, day, caller, batch, digest, asked)?;
            match charge {
                Charge::AskedAgain => {
                    let again = "UPDATE batches SET asked = asked + 1 WHERE caller = ?1 AND batch = ?2";
                    transaction.prepare_cached(again)?.execute(params![caller.name, batch.0])?;
                    count(transaction, day, &caller.name, "asked-again", 1, asked)?;
                }
                Charge::Charged => {
                    let insert =
                        "INSERT INTO batches (caller, batch, digest, day, asked) VALUES (?1, ?2, ?3, ?4, 1)";
                    let row = params![caller.name, batch.0, digest, day.0];
                    transaction.prepare_cached(insert)?.execute(row)?;
                    count(transaction, day, &caller.name, "charged", 1, asked)?;
                }
                _ => {}
            }
            Ok(charge)
        })
    }

    /// Returns the outcome that charging a batch would have, before its numbers are checked. Writes nothing.
    pub(crate) fn foresee(
        &self,
        day: Day,
        caller: &Caller,
        batch: BatchId,
        digest: &[u8; 32],
        asked: RequestCounts,
    ) -> Result<Charge, LedgerError> {
        let unwritten = self.refusals().get(&(day, caller.name.clone(), Event::LookedAt)).copied();
        let unwritten = unwritten.map_or(0, |(_, asked)| asked.numbers());
        let connection = self.connection();
        let looked_at = numbers(&connection, day, &caller.name, LOOKED_AT)? + unwritten;
        if looked_at >= caller.numbers_a_day {
            return Ok(Charge::RefusedTooOften);
        }
        foresee(&connection, day, caller, batch, digest, asked)
    }

    /// Returns the numbers charged to a caller on a day.
    pub(crate) fn used(&self, day: Day, caller: &Caller) -> Result<u64, LedgerError> {
        numbers(&self.connection(), day, &caller.name, "charged")
    }
}

fn foresee(
    connection: &Connection,
    day: Day,
    caller: &Caller,
    batch: BatchId,
    digest: &[u8; 32],
    asked: RequestCounts,
) -> Result<Charge, LedgerError> {
    // Only today's and yesterday's batches are known.
    let earlier: Option<([u8; 32], i64)> = connection
        .prepare_cached("SELECT digest, asked FROM batches WHERE caller = ?1 AND batch = ?2 AND day >= ?3")?
        .query_row(params![caller.name, batch.0, day.0 - 1], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    Ok(match earlier {
        Some((earlier, _)) if earlier != *digest => Charge::NameTaken,
        Some((_, times)) if times >= MOST_ASKED => Charge::TooOften,
        Some(_) => Charge::AskedAgain,
        None => {
            let used = numbers(connection, day, &caller.name, "charged")?;
            let left = caller.numbers_a_day.saturating_sub(used);
            if asked.numbers() > left { Charge::OverQuota { left } } else { Charge::Charged }
        }
    })
}

/// Returns the numbers of a caller on a day under an event.
fn numbers(connection: &Connection, day: Day, caller: &str, event: &str) -> Result<u64, LedgerError> {
    let mut query = connection.prepare_cached(
        "SELECT 2 * products + to_elgamal + to_paillier FROM counts
         WHERE day = ?1 AND caller = ?2 AND event = ?3",
    )?;
    let numbers: Option<i64> = query.query_row(params![day.0, caller, event], |row| row.get(0)).optional()?;
    Ok(numbers.unwrap_or(0) as u64)
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use sotto_service::folder::FolderError;

    use super::super::{Count, LedgerError, counts};
    use super::*;
    use crate::callers::Callers;

    const ASKED: RequestCounts = RequestCounts { products: 2, to_elgamal: 1, to_paillier: 0 };
    const TODAY: Day = Day(20_000);

    fn caller(folder: &Path) -> Arc<Caller> {
        sotto_service::token::write_private(&folder.join("token"), "0123456789abcdef").unwrap();
        let file = folder.join("callers.toml");
        let entry = "[[caller]]\nname = \"cloud\"\ntoken_file = \"token\"\nnumbers_a_day = 12\n";
        std::fs::write(&file, entry).unwrap();
        Callers::read(&file).unwrap().find(b"Bearer 0123456789abcdef").unwrap()
    }

    #[test]
    fn a_batch_is_charged_once_until_the_quota_is_used_up() {
        let folder = tempfile::tempdir().unwrap();
        let (caller, data) = (caller(folder.path()), folder.path().join("data"));
        let mut ledger = Ledger::open(&data).unwrap();
        let charge = |ledger: &Ledger, day, number: u8, digest: u8| {
            ledger.charge(day, &caller, BatchId([number; 16]), &[digest; 32], ASKED).unwrap()
        };
        assert_eq!(charge(&ledger, TODAY, 1, 1), Charge::Charged);
        assert_eq!(charge(&ledger, TODAY, 1, 1), Charge::AskedAgain);
        assert_eq!(charge(&ledger, TODAY, 1, 2), Charge::NameTaken);
        assert_eq!(charge(&ledger, TODAY, 2, 1), Charge::Charged);
        assert_eq!(charge(&ledger, TODAY, 3, 1), Charge::OverQuota { left: 2 });
        // A restart changes nothing.
        drop(ledger);
        ledger = Ledger::open(&data).unwrap();
        assert_eq!(charge(&ledger, TODAY, 3, 1), Charge::OverQuota { left: 2 });
        assert_eq!(charge(&ledger, TODAY, 2, 1), Charge::AskedAgain);
        assert_eq!((ledger.used(TODAY, &caller).unwrap(), ASKED.numbers()), (10, 5));
        // The next day has its own quota, and yesterday's batches are still known.
        let tomorrow = Day(TODAY.0 + 1);
        assert_eq!(charge(&ledger, tomorrow, 1, 1), Charge::AskedAgain);
        assert_eq!(charge(&ledger, tomorrow, 3, 1), Charge::Charged);
        assert_eq!(charge(&ledger, Day(TODAY.0 + 2), 1, 9), Charge::Charged, "forgotten");
    }

    #[test]
    fn a_batch_is_not_answered_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let (caller, ledger) = (caller(folder.path()), Ledger::open(&folder.path().join("data")).unwrap());
        let charge = || ledger.charge(TODAY, &caller, BatchId([1; 16]), &[1; 32], ASKED).unwrap();
        assert_eq!(charge(), Charge::Charged);
        (1..MOST_ASKED).for_each(|_| assert_eq!(charge(), Charge::AskedAgain));
        assert_eq!(charge(), Charge::TooOften);
    }

    #[test]
    fn what_is_refused_is_looked_at_no_more_than_the_quota() {
        let folder = tempfile::tempdir().unwrap();
        let (caller, data) = (caller(folder.path()), folder.path().join("data"));
        let mut ledger = Ledger::open(&data).unwrap();
        let foresee =
            |ledger: &Ledger, day| ledger.foresee(day, &caller, BatchId([1; 16]), &[1; 32], ASKED).unwrap();
        // A quota of twelve a day: five refused and written, then five and five not written yet.
        ledger.looked_at(TODAY, "cloud", ASKED);
        ledger.write_refusals().unwrap();
        ledger.looked_at(TODAY, "cloud", ASKED);
        ledger.looked_at(TODAY, "another", ASKED);
        assert_eq!(foresee(&ledger, TODAY), Charge::Charged);
        ledger.looked_at(TODAY, "cloud", ASKED);
        assert_eq!(foresee(&ledger, TODAY), Charge::RefusedTooOften);
        ledger.write_refusals().unwrap();
        drop(ledger);
        ledger = Ledger::open(&data).unwrap();
        assert_eq!(foresee(&ledger, TODAY), Charge::RefusedTooOften);
        assert_eq!(foresee(&ledger, Day(TODAY.0 + 1)), Charge::Charged);
        assert_eq!(ledger.used(TODAY, &caller).unwrap(), 0);
    }

    #[test]
    fn the_audit_has_what_happened_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let (caller, data) = (caller(folder.path()), folder.path().join("data"));
        let ledger = Ledger::open(&data).unwrap();
        assert!(matches!(Ledger::open(&data), Err(LedgerError::Folder(FolderError::InUse))));
        for digest in [1, 1] {
            ledger.charge(TODAY, &caller, BatchId([1; 16]), &[digest; 32], ASKED).unwrap();
        }
        ledger.refused(TODAY, "", "unauthorised");
        ledger.refused(TODAY, "", "unauthorised");
        ledger.refused(TODAY, "cloud", "wrong-key");
        ledger.write_refusals().unwrap();
        ledger.write_refusals().unwrap();
        let row = |caller: &str, event: &str, batches, asked: RequestCounts| Count {
            day: TODAY.0,
            caller: caller.into(),
            event: event.into(),
            batches,
            products: asked.products,
            to_elgamal: asked.to_elgamal,
            to_paillier: asked.to_paillier,
            numbers: asked.numbers(),
        };
        // Read while the ledger is open for writing.
        let expected = [
            row("", "refused:unauthorised", 2, RequestCounts::default()),
            row("cloud", "asked-again", 1, ASKED),
            row("cloud", "charged", 1, ASKED),
            row("cloud", "refused:wrong-key", 1, RequestCounts::default()),
        ];
        assert_eq!(counts(&data).unwrap(), expected);
        assert!(counts(folder.path()).is_err(), "there is no ledger");
    }
}
