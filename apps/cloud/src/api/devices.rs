//! Registers and revokes devices for the owner.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use sotto_api::devices::{
    DeviceQuery, FetchRecord, ListDevices, PutDevice, Registered, Registration, RevokeDevice, SealedRecord,
};
use sotto_api::reason;
use sotto_service::body;

use super::pages;
use super::routes::Routes;
use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::register;

pub(super) fn routes(routes: Routes) -> Routes {
    routes
        .serve(ListDevices, list)
        .serve(PutDevice, put)
        .serve(FetchRecord, record)
        .serve(RevokeDevice, revoke)
}

async fn list(
    State(cloud): State<Arc<Cloud>>,
    Query(query): Query<DeviceQuery>,
) -> Result<Response, Problem> {
    cloud
        .blocking(move |cloud| {
            let page = cloud.store.devices(&query)?;
            Ok(pages::answer(page, query.limit, |after, limit| DeviceQuery { after, limit }))
        })
        .await
}

async fn put(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Json<Registered>, Problem> {
    let registration: Registration = body::json(request, cloud.config.body_time()).await?;
    cloud
        .computing(move |cloud| {
            register::device(cloud, &name, &registration, None)?;
            tracing::info!(device = name, keys = registration.keys.len(), "registered");
            Ok(Json(Registered { device: name, keys: registration.keys.len() }))
        })
        .await
}

async fn record(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
) -> Result<Json<SealedRecord>, Problem> {
    cloud
        .blocking(move |cloud| match cloud.store.record(&name)? {
            Some(record) => {
                Ok(Json(SealedRecord { record: hex::encode(record.sealed), stored_at: record.stored_at }))
            }
            None if cloud.store.device(&name)?.is_none() => Err(unknown_device()),
            None => Err(Problem::not_found(reason::NO_RECORD, "no registration of the device had a record")),
        })
        .await
}

fn unknown_device() -> Problem {
    Problem::not_found(reason::UNKNOWN_DEVICE, "no device of this name is registered here")
}

async fn revoke(State(cloud): State<Arc<Cloud>>, Path(name): Path<String>) -> Result<StatusCode, Problem> {
    cloud
        .blocking(move |cloud| {
            if !cloud.store.revoke_device(&name)? {
                return Err(unknown_device());
            }
            tracing::info!(device = name, "revoked");
            Ok(StatusCode::NO_CONTENT)
        })
        .await
}
