//! Workers: threads that run jobs.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use sotto_evaluate::Evaluated;
use sotto_wire::{Envelope, Transcript, TranscriptInputs};

use crate::cloud::Cloud;
use crate::id::Id;
use crate::problem::Problem;
use crate::store::{StoreError, StoredRow};
use crate::transcript;

/// The worker threads; they end when the queue is closed.
pub struct Workers(Vec<JoinHandle<()>>);

impl Workers {
    /// Starts the workers. They first run the jobs that an earlier process left unfinished.
    pub(crate) fn start(cloud: &Arc<Cloud>) -> anyhow::Result<Self> {
        let left = cloud.store.jobs_left()?;
        if !left.is_empty() {
            tracing::info!(jobs = left.len(), "resuming the jobs of an earlier run");
        }
        cloud.queue.extend(left);
        let worker = |number: usize| {
            let cloud = Arc::clone(cloud);
            let name = format!("evaluate-{number}");
            thread::Builder::new().name(name).spawn(move || {
                while let Some(job) = cloud.queue.next() {
                    work(&cloud, job);
                }
            })
        };
        Ok(Self((0..cloud.config.workers).map(worker).collect::<Result<_, _>>()?))
    }

    /// Waits at most `longest` for the workers to end. A job that still runs then is started again by the next process.
    pub(crate) fn wait(self, longest: Duration) {
        let start = Instant::now();
        for thread in self.0 {
            while !thread.is_finished() {
                if start.elapsed() > longest {
                    tracing::warn!("a job is still running: the next start runs it again");
                    return;
                }
                thread::sleep(Duration::from_millis(5));
            }
            if thread.join().is_err() {
                tracing::error!("a worker ended early");
            }
        }
    }
}

/// Runs a job. The job always ends, and the worker survives a panic.
fn work(cloud: &Cloud, job: Id) {
    let start = Instant::now();
    let run = catch_unwind(AssertUnwindSafe(|| evaluate(cloud, job)));
    let done = run.unwrap_or_else(|_| Err(Problem::internal())).and_then(|evaluated| {
        let Some((evaluated, transcript)) = evaluated else { return Ok(None) };
        let kept = cloud.store.finish_job(job, &evaluated, &transcript.write()?)?;
        Ok(kept.then_some(evaluated.time))
    });
    match done {
        Ok(None) => tracing::info!(%job, all = ?start.elapsed(), "ended: it was cancelled"),
        Ok(Some(evaluated)) => tracing::info!(%job, ?evaluated, all = ?start.elapsed(), "done"),
        Err(problem) => {
            tracing::warn!(%job, reason = problem.reason, detail = problem.detail, "failed");
            if let Err(error) = cloud.store.fail_job(job, &problem.detail) {
                tracing::error!(%job, %error, "the failure of a job cannot be stored");
            }
        }
    }
}

/// Evaluates a job. Returns None if it was cancelled.
fn evaluate(cloud: &Cloud, id: Id) -> Result<Option<(Evaluated, Transcript)>, Problem> {
    let Some(job) = cloud.store.start_job(id)? else { return Ok(None) };
    let missing = || StoreError::Damaged("the plan of a job is missing".into());
    let plan = cloud.store.plan(&job.plan)?.ok_or_else(missing)?;
    let (params, keys) = (cloud.params(job.parameters)?, cloud.keys(job.parameters, job.key)?);
    let found = cloud.store.find_all(&job.inputs)?;
    let mut cancelled = false;
    // Without its last inputs the plan does not run.
    let mut ciphertexts = found.iter().map_while(|envelope| match cloud.store.is_running(id) {
        Ok(true) => Some(cloud.store.read(envelope).map(Envelope::into_body)),
        Ok(false) => {
            cancelled = true;
            None
        }
        Err(error) => Some(Err(error)),
    });
    let evaluated = params.run(&plan, &mut ciphertexts, &keys, &cloud.threads, cloud.config.largest_job);
    if cancelled {
        return Ok(None);
    }
    let evaluated = evaluated?;
    let leaves = found.iter().map(StoredRow::leaf).collect::<Result<Vec<_>, _>>()?;
    let transcript =
        transcript::of_job(cloud, &job, TranscriptInputs::of(leaves), &keys, &evaluated.outputs)?;
    Ok(Some((evaluated, transcript)))
}
