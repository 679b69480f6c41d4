//! Lists and serves stored envelopes for the owner.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use sotto_api::envelopes::{
    EnvelopeQuery, FetchBody, FetchEnvelope, FetchMessage, ListEnvelopes, StoredEnvelope,
};
use sotto_api::{FRAME, reason};

use super::pages;
use super::routes::Routes;
use crate::cloud::Cloud;
use crate::id::Id;
use crate::problem::Problem;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .serve(ListEnvelopes, list)
        .serve(FetchEnvelope, one)
        .serve(FetchBody, body)
        .serve(FetchMessage, message)
}

async fn list(
    State(cloud): State<Arc<Cloud>>,
    Query(query): Query<EnvelopeQuery>,
) -> Result<Response, Problem> {
    cloud
        .reading(move |cloud| {
            let query = query.clone();
            let page = cloud.store.envelopes(&query)?;
            Ok(pages::answer(page, query.limit, |after, limit| EnvelopeQuery { after, limit, ..query }))
        })
        .await
}

fn known(cloud: &Cloud, name: &str) -> Result<(Id, StoredEnvelope), Problem> {
    let unknown = || Problem::not_found(reason::UNKNOWN_ENVELOPE, "there is no envelope of this name");
    let id = Id::parse(name).ok_or_else(unknown)?;
    Ok((id, cloud.store.envelope(id)?.ok_or_else(unknown)?))
}

async fn one(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
) -> Result<Json<StoredEnvelope>, Problem> {
    cloud.reading(move |cloud| Ok(Json(known(cloud, &name)?.1))).await
}

async fn body(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    cloud
        .reading(move |cloud| {
            let frame = cloud.store.stored(known(cloud, &name)?.0)?.into_body().into_frame();
            Ok(([(header::CONTENT_TYPE, FRAME)], frame))
        })
        .await
}

async fn message(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
) -> Result<impl IntoResponse, Problem> {
    cloud
        .reading(move |cloud| {
            let frame = cloud.store.stored(known(cloud, &name)?.0)?.write_kept();
            Ok(([(header::CONTENT_TYPE, FRAME)], frame))
        })
        .await
}
