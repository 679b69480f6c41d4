//! Sums of the windows of a stream of sums.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Path, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::IntoResponse;
use sotto_api::streams::{AddWindows, EVALUATE_US, LARGEST_REQUEST, WindowsOf};
use sotto_api::{FRAME, reason};
use sotto_service::body;

use super::routes::Routes;
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
        .reading(move |cloud| {
            let wanted: WindowsOf = serde_json::from_slice(&body)
                .map_err(|error| Problem::bad_request(reason::INVALID_JSON, error.to_string()))?;
            let begin = Instant::now();
            Ok((streams::sums(cloud, &stream, &wanted)?, begin.elapsed()))
        })
        .await?;
    Ok(timed(frame, time))
}

/// Returns an answer with a frame and the time of the computation.
fn timed(frame: Vec<u8>, time: Duration) -> impl IntoResponse + use<> {
    let time = HeaderValue::from(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(FRAME)),
        (HeaderName::from_static(EVALUATE_US), time),
    ];
    (HeaderMap::from_iter(headers), frame)
}
