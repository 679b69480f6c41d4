//! Requests for sums, within the cloud's limits.

use std::time::{Duration, Instant};

use sotto_cloud_client::{PartsOf, Summed, WindowsOf};
use sotto_pack::MOST_PARTS;
use sotto_sums::{Answer, TAG_BYTES};
use sotto_wire::{MOST_SUMS, StreamHeader, SumsAnswer};

use super::Task;
use super::columns::Opened;
use super::open::{Keys, NotOpened};
use crate::error::OwnerError;
use crate::lie::Lie;
use crate::quantities::Inputs;
use crate::runs::joined;
use crate::streams::SUM_HEAD_BYTES;
use crate::work::job::Computer;
use crate::work::transcript::of_work;

/// Largest number of windows of a request.
pub(super) const MOST_WINDOWS: usize = 1 << 20;
/// Largest number of parts of windows that a request adds.
const MOST_ADDITIONS: usize = 1 << 22;
/// Largest size of the sums of a request, in bytes.
const MOST_BYTES: usize = 16 << 20;
/// Bytes of an answer beside its sums and the names of its windows, and of each sum beside its parts.
pub(super) const OVERHEAD: usize = 1 << 10;
const SUM_OVERHEAD: usize = SUM_HEAD_BYTES + MOST_PARTS;
/// Largest size of a window's name, in bytes: those of a start of its own, and of a run of one.
const NAME_BYTES: usize = 12 + 5 + 10 + 5;

/// Returns the bytes of a sum of some parts, of the longest windows.
fn bytes(stream: &StreamHeader, parts: &[u8]) -> Result<usize, OwnerError> {
    let of = |part: &u8| {
        let form = stream.sums_form((*part).into()).map_err(|error| OwnerError::wrong(&error.to_string()))?;
        Ok(Answer::most_bytes(&form, stream.layout().ticks()))
    };
    parts.iter().map(of).sum()
}

/// Returns a bound on the bytes of a sum of one window, with those of its name.
pub(super) fn most_bytes(stream: &StreamHeader, task: &Task, inputs: &Inputs<'_>) -> Result<u64, OwnerError> {
    let runs = inputs.runs(task.windows.clone());
    let ticks = runs.map(|run| run.input.window.sent_ticks()).max().unwrap_or_default();
    let of = |part: &u8| {
        let form = stream.sums_form((*part).into()).map_err(|error| OwnerError::wrong(&error.to_string()))?;
        // A count is a byte, as no more windows than one have the reading.
        Ok(form.body_bytes(ticks) + form.counts(ticks) + TAG_BYTES)
    };
    let parts: usize = task.parts.iter().map(of).sum::<Result<_, OwnerError>>()?;
    Ok((parts + SUM_OVERHEAD + NAME_BYTES * task.windows.len()) as u64)
}

/// Returns the number of tasks in the next request: at least one, within the cloud's limits.
pub(super) fn batch(stream: &StreamHeader, tasks: &[Task]) -> Result<usize, OwnerError> {
    let first = tasks.iter().map(|task| task.windows.start).min().unwrap_or_default();
    let (mut end, mut additions, mut size) = (first, 0, 0);
    for (at, task) in tasks.iter().enumerate() {
        end = end.max(task.windows.end);
        additions += task.windows.len() * task.parts.len();
        size += bytes(stream, &task.parts)?;
        let fits = at < MOST_SUMS && end - first <= MOST_WINDOWS;
        if at > 0 && !(fits && additions <= MOST_ADDITIONS && size <= MOST_BYTES) {
            return Ok(at);
        }
    }
    Ok(tasks.len())
}

impl Computer<'_> {
    /// Requests some sums and opens them.
    pub(super) fn requested(
        &mut self,
        stream: &StreamHeader,
        keys: &mut Keys<'_>,
        tasks: &[Task],
        inputs: &Inputs<'_>,
    ) -> Result<Vec<Vec<Opened>>, NotOpened> {
        let first = tasks.iter().map(|task| task.windows.start).min().unwrap_or_default();
        let end = tasks.iter().map(|task| task.windows.end).max().unwrap_or_default();
        let windows = first..end;
        let sum = |task: &Task| PartsOf {
            windows: ((task.windows.start - first) as u32, task.windows.len() as u32),
            parts: task.parts.clone(),
            weights: task.weights.clone(),
        };
        let request = WindowsOf {
            windows: joined(inputs.runs(windows.clone()).map(|run| (run.sequence(), run.count))),
            sums: tasks.iter().map(sum).collect(),
        };
        let begin = Instant::now();
        let Summed { frame, evaluate_us } = self
            .cloud
            .stream_sums(&hex::encode(stream.id().tag().0), &request)
            .map_err(|error| of_work(stream.device(), error))?;
        let evaluate = Duration::from_micros(evaluate_us);
        self.spent.record("download", begin.elapsed().saturating_sub(evaluate));
        self.spent.record("evaluate", evaluate);
        self.spent.evaluate_us += evaluate_us;
        self.spent.bytes_down += frame.len() as u64;
        self.spent.jobs += 1;
        self.spent.schemes.insert("sums".to_owned());
        let additions: u64 = tasks.iter().map(|task| task.windows.len() as u64 - 1).sum();
        *self.spent.steps.entry("add".to_owned()).or_default() += additions;

        let begin = Instant::now();
        let mut limit = OVERHEAD + NAME_BYTES * windows.len();
        for task in tasks {
            limit += SUM_OVERHEAD + bytes(stream, &task.parts)?;
        }
        let wrong =
            |error: sotto_wire::WireError| OwnerError::from(Lie::OtherSums { reason: error.to_string() });
        let answer = SumsAnswer::read(&frame, stream, limit as u64, windows.len() as u32).map_err(wrong)?;
        let opened = keys.open(&answer, windows.clone(), tasks, inputs);
        self.spent.record("decrypt", begin.elapsed());
        if opened.is_ok() {
            self.evidence.tagged += windows.len() as u64;
        }
        opened
    }
}
