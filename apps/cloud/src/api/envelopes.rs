//! Lists, serves and deletes stored envelopes for the owner.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::pages;
use crate::cloud::Cloud;
use crate::id::Id;
use crate::problem::Problem;
use crate::store::{EnvelopeQuery, Forgetting, Forgotten, StoredEnvelope};

/// `GET /v1/envelopes`: a page of the envelopes that match, in order of device, stream and sequence number.
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

/// `DELETE /v1/envelopes?device=…&before=…`: deletes the windows of a device that ended before a time, and the jobs
/// that used them. The device cannot upload them again.
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

/// `GET /v1/envelopes/{id}`
pub(super) async fn one(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
) -> Result<Json<StoredEnvelope>, Problem> {
    cloud.blocking(move |cloud| Ok(Json(known(cloud, &name)?.1))).await
}

/// `GET /v1/envelopes/{id}/body`: the ciphertext's frame.
pub(super) async fn body(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    cloud
        .blocking(move |cloud| {
            let frame = cloud.store.ciphertext(known(cloud, &name)?.0)?;
            Ok(([(header::CONTENT_TYPE, "application/octet-stream")], frame))
        })
        .await
}

/// `GET /v1/envelopes/{id}/envelope`: everything that the device signed, as a frame: an envelope of version 1, or a
/// window with its stream's header.
pub(super) async fn message(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    cloud
        .blocking(move |cloud| {
            let frame = cloud.store.stored(known(cloud, &name)?.0)?.write_kept()?;
            Ok(([(header::CONTENT_TYPE, "application/octet-stream")], frame))
        })
        .await
}
