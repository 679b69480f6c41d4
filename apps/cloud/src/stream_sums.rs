//! Sums of the windows of a stream of sums, by their sequence numbers.

use sotto_api::reason;
use sotto_api::stream_sums::StreamSumsRequest;
use sotto_evaluate::{MOST_SUMMED_WINDOWS, SumError, TaggedSum, TaggedSumming};
use sotto_wire::StreamTag;

use crate::cloud::Cloud;
use crate::id::from_hex;
use crate::problem::Problem;
use crate::store::StoreError;

/// Maximum bytes of a request: 16 MiB, a weight for each of 2^20 windows and more.
pub(crate) const LARGEST_REQUEST: u64 = 16 << 20;

/// A sum's failure as a problem document. Stored windows were checked, so one that does not fit now is damaged.
struct Failed(Problem);

impl From<SumError> for Failed {
    fn from(error: SumError) -> Self {
        Self(match error {
            SumError::Request(detail) => Problem::unprocessable(reason::WRONG_SUM, detail),
            SumError::Body(error) => StoreError::Damaged(error.to_string()).into(),
            SumError::Frame(error) => StoreError::Damaged(error.to_string()).into(),
        })
    }
}

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Self {
        Self(problem)
    }
}

/// Adds windows of a stream, one at a time, so that only the sums are in memory. Returns their frame.
pub(crate) fn sums(cloud: &Cloud, stream: &str, request: &StreamSumsRequest) -> Result<Vec<u8>, Problem> {
    add(cloud, stream, request).map_err(|Failed(problem)| problem)
}

fn add(cloud: &Cloud, stream: &str, request: &StreamSumsRequest) -> Result<Vec<u8>, Failed> {
    let unknown = || Problem::not_found(reason::UNKNOWN_STREAM, "there is no stream of sums with this tag");
    let tag = StreamTag(from_hex(stream).ok_or_else(unknown)?);
    let header = cloud.store.stream(tag).map_err(Problem::from)?;
    let header = header.filter(|header| header.is_of_sums()).ok_or_else(unknown)?;
    let windows = request.windows.iter().fold(0, |all: u64, (_, count)| all.saturating_add((*count).into()));
    if windows > MOST_SUMMED_WINDOWS as u64 {
        return Err(SumError::Request("a request names at most 2^20 windows and 4096 sums").into());
    }
    let wanted = request.sums.iter().map(|sum| TaggedSum {
        windows: sum.windows,
        parts: &sum.parts,
        weights: sum.weights.as_deref(),
    });
    let mut summing = TaggedSumming::new(&header, windows as usize, wanted.collect())?;
    for (first, count) in &request.windows {
        for number in 0..u64::from(*count) {
            let sequence = first.checked_add(number).and_then(|sequence| i64::try_from(sequence).ok());
            let found = sequence.map(|sequence| cloud.store.window(header.device(), header.stream(), sequence));
            let found = found.transpose().map_err(Problem::from)?.flatten();
            let missing = || {
                let number = first.saturating_add(number);
                let detail = format!("stream {} has no window with number {number}", header.stream());
                Problem::unprocessable(reason::UNKNOWN_WINDOW, detail)
            };
            summing.add(&found.ok_or_else(missing)?)?;
        }
    }
    Ok(summing.frame()?)
}
