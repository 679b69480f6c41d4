//! Sums of the windows of a stream of sums.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Path, Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::IntoResponse;
use sotto_api::FRAME;
use sotto_api::stream_sums::{AddWindows, StreamSumsRequest};
use sotto_api::sums::EVALUATE_US;
use sotto_service::body;

use super::routes::Routes;
use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::stream_sums::{LARGEST_REQUEST, sums};

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(AddWindows, post)
}

async fn post(
    State(cloud): State<Arc<Cloud>>,
    Path(stream): Path<String>,
    request: Request,
) -> Result<impl IntoResponse, Problem> {
    let wanted: StreamSumsRequest =
        body::json_within(request, LARGEST_REQUEST, cloud.config.body_time()).await?;
    let (frame, time) = cloud
        .computing(move |cloud| {
            let begin = Instant::now();
            Ok((sums(cloud, &stream, &wanted)?, begin.elapsed()))
        })
        .await?;
    let time = HeaderValue::from(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    let kind = HeaderValue::from_static(FRAME);
    Ok(([(header::CONTENT_TYPE, kind), (HeaderName::from_static(EVALUATE_US), time)], frame))
}
