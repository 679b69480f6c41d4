//! Lists, serves and deletes stored envelopes for the owner.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::document::Frame;
use super::pages;
use crate::cloud::Cloud;
use crate::id::Id;
use crate::problem::Problem;
use crate::store::{EnvelopeQuery, Forgetting, Forgotten, StoredEnvelope};

/// Lists stored envelopes, in order of device, stream and sequence number.
///
/// A page of those that match every given filter: see *Pages*.
#[utoipa::path(get, path = "/v1/envelopes", params(EnvelopeQuery), responses(
    (status = 200, description = "A page of envelopes.", body = [StoredEnvelope],
     headers(("Link" = Option<String>, description = "The next page; absent on the last one.")))
))]
pub(super) async fn list(
    State(cloud): State<Arc<Cloud>>,
    Query(query): Query<EnvelopeQuery>,
) -> Result<Response, Problem> {
    cloud
        .blocking(move |cloud| {
            let page = cloud.store.envelopes(&query)?;
            let filters = [
                ("after_sequence", query.after_sequence.map(|number| number.to_string())),
                ("ended_after", query.ended_after.map(|time| time.to_string())),
                ("started_before", query.started_before.map(|time| time.to_string())),
                ("device", query.device),
                ("stream", query.stream),
            ];
            Ok(pages::answer(&page, query.limit, &filters))
        })
        .await
}

/// Deletes the windows of a device that ended before a time, and the jobs that used them.
///
/// The device cannot upload them again: the cloud refuses windows of the stream that ended before that time
/// (`forgotten`). Copies in backups stay. Idempotent.
#[utoipa::path(delete, path = "/v1/envelopes", params(Forgetting), responses(
    (status = 200, description = "Deleted.", body = Forgotten),
    (status = 507, description = "`storage-full`")
))]
pub(super) async fn delete(
    State(cloud): State<Arc<Cloud>>,
    Query(forgetting): Query<Forgetting>,
) -> Result<Json<Forgotten>, Problem> {
    cloud
        .blocking(move |cloud| {
            let forgotten = cloud.store.forget(&forgetting)?;
            cloud.quotas.forget(&forgetting.device);
            let Forgotten { envelopes, jobs, .. } = forgotten;
            tracing::info!(device = forgetting.device, envelopes, jobs, "forgotten");
            Ok(Json(forgotten))
        })
        .await
}

fn known(cloud: &Cloud, name: &str) -> Result<(Id, StoredEnvelope), Problem> {
    let unknown = || Problem::not_found("unknown-envelope", "there is no envelope of this name");
    let id = Id::parse(name).ok_or_else(unknown)?;
    Ok((id, cloud.store.envelope(id)?.ok_or_else(unknown)?))
}

/// Returns the public part of a stored envelope.
#[utoipa::path(get, path = "/v1/envelopes/{id}", params(("id" = String, Path, description = "The envelope's id: 32 lower-case hexadecimal digits.", example = "0123456789abcdef0123456789abcdef")), responses(
    (status = 200, description = "The envelope.", body = StoredEnvelope),
    (status = 404, description = "`unknown-envelope`")
))]
pub(super) async fn one(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
) -> Result<Json<StoredEnvelope>, Problem> {
    cloud.blocking(move |cloud| Ok(Json(known(cloud, &name)?.1))).await
}

/// Returns the ciphertext of a stored envelope.
#[utoipa::path(get, path = "/v1/envelopes/{id}/body", params(("id" = String, Path, description = "The envelope's id: 32 lower-case hexadecimal digits.", example = "0123456789abcdef0123456789abcdef")), responses(
    (status = 200, description = "A frame of kind 2 (ciphertext), 19 (compact ciphertext), 24 or 25 (compact ciphertext of slots).",
     body = Frame, content_type = "application/octet-stream"),
    (status = 404, description = "`unknown-envelope`")
))]
pub(super) async fn body(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    cloud
        .blocking(move |cloud| {
            let frame = cloud.store.stored(known(cloud, &name)?.0)?.into_body().into_frame();
            Ok(([(header::CONTENT_TYPE, "application/octet-stream")], frame))
        })
        .await
}

/// Returns everything that the device signed.
#[utoipa::path(get, path = "/v1/envelopes/{id}/envelope", params(("id" = String, Path, description = "The envelope's id: 32 lower-case hexadecimal digits.", example = "0123456789abcdef0123456789abcdef")), responses(
    (status = 200, description = "A frame of kind 6 (envelope) or 23 (window, alone or of a group, with its stream's header).",
     body = Frame, content_type = "application/octet-stream"),
    (status = 404, description = "`unknown-envelope`")
))]
pub(super) async fn message(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    cloud
        .blocking(move |cloud| {
            let frame = cloud.store.stored(known(cloud, &name)?.0)?.write_kept();
            Ok(([(header::CONTENT_TYPE, "application/octet-stream")], frame))
        })
        .await
}
