//! Jobs: submitted, followed, fetched.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Request, State};
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use serde_json::{Value, json};

use sotto_service::body;

use crate::cloud::Cloud;
use crate::evaluate::{Submission, submit};
use crate::id::Id;
use crate::problem::Problem;
use crate::store::JobState;

/// `POST /v1/jobs`: checked fully, then queued.
pub(super) async fn post(
    State(cloud): State<Arc<Cloud>>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let submission: Submission = body::json(request, cloud.config.body_time).await?;
    let job = cloud.computing(move |cloud| submit(cloud, &submission)).await?;
    Ok((StatusCode::ACCEPTED, Json(json!({ "job": job.to_string() }))))
}

fn unknown_job() -> Problem {
    Problem::not_found("unknown-job", "there is no job of this name")
}

/// `GET /v1/jobs/{id}`
pub(super) async fn state(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
) -> Result<Json<JobState>, Problem> {
    let id = Id::parse(&name).ok_or_else(unknown_job)?;
    cloud.blocking(move |cloud| cloud.store.job_state(id)?.map(Json).ok_or_else(unknown_job)).await
}

/// `GET /v1/jobs/{id}/outputs/{index}`: a ciphertext's frame.
pub(super) async fn output(
    State(cloud): State<Arc<Cloud>>,
    Path((name, index)): Path<(String, u32)>,
) -> Result<impl IntoResponse, Problem> {
    let id = Id::parse(&name).ok_or_else(unknown_job)?;
    let none = || Problem::not_found("unknown-output", "the job has no such output, or is not done");
    cloud
        .blocking(move |cloud| {
            let frame = cloud.store.job_output(id, index)?.ok_or_else(none)?;
            Ok(([(header::CONTENT_TYPE, "application/octet-stream")], frame))
        })
        .await
}
