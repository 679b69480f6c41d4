//! Deletes data: windows at the owner's request, and expired jobs.

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_api::envelopes::{Forgetting, Forgotten};
use sotto_wire::STREAM_TAG_BYTES;

use super::bodies::Folder;
use super::{Store, StoreError, count, removal, sums};

/// Bounds below which a device may not send windows of a stream again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ForgottenUntil {
    /// Windows that ended before this time are refused: milliseconds since 1970.
    pub(crate) until: i64,
    /// The largest deleted sequence number.
    pub(crate) sequence: i64,
}

const SELECTED: &str = "device = ?1 AND (?2 IS NULL OR stream = ?2) AND ended_at < ?3";

impl Store {
    /// Deletes envelopes, and the jobs that used them with their outputs.
    pub(crate) fn forget(&self, forgetting: &Forgetting) -> Result<Forgotten, StoreError> {
        let Forgetting { device, stream, before } = forgetting;
        let selected = params![device, stream, before];
        let forgotten = self.transaction(|transaction| {
            let sums =
                format!("SELECT count(*), coalesce(sum(bytes), 0) FROM envelopes WHERE {SELECTED}");
            let (envelopes, bytes) =
                transaction.query_row(&sums, selected, |row| Ok((count(row, 0)?, count(row, 1)?)))?;
            let jobs = format!(
                "SELECT DISTINCT job FROM job_inputs WHERE envelope IN (SELECT id FROM envelopes WHERE {SELECTED})"
            );
            let jobs: Vec<[u8; 16]> = transaction
                .prepare(&jobs)?
                .query_map(selected, |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            let mut outputs = 0;
            for job in &jobs {
                outputs += delete_job(transaction, job)?;
            }
            let names = format!("SELECT lower(hex(id)) FROM envelopes WHERE {SELECTED}");
            let names: Vec<String> = transaction
                .prepare(&names)?
                .query_map(selected, |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            for name in &names {
                removal::note(transaction, Folder::Envelopes, name)?;
            }
            transaction.execute(
                &format!(
                    "INSERT INTO forgotten (device, stream, until, sequence)
                     SELECT device, stream, ?3, max(sequence) FROM envelopes WHERE {SELECTED} GROUP BY stream
                     ON CONFLICT (device, stream) DO UPDATE SET
                         until = max(until, excluded.until), sequence = max(sequence, excluded.sequence)"
                ),
                selected,
            )?;
            // Keep the leaves: the log's root must remain the one that the owner knows.
            let logged = "UPDATE log SET envelope = NULL
                 WHERE envelope IN (SELECT id FROM envelopes WHERE ";
            transaction.execute(&format!("{logged}{SELECTED})"), selected)?;
            let of_sums = format!(
                "SELECT stream_tag, sequence FROM envelopes
                 WHERE {SELECTED} AND stream_tag IN (SELECT stream_tag FROM sums_chunks) ORDER BY 1, 2"
            );
            let of_sums: Vec<([u8; STREAM_TAG_BYTES], i64)> = transaction
                .prepare(&of_sums)?
                .query_map(selected, |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect::<Result<_, _>>()?;
            sums::remove(transaction, &self.streams, &of_sums)?;
            transaction.execute(&format!("DELETE FROM envelopes WHERE {SELECTED}"), selected)?;
            Ok(Forgotten { envelopes, bytes, jobs: jobs.len() as u64, outputs })
        })?;
        self.finish_removals()?;
        Ok(forgotten)
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
