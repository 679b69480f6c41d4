//! Sums of compact ciphertexts.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::header;
use axum::response::IntoResponse;

use sotto_service::body;

use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::sums;

/// `POST /v1/sums`: the sums' frame.
pub(super) async fn post(
    State(cloud): State<Arc<Cloud>>,
    request: Request,
) -> Result<impl IntoResponse, Problem> {
    let wanted: sums::Request = body::json(request, cloud.config.body_time).await?;
    let frame = cloud.computing(move |cloud| sums::sums(cloud, &wanted)).await?;
    Ok(([(header::CONTENT_TYPE, "application/octet-stream")], frame))
}
