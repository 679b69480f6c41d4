//! Jobs: submitted, listed, and their outputs.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use sotto_service::body;

use super::{pages, upload};
use crate::cloud::Cloud;
use crate::evaluate::{Submission, submit};
use crate::id::Id;
use crate::problem::Problem;
use crate::store::{JobQuery, JobState, Submitted};

/// `POST /v1/jobs`: checks a job fully and queues it: 202. The same submission under the same idempotency key again:
/// 200 and the same job.
pub(super) async fn post(
    State(cloud): State<Arc<Cloud>>,
    request: Request,
) -> Result<(StatusCode, Json<Value>), Problem> {
    let named = request.headers().contains_key(upload::IDEMPOTENCY_KEY);
    let key = named.then(|| upload::idempotency_key(request.headers()));
    let submission: Submission = body::json(request, cloud.config.body_time).await?;
    let key = key.transpose()?;
    let submitted = cloud.computing(move |cloud| submit(cloud, &submission, key.as_deref())).await?;
    let (status, job) = match submitted {
        Submitted::New(job) => (StatusCode::ACCEPTED, job),
        Submitted::Before(job) => (StatusCode::OK, job),
    };
    Ok((status, Json(json!({ "job": job.to_string() }))))
}

/// `GET /v1/jobs`: a page of jobs, the newest first.
pub(super) async fn list(
    State(cloud): State<Arc<Cloud>>,
    Query(query): Query<JobQuery>,
) -> Result<Response, Problem> {
    cloud.blocking(move |cloud| Ok(pages::answer(&cloud.store.jobs(&query)?, query.limit, &[]))).await
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
