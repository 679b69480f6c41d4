//! Sums over all windows of a fleet under one mask.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Path, Request, State};
use axum::response::IntoResponse;
use sotto_service::body;

use super::document::Frame;
use super::sums::timed;
use crate::cloud::Cloud;
use crate::fleets;
use crate::problem::Problem;

/// Adds the windows of a fleet that share one mask, in the order of their keys.
///
/// One answer has whole sums of up to 2^16 windows, 4,096 sums or 16 MiB; it reads at most 64 MiB of bodies. An answer
/// with fewer windows than that is the last; for the others, ask again with `after`. Stores nothing.
#[utoipa::path(post, path = "/v1/fleets/{id}/sums",
    params(("id" = String, Path, description = "The fleet's id: 32 lower-case hexadecimal digits.", example = "06060606060606060606060606060606")),
    request_body(content = fleets::Request, description = "At most 256 KiB.", example = json!({
        "most": 1000, "start": 1767225600000_i64, "ticks": 60 })),
    responses(
    (status = 200, description = "A frame of kind 26 (sums over a fleet).",
     body = Frame, content_type = "application/octet-stream", headers(
        ("sotto-evaluate-us" = u64, description = "Microseconds of reading and adding."),
        ("sotto-transcript" = String, description = "The transcript, a frame of kind 29 in hexadecimal."))),
    (status = 400, description = "`invalid-json`"),
    (status = 404, description = "`unknown-fleet`"),
    (status = 422, description = "`wrong-sum`: no such start, number of ticks, key or `most`")
))]
pub(super) async fn post(
    State(cloud): State<Arc<Cloud>>,
    Path(fleet): Path<String>,
    request: Request,
) -> Result<impl IntoResponse, Problem> {
    let wanted: fleets::Request = body::json(request, cloud.config.body_time).await?;
    let ((frame, transcript), time) = cloud
        .computing(move |cloud| {
            let begin = Instant::now();
            Ok((fleets::sums(cloud, &fleet, &wanted)?, begin.elapsed()))
        })
        .await?;
    timed(frame, &transcript, time)
}
