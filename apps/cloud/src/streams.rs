//! Sums of windows of streams of sums.

use sotto_api::reason;
use sotto_api::streams::WindowsOf;
use sotto_evaluate::{SumError, TaggedSum, TaggedSumming};
use sotto_wire::StreamTag;

use crate::cloud::Cloud;
use crate::id::from_hex;
use crate::problem::Problem;
use crate::store::StoreError;

/// Adds the windows of a request. Returns the frame of the sums.
pub(crate) fn sums(cloud: &Cloud, stream: &str, request: &WindowsOf) -> Result<Vec<u8>, Problem> {
    let unknown = || Problem::not_found(reason::UNKNOWN_STREAM, "there is no stream of sums with this tag");
    let tag = from_hex(stream).map(StreamTag).ok_or_else(unknown)?;
    let header = cloud.store.stream(tag)?.filter(|header| header.is_of_sums()).ok_or_else(unknown)?;
    let windows = request.windows.iter().fold(0_u64, |sum, (_, count)| sum.saturating_add((*count).into()));
    let wanted = request.sums.iter().map(|sum| TaggedSum {
        windows: sum.windows,
        parts: &sum.parts,
        weights: sum.weights.as_deref(),
    });
    let windows = usize::try_from(windows).unwrap_or(usize::MAX);
    let mut summing = TaggedSumming::new(&header, windows, wanted.collect()).map_err(refused)?;
    for (first, count) in &request.windows {
        for at in 0..u64::from(*count) {
            let number = first.checked_add(at).ok_or_else(|| missing(header.stream(), u64::MAX))?;
            let window = cloud.store.window_of_sums(&header, number)?;
            summing.add(&window.ok_or_else(|| missing(header.stream(), number))?).map_err(refused)?;
        }
    }
    summing.frame().map_err(refused)
}

fn missing(stream: &str, number: u64) -> Problem {
    let detail = format!("stream {stream} has no window with number {number}");
    Problem::unprocessable(reason::UNKNOWN_ENVELOPE, detail)
}

/// Returns the refusal of sums. Stored windows were checked, so one that does not fit now is damaged.
fn refused(error: SumError) -> Problem {
    match error {
        SumError::Request(detail) => Problem::unprocessable(reason::WRONG_SUM, detail),
        SumError::Body(_) | SumError::Frame(_) => StoreError::Damaged(error.to_string()).into(),
    }
}
