//! Registers and revokes devices for the owner.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;
use sotto_api::devices::{
    DeviceQuery, FetchRecord, ListDevices, PutDevice, Registered, Registration, RevokeDevice, Revoked,
    SealedRecord,
};
use sotto_api::{Condition, IF_MATCH, IF_NONE_MATCH, reason};
use sotto_service::body;
use sotto_service::connections::Peer;

use super::pages;
use super::routes::Routes;
use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::register;
use crate::store::{Record, Registering, Revoking, Source, Write};

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
    let (condition, from) = (condition(request.headers()), peer(&request));
    let registration: Registration = body::json(request, cloud.config.body_time()).await?;
    let condition = condition?;
    cloud
        .computing(move |cloud| {
            let source = Source::Request { condition, from: &from };
            match register::device(cloud, &name, &registration, source)? {
                Registering::Done(generation) => {
                    tracing::info!(device = name, keys = registration.keys.len(), generation, "registered");
                    Ok(Json(Registered { device: name, keys: registration.keys.len(), generation }))
                }
                Registering::Refused(last) => Err(written_since(last)),
                // Outcomes of files.
                Registering::Unchanged | Registering::Revoked | Registering::Superseded => {
                    Err(Problem::internal())
                }
            }
        })
        .await
}

/// Reads the one condition of a write.
fn condition(headers: &HeaderMap) -> Result<Condition, Problem> {
    let mut conditions = [IF_MATCH, IF_NONE_MATCH].into_iter().flat_map(|name| {
        headers.get_all(name).iter().map(move |value| Condition::read(name, value.as_bytes()))
    });
    match (conditions.next(), conditions.next()) {
        (None, _) => {
            let detail = "the write names the registration that it replaces: `If-Match: \"GENERATION\"`, or `If-None-Match: *` for a new device";
            Err(Problem::new(StatusCode::PRECONDITION_REQUIRED, reason::CONDITION_MISSING, detail))
        }
        (Some(Some(condition)), None) => Ok(condition),
        _ => {
            let detail =
                "a write has one condition: `If-Match: \"GENERATION\"`, `If-Match: *` or `If-None-Match: *`";
            Err(Problem::bad_request(reason::BAD_REQUEST, detail))
        }
    }
}

/// Returns the address that a request comes from.
fn peer(request: &Request) -> String {
    let peer = request.extensions().get::<Peer>();
    peer.map_or_else(|| "an unknown address".to_owned(), |Peer(address)| address.to_string())
}

fn written_since(last: Option<Write>) -> Problem {
    let detail = match last {
        Some(Write { generation, at, from }) => {
            format!("it was written at {at} from {from} (generation {generation})")
        }
        None => "the device is not registered here".to_owned(),
    };
    Problem::new(StatusCode::PRECONDITION_FAILED, reason::WRITTEN_SINCE, detail)
}

async fn record(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
) -> Result<Json<SealedRecord>, Problem> {
    cloud
        .blocking(move |cloud| match cloud.store.record(&name)? {
            Some(record) => {
                let Record { sealed, stored_at, generation, revoked } = record;
                Ok(Json(SealedRecord { record: hex::encode(sealed), stored_at, generation, revoked }))
            }
            None if cloud.store.device(&name)?.is_none() => Err(unknown_device()),
            None => Err(Problem::not_found(reason::NO_RECORD, "no registration of the device had a record")),
        })
        .await
}

fn unknown_device() -> Problem {
    Problem::not_found(reason::UNKNOWN_DEVICE, "no device of this name is registered here")
}

async fn revoke(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Json<Revoked>, Problem> {
    let (condition, from) = (condition(request.headers())?, peer(&request));
    cloud
        .blocking(move |cloud| match cloud.store.revoke_device(&name, condition, &from)? {
            Revoking::Done(generation) => {
                tracing::info!(device = name, generation, "revoked");
                Ok(Json(Revoked { generation }))
            }
            Revoking::Refused(last) => Err(written_since(Some(last))),
            Revoking::Unknown => Err(unknown_device()),
        })
        .await
}
