//! Jobs: submitted, listed, and their outputs.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use utoipa::ToSchema;

use sotto_service::body;

use super::document::Frame;
use super::{pages, upload};
use crate::cloud::Cloud;
use crate::evaluate::{Submission, submit};
use crate::id::Id;
use crate::problem::Problem;
use crate::store::{JobQuery, JobState, ListedJob, Submitted};

/// A job that was queued.
#[derive(Serialize, ToSchema)]
pub(super) struct Queued {
    /// The job's id: 32 lower-case hexadecimal digits.
    job: String,
}

/// Checks a job fully and queues it.
///
/// With an idempotency key, the same submission again returns the same job as long as the cloud keeps it.
#[utoipa::path(post, path = "/v1/jobs",
    params(("Idempotency-Key" = Option<String>, Header, description = "1 to 171 visible ASCII characters; optional, so that the request can be sent again safely.")),
    request_body(content = Submission, description = "At most 256 KiB.", example = json!({
        "inputs": ["0123456789abcdef0123456789abcdef"],
        "plan": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff" })),
    responses(
        (status = 202, description = "Queued.", body = Queued),
        (status = 200, description = "Submitted before under this idempotency key.", body = Queued),
        (status = 400, description = "`invalid-json`, `idempotency-key-missing` (two such headers), `invalid-idempotency-key`"),
        (status = 409, description = "`idempotency-key-reused` for another submission"),
        (status = 422, description = "`unknown-plan`, `outdated-plan`, `unknown-envelope`, `wrong-inputs`, `invalid-value`, `wrong-parameters`, `wrong-key`, `missing-key`, `noise`, `no-special-prime`, `job-too-large` (more than `largest_job` bytes at once), `transparent`, `invalid-plan`, `invalid-constant`, `invalid-step`, `invalid-output`, `unknown-parameters`"),
        (status = 503, description = "`queue-full`"),
        (status = 507, description = "`storage-full`")
))]
pub(super) async fn post(
    State(cloud): State<Arc<Cloud>>,
    request: Request,
) -> Result<(StatusCode, Json<Queued>), Problem> {
    let named = request.headers().contains_key(upload::IDEMPOTENCY_KEY);
    let key = named.then(|| upload::idempotency_key(request.headers()));
    let submission: Submission = body::json(request, cloud.config.body_time).await?;
    let key = key.transpose()?;
    let submitted = cloud.computing(move |cloud| submit(cloud, &submission, key.as_deref())).await?;
    let (status, job) = match submitted {
        Submitted::New(job) => (StatusCode::ACCEPTED, job),
        Submitted::Before(job) => (StatusCode::OK, job),
    };
    Ok((status, Json(Queued { job: job.to_string() })))
}

/// Lists jobs, the newest first.
///
/// A page of them: see *Pages*.
#[utoipa::path(get, path = "/v1/jobs", params(JobQuery), responses(
    (status = 200, description = "A page of jobs.", body = [ListedJob],
     headers(("Link" = Option<String>, description = "The next page; absent on the last one.")))
))]
pub(super) async fn list(
    State(cloud): State<Arc<Cloud>>,
    Query(query): Query<JobQuery>,
) -> Result<Response, Problem> {
    cloud.blocking(move |cloud| Ok(pages::answer(&cloud.store.jobs(&query)?, query.limit, &[]))).await
}

fn unknown_job() -> Problem {
    Problem::not_found("unknown-job", "there is no job of this name")
}

/// Returns the state of a job.
///
/// A job goes from `queued` to `running`, then to `done` or `failed`. Ask again until it has ended.
#[utoipa::path(get, path = "/v1/jobs/{id}", params(("id" = String, Path, description = "The job's id: 32 lower-case hexadecimal digits.", example = "0123456789abcdef0123456789abcdef")), responses(
    (status = 200, description = "The job.", body = JobState),
    (status = 404, description = "`unknown-job`")
))]
pub(super) async fn state(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
) -> Result<Json<JobState>, Problem> {
    let id = Id::parse(&name).ok_or_else(unknown_job)?;
    cloud.blocking(move |cloud| cloud.store.job_state(id)?.map(Json).ok_or_else(unknown_job)).await
}

/// Returns an output of a job that is done.
#[utoipa::path(get, path = "/v1/jobs/{id}/outputs/{index}",
    params(("id" = String, Path, description = "The job's id: 32 lower-case hexadecimal digits.", example = "0123456789abcdef0123456789abcdef"),
        ("index" = u32, Path, description = "Index of the output, from 0.", example = 0)),
    responses(
    (status = 200, description = "A frame of kind 2 (ciphertext) or 27 (reduced ciphertext).",
     body = Frame, content_type = "application/octet-stream"),
    (status = 404, description = "`unknown-job`, `unknown-output`")
))]
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
