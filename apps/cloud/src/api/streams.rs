//! Sums of the windows of a stream of sums.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Path, Request, State};
use axum::response::IntoResponse;
use sotto_api::reason;
use sotto_api::streams::{AddWindows, LARGEST_REQUEST, WindowsOf};
use sotto_service::body;

use super::routes::Routes;
use super::sums::timed;
use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::streams;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(AddWindows, post)
}

async fn post(
    State(cloud): State<Arc<Cloud>>,
    Path(stream): Path<String>,
    request: Request,
) -> Result<impl IntoResponse, Problem> {
    let body = body::read(request, LARGEST_REQUEST, cloud.config.body_time()).await?;
    let (frame, time) = cloud
        .computing(move |cloud| {
            let wanted: WindowsOf = serde_json::from_slice(&body)
                .map_err(|error| Problem::bad_request(reason::INVALID_JSON, error.to_string()))?;
            drop(body);
            let begin = Instant::now();
            Ok((streams::sums(cloud, &stream, &wanted)?, begin.elapsed()))
        })
        .await?;
    timed(frame, None, time)
}
