//! Answers requests that the cloud hands over: any windows by their numbers, also those that do not count any more.

use std::sync::Arc;

use anyhow::Context as _;
use datafusion::arrow::array::{Array as _, AsArray as _};
use datafusion::logical_expr::AggregateUDF;
use datafusion::prelude::{SessionContext, col, lit};
use sotto_api::streams::WindowsOf;
use sotto_wire::StreamTag;

use crate::StoreTable;
use crate::store::{Catalogue, Files};
use crate::sums::{Asked, answer_function};

/// Returns the frame of the sums of a request about a stream, as the cloud writes it.
///
/// # Errors
/// The store has no such stream, or not all of the windows with their bodies.
pub async fn answer(
    context: &SessionContext,
    catalogue: Catalogue,
    files: Arc<Files>,
    tag: StreamTag,
    request: WindowsOf,
) -> anyhow::Result<Vec<u8>> {
    let frame = catalogue.header(tag)?.with_context(|| format!("there is no stream {tag}"))?;
    let header = sotto_wire::StreamHeader::read(&frame)?;
    let first = request.windows.iter().map(|(first, _)| *first).min().unwrap_or_default();
    let end = request.windows.iter().map(|(first, count)| first.saturating_add((*count).into())).max();
    let (first, end) = (i64::try_from(first)?, i64::try_from(end.unwrap_or_default())?);
    let of_stream = col("device").eq(lit(header.device())).and(col("stream").eq(lit(header.stream())));
    let function = AggregateUDF::from(answer_function(Asked { header: hex::encode(&frame), request }));
    let all = context.read_table(Arc::new(StoreTable::every_window(Arc::new(catalogue), files)))?;
    let all =
        all.filter(of_stream)?.filter(col("number").gt_eq(lit(first)).and(col("number").lt(lit(end))))?;
    let sums = all.aggregate(vec![], vec![function.call(vec![col("body"), col("tag")])])?;
    let batches = sums.collect().await?;
    let frame = batches.iter().find_map(|batch| {
        let frames = batch.column(0).as_binary_opt::<i64>()?;
        (frames.len() == 1).then(|| frames.value(0).to_vec())
    });
    frame.context("the query has no answer")
}
