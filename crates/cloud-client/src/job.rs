//! Jobs: their progress and their results.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

use sotto_api::jobs::{FetchJob, JobStage, JobState};
use sotto_api::shown;
use sotto_http::Request;

use crate::error::CloudError;
use crate::requests::Requests;

const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(200);
/// Longest time that the cloud may be unreachable during a wait. A cloud that restarts resumes its jobs.
const LONGEST_AWAY: Duration = Duration::from_secs(30);

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

pub(crate) fn wait(
    requests: &Requests,
    job: &str,
    mut on_progress: impl FnMut(&JobProgress) -> ControlFlow<()>,
) -> Result<JobDone, CloudError> {
    let (start, mut pause, mut stage) = (Instant::now(), FIRST_PAUSE, JobStage::Queued);
    let mut reached = Instant::now();
    loop {
        match requests.call::<FetchJob>(Request::to::<FetchJob>([job], &(), &())) {
            Ok(state) => {
                reached = Instant::now();
                stage = state.state;
                let JobState { evaluate_us, counters, outputs, transcript, error, .. } = state;
                match stage {
                    JobStage::Queued | JobStage::Running => {}
                    JobStage::Done => return Ok(JobDone { evaluate_us, counters, outputs, transcript }),
                    JobStage::Failed => {
                        let reason = error.as_deref().map_or_else(|| "no reason given".into(), shown);
                        return Err(CloudError::JobFailed { job: shown(job), reason });
                    }
                }
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
