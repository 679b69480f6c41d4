//! Jobs: their progress and their results.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::error::CloudError;
use crate::http::Site;
use crate::text::{bytes, counters, encoded, shown};

const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
/// Longest time that the cloud may be unreachable during a wait. A cloud that restarts resumes its jobs.
const LONGEST_AWAY: Duration = Duration::from_secs(30);

/// The stage of a job that has not ended.
///
/// Example: [`JobDone`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum JobStage {
    /// The job waits for a worker.
    Queued,
    /// A worker evaluates the job.
    Running,
}

/// The state of a job during a wait.
///
/// Example: [`JobDone`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobProgress {
    /// The last stage that the cloud reported.
    pub stage: JobStage,
    /// Time since the start of the wait.
    pub waited: Duration,
}

/// A job that ended with outputs.
///
/// ```
/// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
/// use std::ops::ControlFlow;
/// use sotto_cloud_client::{JobDone, JobProgress, JobStage};
/// # let done = r#"{"state": "done", "evaluate_us": 1200, "counters": {"add": 23}, "outputs": 1}"#;
/// # let (cloud, _) = stand_in::serve(vec![stand_in::ok(r#"{"state": "running"}"#), stand_in::ok(done)]);
///
/// let mut stages = Vec::new();
/// let done: JobDone = cloud.wait("job", |progress: &JobProgress| {
///     stages.push(progress.stage);
///     ControlFlow::Continue(())
/// })?;
/// assert_eq!(stages, [JobStage::Running]);
/// assert_eq!((done.outputs, done.counters["add"]), (1, 23));
/// # Ok::<(), sotto_cloud_client::CloudError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct JobDone {
    /// Time of evaluation in microseconds, without reading and writing.
    pub evaluate_us: u64,
    /// Number of runs of each operation.
    pub counters: BTreeMap<String, u64>,
    /// Number of outputs.
    pub outputs: u32,
    /// The transcript's frame; empty if the cloud gave none.
    pub transcript: Vec<u8>,
}

#[derive(Deserialize)]
struct State {
    state: Reported,
    #[serde(default)]
    error: Option<String>,
    #[serde(default, deserialize_with = "counters")]
    counters: BTreeMap<String, u64>,
    #[serde(default)]
    evaluate_us: u64,
    #[serde(default)]
    outputs: u32,
    #[serde(default, deserialize_with = "bytes")]
    transcript: Vec<u8>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Reported {
    Queued,
    Running,
    Done,
    Failed,
}

pub(crate) fn wait(
    site: &Site,
    job: &str,
    mut on_progress: impl FnMut(&JobProgress) -> ControlFlow<()>,
) -> Result<JobDone, CloudError> {
    let path = format!("/v1/jobs/{}", encoded(job));
    let (start, mut pause, mut stage) = (Instant::now(), FIRST_PAUSE, JobStage::Queued);
    let mut reached = Instant::now();
    loop {
        match site.fetch("the job's state", &path).and_then(|answer| answer.json::<State>()) {
            Ok(state) => {
                reached = Instant::now();
                stage = match state.state {
                    Reported::Queued => JobStage::Queued,
                    Reported::Running => JobStage::Running,
                    Reported::Done => {
                        let State { evaluate_us, counters, outputs, transcript, .. } = state;
                        return Ok(JobDone { evaluate_us, counters, outputs, transcript });
                    }
                    Reported::Failed => {
                        let reason = state.error.as_deref().map_or_else(|| "no reason given".into(), shown);
                        return Err(CloudError::JobFailed { job: shown(job), reason });
                    }
                };
            }
            Err(error) if error.is_temporary() && reached.elapsed() < LONGEST_AWAY => {}
            Err(error) => return Err(error),
        }
        if on_progress(&JobProgress { stage, waited: start.elapsed() }).is_break() {
            return Err(CloudError::Cancelled { job: shown(job) });
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}
