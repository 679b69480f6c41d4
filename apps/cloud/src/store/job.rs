//! Jobs and their results.

use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_api::jobs::{JobPosition, JobQuery, JobStage, JobState, ListedJob};
use sotto_evaluate::Evaluated;
use sotto_rlwe::{KeyId, ParameterId};

use super::page::{self, Page};
use super::{Folder, Store, StoreError, count, now};
use crate::id::Id;

/// Maximum number of starts of a job, if the process ends before the job does.
const MOST_STARTS: i64 = 3;

/// A job to store.
pub(crate) struct NewJob<'j> {
    pub(crate) plan: [u8; 32],
    pub(crate) parameters: ParameterId,
    pub(crate) key: KeyId,
    pub(crate) inputs: &'j [Id],
    pub(crate) name: Option<&'j SubmissionName<'j>>,
}

/// The idempotency key of a submission, and its digest.
pub(crate) struct SubmissionName<'s> {
    pub(crate) key: &'s str,
    pub(crate) digest: [u8; 32],
}

/// Outcome of a submission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Submitted {
    New(Id),
    /// The same submission came before, under the same idempotency key.
    Before(Id),
}

/// A job to run.
pub(crate) struct Job {
    pub(crate) plan: [u8; 32],
    pub(crate) parameters: ParameterId,
    pub(crate) key: KeyId,
    pub(crate) inputs: Vec<Id>,
}

impl Store {
    /// Returns the job of a submission; `Some(None)` if another submission used its idempotency key.
    pub(crate) fn job_named(&self, name: &SubmissionName<'_>) -> Result<Option<Option<Id>>, StoreError> {
        named(&self.connection(), name)
    }

    /// Returns a page of jobs, the newest first.
    pub(crate) fn jobs(&self, query: &JobQuery) -> Result<Page<ListedJob, JobPosition>, StoreError> {
        let limit = page::limit(query.limit);
        let (before, id) =
            query.after.as_ref().map_or((i64::MAX, Id([0xff; 16])), |at| (at.submitted_at, Id(at.id)));
        let connection = self.connection();
        let mut select = connection.prepare_cached(
            "SELECT id, plan, state, submitted_at, ended_at,
                 (SELECT count(*) FROM job_inputs WHERE job = id),
                 (SELECT count(*) FROM job_outputs WHERE job = id),
                 (SELECT coalesce(sum(bytes), 0) FROM job_outputs WHERE job = id)
             FROM jobs WHERE (submitted_at, id) < (?1, ?2) ORDER BY submitted_at DESC, id DESC LIMIT ?3",
        )?;
        let rows = select.query_map(params![before, id, limit as i64 + 1], |row| {
            let id: Id = row.get(0)?;
            let job = ListedJob {
                job: id.to_string(),
                plan: hex::encode(row.get::<_, [u8; 32]>(1)?),
                state: row.get(2)?,
                submitted_at: row.get(3)?,
                ended_at: row.get(4)?,
                inputs: count(row, 5)?,
                outputs: count(row, 6)?,
                bytes: count(row, 7)?,
            };
            Ok((JobPosition { submitted_at: job.submitted_at, id: id.0 }, job))
        })?;
        let page = Page::cut(rows.collect::<Result<_, _>>()?, limit, |(position, _): &(JobPosition, _)| {
            position.clone()
        });
        Ok(Page { items: page.items.into_iter().map(|(_, job)| job).collect(), next: page.next })
    }

    /// Stores a waiting job. Returns `None` if another submission used its idempotency key.
    pub(crate) fn keep_job(&self, job: &NewJob<'_>) -> Result<Option<Submitted>, StoreError> {
        let id = Id::random()?;
        self.transaction(|transaction| {
            if let Some(name) = job.name
                && let Some(before) = named(transaction, name)?
            {
                return Ok(before.map(Submitted::Before));
            }
            transaction.execute(
                "INSERT INTO jobs
                 (id, plan, parameter_id, key_id, state, submitted_at, idempotency_key, submission)
                 VALUES (?1, ?2, ?3, ?4, 'queued', ?5, ?6, ?7)",
                params![
                    id,
                    job.plan,
                    job.parameters.0,
                    job.key.0,
                    now(),
                    job.name.map(|name| name.key),
                    job.name.map(|name| name.digest)
                ],
            )?;
            let mut insert = transaction
                .prepare_cached("INSERT INTO job_inputs (job, position, envelope) VALUES (?1, ?2, ?3)")?;
            for (position, envelope) in (0i64..).zip(job.inputs) {
                insert.execute(params![id, position, envelope])?;
            }
            Ok(Some(Submitted::New(id)))
        })
    }

    /// Returns the jobs that an earlier process left unfinished, the oldest first. A job that was started too often
    /// fails here: it may be the cause why the process ended.
    pub(crate) fn jobs_left(&self) -> Result<Vec<Id>, StoreError> {
        self.transaction(|transaction| {
            transaction.execute(
                "UPDATE jobs SET state = 'failed', error = ?1, ended_at = ?2
                 WHERE state = 'running' AND starts >= ?3",
                params!["the cloud process ended each time it ran this job", now(), MOST_STARTS],
            )?;
            transaction.execute("UPDATE jobs SET state = 'queued' WHERE state = 'running'", [])?;
            let mut query =
                transaction.prepare("SELECT id FROM jobs WHERE state = 'queued' ORDER BY submitted_at")?;
            let jobs = query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?;
            Ok(jobs)
        })
    }

    /// Marks a job as running and returns it; None if it was cancelled.
    pub(crate) fn start_job(&self, id: Id) -> Result<Option<Job>, StoreError> {
        self.transaction(|transaction| {
            let update =
                "UPDATE jobs SET state = 'running', starts = starts + 1 WHERE id = ?1 AND state = 'queued'";
            if transaction.execute(update, [id])? == 0 {
                return Ok(None);
            }
            let mut inputs = transaction
                .prepare_cached("SELECT envelope FROM job_inputs WHERE job = ?1 ORDER BY position")?;
            let inputs = inputs.query_map([id], |row| row.get(0))?.collect::<Result<_, _>>()?;
            let query = "SELECT plan, parameter_id, key_id FROM jobs WHERE id = ?1";
            let job = transaction.query_row(query, [id], |row| {
                let (parameters, key) = (ParameterId(row.get(1)?), KeyId(row.get(2)?));
                Ok(Job { plan: row.get(0)?, parameters, key, inputs })
            })?;
            Ok(Some(job))
        })
    }

    /// Ends a job that waits or runs. Returns false if there is none.
    pub(crate) fn cancel_job(&self, id: Id) -> Result<bool, StoreError> {
        let update = "UPDATE jobs SET state = 'failed', error = 'the owner cancelled it', ended_at = ?2
             WHERE id = ?1 AND state IN ('queued', 'running')";
        Ok(self.connection().execute(update, params![id, now()])? > 0)
    }

    /// Returns true if a job was not cancelled since it was started.
    pub(crate) fn is_running(&self, id: Id) -> Result<bool, StoreError> {
        is_running(&self.connection(), id)
    }

    /// Writes the outputs durably, then marks the job as done. Returns false, and keeps nothing, if it was cancelled.
    pub(crate) fn finish_job(
        &self,
        id: Id,
        evaluated: &Evaluated,
        transcript: &[u8],
    ) -> Result<bool, StoreError> {
        let mut files = Vec::with_capacity(evaluated.outputs.len());
        let kept = evaluated
            .outputs
            .iter()
            .try_for_each(|output| {
                let file = Id::random()?;
                self.bodies.write(Folder::Outputs, &file.to_string(), output)?;
                files.push((file, output.len() as i64));
                Ok(())
            })
            .and_then(|()| {
                self.transaction(|transaction| finish(transaction, id, &files, evaluated, transcript))
            });
        if !matches!(kept, Ok(true)) {
            files.iter().for_each(|(file, _)| self.bodies.remove(Folder::Outputs, &file.to_string()));
        }
        kept
    }

    pub(crate) fn fail_job(&self, id: Id, error: &str) -> Result<(), StoreError> {
        // A job that was cancelled has ended.
        let update =
            "UPDATE jobs SET state = 'failed', error = ?2, ended_at = ?3 WHERE id = ?1 AND state = 'running'";
        self.connection().execute(update, params![id, error, now()])?;
        Ok(())
    }

    pub(crate) fn job_state(&self, id: Id) -> Result<Option<JobState>, StoreError> {
        let connection = self.connection();
        let mut query = connection.prepare_cached(
            "SELECT plan, state, error, counters, evaluate_us,
             (SELECT count(*) FROM job_outputs WHERE job = id), transcript FROM jobs WHERE id = ?1",
        )?;
        let state = query.query_row([id], |row| {
            let (state, counters): (String, String) = (row.get(1)?, row.get(3)?);
            Ok(JobState {
                job: id.to_string(),
                plan: hex::encode(row.get::<_, [u8; 32]>(0)?),
                state: JobStage::named(&state).ok_or(rusqlite::Error::InvalidQuery)?,
                error: row.get(2)?,
                counters: serde_json::from_str(&counters).unwrap_or_default(),
                evaluate_us: count(row, 4)?,
                outputs: row.get(5)?,
                transcript: row.get::<_, Option<Vec<u8>>>(6)?.unwrap_or_default(),
            })
        });
        Ok(state.optional()?)
    }

    /// Returns the frame of an output; `None` until the job is done.
    pub(crate) fn job_output(&self, job: Id, position: u32) -> Result<Option<Vec<u8>>, StoreError> {
        let query = "SELECT file FROM job_outputs WHERE job = ?1 AND position = ?2";
        let file: Option<Id> =
            self.connection().query_row(query, params![job, position], |row| row.get(0)).optional()?;
        file.map(|file| self.bodies.read(Folder::Outputs, &file.to_string())).transpose()
    }
}

fn named(connection: &Connection, name: &SubmissionName<'_>) -> Result<Option<Option<Id>>, StoreError> {
    let mut query =
        connection.prepare_cached("SELECT id, submission FROM jobs WHERE idempotency_key = ?1")?;
    let found =
        query.query_row([name.key], |row| Ok((row.get(0)?, row.get::<_, [u8; 32]>(1)?))).optional()?;
    Ok(found.map(|(id, digest)| (digest == name.digest).then_some(id)))
}

fn finish(
    connection: &Connection,
    id: Id,
    files: &[(Id, i64)],
    evaluated: &Evaluated,
    transcript: &[u8],
) -> Result<bool, StoreError> {
    if !is_running(connection, id)? {
        return Ok(false);
    }
    for (position, (file, bytes)) in (0i64..).zip(files) {
        connection.execute(
            "INSERT INTO job_outputs (job, position, file, bytes) VALUES (?1, ?2, ?3, ?4)",
            params![id, position, file, bytes],
        )?;
    }
    let counters: serde_json::Value = evaluated.counters.iter().map(|(k, v)| (*k, *v)).collect();
    connection.execute(
        "UPDATE jobs SET state = 'done', counters = ?2, evaluate_us = ?3, ended_at = ?4, transcript = ?5
         WHERE id = ?1",
        params![id, counters.to_string(), microseconds(evaluated.time), now(), transcript],
    )?;
    Ok(true)
}

fn is_running(connection: &Connection, id: Id) -> Result<bool, StoreError> {
    let mut query = connection.prepare_cached("SELECT state = 'running' FROM jobs WHERE id = ?1")?;
    Ok(query.query_row([id], |row| row.get(0)).optional()?.unwrap_or(false))
}

fn microseconds(time: Duration) -> i64 {
    i64::try_from(time.as_micros()).unwrap_or(i64::MAX)
}
