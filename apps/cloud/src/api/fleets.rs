//! Sums over all windows of a fleet under one mask.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Path, Request, State};
use axum::response::IntoResponse;
use sotto_service::body;

use super::sums::timed;
use crate::cloud::Cloud;
use crate::fleets;
use crate::problem::Problem;

/// `POST /v1/fleets/{id}/sums`: the frame of the sums, in the order of the keys.
///
/// The header `sotto-evaluate-us` has the microseconds of reading and adding; `sotto-transcript` has the frame of the
/// transcript in hexadecimal.
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
