//! Jobs: submitted, listed, and their outputs.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use sotto_api::jobs::{
    CancelJob, FetchJob, FetchOutput, JobQuery, JobState, ListJobs, Queued, Submission, SubmitJob,
};
use sotto_api::{FRAME, IDEMPOTENCY_KEY, reason};
use sotto_service::body;

use super::routes::Routes;
use super::{pages, upload};
use crate::cloud::Cloud;
use crate::evaluate::submit;
use crate::id::Id;
use crate::problem::Problem;
use crate::store::Submitted;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .serve(ListJobs, list)
        .serve(SubmitJob, post)
        .serve(FetchJob, state)
        .serve(CancelJob, cancel)
        .serve(FetchOutput, output)
}

async fn post(
    State(cloud): State<Arc<Cloud>>,
    request: Request,
) -> Result<(StatusCode, Json<Queued>), Problem> {
    let named = request.headers().contains_key(IDEMPOTENCY_KEY);
    let key = named.then(|| upload::idempotency_key(request.headers()));
    let submission: Submission = body::json(request, cloud.config.body_time()).await?;
    let key = key.transpose()?;
    let submitted = cloud.computing(move |cloud| submit(cloud, &submission, key.as_deref())).await?;
    let (status, job) = match submitted {
        Submitted::New(job) => (StatusCode::ACCEPTED, job),
        Submitted::Before(job) => (StatusCode::OK, job),
    };
    Ok((status, Json(Queued { job: job.to_string() })))
}

async fn list(State(cloud): State<Arc<Cloud>>, Query(query): Query<JobQuery>) -> Result<Response, Problem> {
    cloud
        .blocking(move |cloud| {
            let page = cloud.store.jobs(&query)?;
            Ok(pages::answer(page, query.limit, |after, limit| JobQuery { after, limit }))
        })
        .await
}

fn unknown_job() -> Problem {
    Problem::not_found(reason::UNKNOWN_JOB, "there is no job of this name")
}

async fn state(State(cloud): State<Arc<Cloud>>, Path(name): Path<String>) -> Result<Json<JobState>, Problem> {
    let id = Id::parse(&name).ok_or_else(unknown_job)?;
    cloud.blocking(move |cloud| cloud.store.job_state(id)?.map(Json).ok_or_else(unknown_job)).await
}

async fn cancel(State(cloud): State<Arc<Cloud>>, Path(name): Path<String>) -> Result<StatusCode, Problem> {
    let id = Id::parse(&name).ok_or_else(unknown_job)?;
    cloud
        .blocking(move |cloud| {
            if cloud.store.cancel_job(id)? {
                cloud.queue.remove(id);
                tracing::info!(job = %id, "cancelled");
            } else if cloud.store.job_state(id)?.is_none() {
                return Err(unknown_job());
            }
            Ok(StatusCode::NO_CONTENT)
        })
        .await
}

async fn output(
    State(cloud): State<Arc<Cloud>>,
    Path((name, index)): Path<(String, u32)>,
) -> Result<impl IntoResponse, Problem> {
    let id = Id::parse(&name).ok_or_else(unknown_job)?;
    let none = || Problem::not_found(reason::UNKNOWN_OUTPUT, "the job has no such output, or is not done");
    cloud
        .blocking(move |cloud| {
            let frame = cloud.store.job_output(id, index)?.ok_or_else(none)?;
            Ok(([(header::CONTENT_TYPE, FRAME)], frame))
        })
        .await
}
