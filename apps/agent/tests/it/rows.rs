//! Rows of a source, for comparisons.

use sotto_agent::source::{Source, SourceError};
use sotto_pack::Reason;

/// For each channel a reading, a reason, or nothing.
pub(crate) type Values = Vec<Option<Result<f64, Reason>>>;

/// Reads a source to its end: times, and the values of each row.
pub(crate) fn rows(source: &mut dyn Source) -> Result<Vec<(i64, Values)>, SourceError> {
    let mut rows = Vec::new();
    loop {
        match source.next_row() {
            Ok(row) => {
                let value =
                    |(value, reason): (&Option<f64>, &Option<Reason>)| value.map(Ok).or(reason.map(Err));
                rows.push((row.at, row.values.iter().zip(&row.missing).map(value).collect()));
            }
            Err(SourceError::Ended) => return Ok(rows),
            Err(error) => return Err(error),
        }
    }
}
