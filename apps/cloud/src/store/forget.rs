//! Deletes data: windows at the owner's request, and expired jobs.

use std::collections::BTreeMap;

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_api::orders::Forgotten;
use sotto_wire::{Forget, FromLog, Frontier};

use super::bodies::Folder;
use super::sealed::{Rewriting, frontier, runs};
use super::{Store, StoreError, count, removal, rolled};
use sotto_segment::Kind;

/// Bounds below which a device may not send windows of a stream again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ForgottenUntil {
    /// Windows that ended before this time are refused: milliseconds since 1970.
    pub(crate) until: i64,
    /// The largest deleted sequence number.
    pub(crate) sequence: i64,
}

/// Raises the bounds of a stream.
const PUT: &str = "ON CONFLICT (device, stream) DO UPDATE SET
    until = max(until, excluded.until), sequence = max(sequence, excluded.sequence)";

/// Windows in segments that an order names.
#[derive(Default)]
struct SealedChoice {
    rewriting: Rewriting,
    windows: u64,
    bytes: u64,
    /// The largest number of each stream.
    last: BTreeMap<(String, String), u64>,
}

/// The envelopes that an order names.
const SELECTED: &str = "id IN (SELECT id FROM temp.chosen)";

impl Store {
    /// Deletes the envelopes that an order names, and the jobs that used them with their outputs. Windows of a log that is
    /// not the one of the order, as after a backup was put back, stay.
    pub(crate) fn forget(&self, device: &str, forget: &Forget) -> Result<Forgotten, StoreError> {
        let _sealing = self.sealing();
        let forgotten = self.transaction(|transaction| {
            choose(self, transaction, device, forget)?;
            let sealed = self.choose_sealed(transaction, device, forget)?;
            let sums = format!("SELECT count(*), coalesce(sum(bytes), 0) FROM envelopes WHERE {SELECTED}");
            let (envelopes, bytes) =
                transaction.query_row(&sums, [], |row| Ok((count(row, 0)?, count(row, 1)?)))?;
            let jobs = "SELECT DISTINCT job FROM job_inputs WHERE envelope IN (SELECT id FROM temp.chosen)";
            let jobs: Vec<[u8; 16]> =
                transaction.prepare(jobs)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            let mut outputs = 0;
            for job in &jobs {
                outputs += delete_job(transaction, job)?;
            }
            let names = format!("SELECT lower(hex(id)) FROM envelopes WHERE {SELECTED}");
            let names: Vec<String> =
                transaction.prepare(&names)?.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            for name in &names {
                removal::note(transaction, Folder::Envelopes, name)?;
            }
            note(transaction, device, forget)?;
            // Keep the leaves: the log's root must remain the one that the owner knows.
            transaction.execute(
                "UPDATE log SET envelope = NULL WHERE envelope IN (SELECT id FROM temp.chosen)",
                [],
            )?;
            transaction.execute(&format!("DELETE FROM envelopes WHERE {SELECTED}"), [])?;
            transaction.execute_batch("DROP TABLE temp.chosen")?;
            let (envelopes, bytes) = (envelopes + sealed.windows, bytes + sealed.bytes);
            self.forget_sealed(transaction, forget, sealed)?;
            let mut backups = transaction.prepare("SELECT place FROM backups ORDER BY place")?;
            let backups = backups.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            Ok(Forgotten { envelopes, bytes, jobs: jobs.len() as u64, outputs, backups })
        })?;
        self.tails.clear();
        self.finish_removals()?;
        self.count_waiting()?;
        Ok(forgotten)
    }

    /// Chooses the windows in segments that an order names.
    fn choose_sealed(
        &self,
        connection: &Connection,
        device: &str,
        forget: &Forget,
    ) -> Result<SealedChoice, StoreError> {
        let Forget { stream, until, from_log, .. } = forget;
        let mut chosen = SealedChoice::default();
        let named = match (from_log, stream) {
            (Some(windows), Some(stream)) if !self.is_log(connection, device, stream, windows)? => {
                return Ok(chosen);
            }
            (Some(windows), Some(_)) => Some(&windows.runs),
            _ => None,
        };
        for (log, device, stream) in runs::logs(connection, Some(device), stream.as_deref())? {
            for run in runs::ended_before(connection, log, *until)? {
                let block = self.block(connection, &run, false)?;
                for number in run.number..run.end() {
                    let (row, position) = (run.row_of(number), run.position + (number - run.number));
                    let is_named = named
                        .is_none_or(|runs| runs.iter().any(|(from, to)| (*from..*to).contains(&position)));
                    if !is_named || block.times(row).1 >= *until {
                        continue;
                    }
                    chosen.rewriting.add(&run, number, Kind::Deleted);
                    (chosen.windows, chosen.bytes) =
                        (chosen.windows + 1, chosen.bytes + block.counted_bytes(row));
                    let last = chosen.last.entry((device.clone(), stream.clone())).or_default();
                    *last = number.max(*last);
                }
            }
        }
        Ok(chosen)
    }

    /// Writes the segments of chosen windows anew without them, and notes their numbers.
    fn forget_sealed(
        &self,
        connection: &Connection,
        forget: &Forget,
        mut chosen: SealedChoice,
    ) -> Result<(), StoreError> {
        for ((device, stream), last) in &chosen.last {
            connection.execute(
                &format!(
                    "INSERT INTO forgotten (device, stream, until, sequence) VALUES (?1, ?2, ?3, ?4) {PUT}"
                ),
                params![device, stream, forget.until, last.cast_signed()],
            )?;
        }
        rolled::forget(connection, &mut chosen.rewriting)?;
        self.rewrite(connection, &chosen.rewriting)
    }

    /// Returns true if a stream's log had this root when it had this size.
    pub(super) fn is_log(
        &self,
        connection: &Connection,
        device: &str,
        stream: &str,
        windows: &FromLog,
    ) -> Result<bool, StoreError> {
        let kept = frontier(connection, device, stream)?;
        let mut tree = if kept.size() <= windows.size { kept } else { Frontier::default() };
        let positions = tree.size()..windows.size;
        self.walk_leaves(connection, (device, stream), positions, |_, leaf| {
            leaf.into_iter().for_each(|leaf| tree.push(leaf));
            Ok(leaf.is_some())
        })?;
        Ok((tree.size(), tree.root()) == (windows.size, windows.root))
    }

    /// Deletes jobs that ended before a time, with their outputs; returns the number of jobs.
    pub(crate) fn forget_jobs(&self, ended_before: i64) -> Result<usize, StoreError> {
        let deleted = self.transaction(|transaction| {
            let jobs: Vec<[u8; 16]> = transaction
                .prepare("SELECT id FROM jobs WHERE ended_at < ?1")?
                .query_map([ended_before], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            for job in &jobs {
                delete_job(transaction, job)?;
            }
            Ok(jobs.len())
        })?;
        self.finish_removals()?;
        Ok(deleted)
    }

    /// Returns the bounds of a stream's deleted windows; `None` if none were deleted.
    pub(crate) fn forgotten(&self, device: &str, stream: &str) -> Result<Option<ForgottenUntil>, StoreError> {
        forgotten(&self.connection(), device, stream)
    }
}

/// Makes the table `chosen` of the envelopes that an order names: those of its windows that ended before its time.
fn choose(store: &Store, connection: &Connection, device: &str, forget: &Forget) -> Result<(), StoreError> {
    let Forget { stream, until, from_log, .. } = forget;
    connection.execute_batch("CREATE TEMP TABLE chosen (id BLOB PRIMARY KEY) WITHOUT ROWID")?;
    let (Some(windows), Some(stream)) = (from_log, stream) else {
        connection.execute(
            "INSERT INTO temp.chosen SELECT id FROM envelopes
             WHERE device = ?1 AND (?2 IS NULL OR stream = ?2) AND ended_at < ?3",
            params![device, stream, until],
        )?;
        return Ok(());
    };
    if !store.is_log(connection, device, stream, windows)? {
        tracing::warn!(device, stream, "an order names windows of another log: none is deleted");
        return Ok(());
    }
    let mut insert = connection.prepare_cached(
        "INSERT INTO temp.chosen SELECT id FROM log JOIN envelopes ON envelopes.id = log.envelope
         WHERE log.device = ?1 AND log.stream = ?2 AND position >= ?3 AND position < ?4 AND ended_at < ?5",
    )?;
    for (from, to) in &windows.runs {
        let [from, to] = [from, to].map(|position| i64::try_from(*position).unwrap_or(i64::MAX));
        insert.execute(params![device, stream, from, to, until])?;
    }
    Ok(())
}

/// Notes the time before which windows are refused, and the largest number that was deleted.
fn note(connection: &Connection, device: &str, forget: &Forget) -> Result<(), StoreError> {
    let put = PUT;
    connection.execute(
        &format!(
            "INSERT INTO forgotten (device, stream, until, sequence)
             SELECT device, stream, ?1, max(sequence) FROM envelopes WHERE {SELECTED} GROUP BY device, stream {put}"
        ),
        [forget.until],
    )?;
    if let (Some(stream), Some(last)) = (&forget.stream, forget.next.checked_sub(1)) {
        let last = i64::try_from(last).unwrap_or(i64::MAX);
        connection.execute(
            &format!(
                "INSERT INTO forgotten (device, stream, until, sequence)
                 SELECT name, ?2, ?3, ?4 FROM devices WHERE name = ?1 {put}"
            ),
            params![device, stream, forget.until, last],
        )?;
    }
    Ok(())
}

pub(super) fn forgotten(
    connection: &Connection,
    device: &str,
    stream: &str,
) -> Result<Option<ForgottenUntil>, StoreError> {
    let mut query = connection
        .prepare_cached("SELECT until, sequence FROM forgotten WHERE device = ?1 AND stream = ?2")?;
    let found = query
        .query_row([device, stream], |row| Ok(ForgottenUntil { until: row.get(0)?, sequence: row.get(1)? }));
    Ok(found.optional()?)
}

/// Deletes a job's rows; returns the number of its outputs.
fn delete_job(connection: &Connection, job: &[u8; 16]) -> Result<u64, StoreError> {
    let outputs: Vec<String> = connection
        .prepare_cached("SELECT lower(hex(file)) FROM job_outputs WHERE job = ?1")?
        .query_map([job], |row| row.get(0))?
        .collect::<Result<_, _>>()?;
    for output in &outputs {
        removal::note(connection, Folder::Outputs, output)?;
    }
    connection.prepare_cached("DELETE FROM jobs WHERE id = ?1")?.execute([job])?;
    Ok(outputs.len() as u64)
}
