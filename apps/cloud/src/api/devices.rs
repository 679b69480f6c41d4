//! Registers and revokes devices for the owner.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Path, Query, Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;
use sotto_service::body;
use utoipa::ToSchema;

use super::pages;
use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::register::{self, Registration};
use crate::store::{DeviceQuery, ListedDevice};

/// Lists all devices ever registered, in order of their names.
///
/// A page of them: see *Pages*.
#[utoipa::path(get, path = "/v1/devices", params(DeviceQuery), responses(
    (status = 200, description = "A page of devices.", body = [ListedDevice],
     headers(("Link" = Option<String>, description = "The next page; absent on the last one.")))
))]
pub(super) async fn list(
    State(cloud): State<Arc<Cloud>>,
    Query(query): Query<DeviceQuery>,
) -> Result<Response, Problem> {
    cloud.blocking(move |cloud| Ok(pages::answer(&cloud.store.devices(&query)?, query.limit, &[]))).await
}

/// A registration that was stored.
#[derive(Serialize, ToSchema)]
pub(super) struct Registered {
    /// The device's name.
    device: String,
    /// Number of pairs of parameters and key.
    keys: usize,
}

/// Registers a device, or replaces its registration.
///
/// Afterwards the cloud accepts only envelopes with this signature and these keys from the device. A revoked device is
/// admitted again. Idempotent.
#[utoipa::path(put, path = "/v1/devices/{name}",
    params(("name" = String, Path, description = "The device's name: 1 to 64 of `A-Z a-z 0-9 _ . -`.", example = "boiler")),
    request_body(content = Registration, description = "At most 256 KiB.", example = json!({
        "keys": [{ "key_id": "00112233445566778899aabbccddeeff",
                   "parameter_id": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff" }],
        "streams": [],
        "verifying_key": "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff" })),
    responses(
        (status = 200, description = "Registered.", body = Registered),
        (status = 400, description = "`invalid-json`; of a stream's header: `not-a-frame`, `digest-mismatch` and the other reasons of a frame that is no frame"),
        (status = 422, description = "`invalid-name`, `invalid-value`, `too-many-keys` (more than 256), `too-many-streams` (more than 4096), `too-large` (a stream's header), `unknown-parameters`, `wrong-stream` (a header names another device or a key that is not registered), `wrong-fleet`"),
        (status = 507, description = "`storage-full`")
))]
pub(super) async fn put(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Json<Registered>, Problem> {
    let registration: Registration = body::json(request, cloud.config.body_time).await?;
    cloud
        .computing(move |cloud| {
            register::device(cloud, &name, &registration, None)?;
            tracing::info!(device = name, keys = registration.keys.len(), "registered");
            Ok(Json(Registered { device: name, keys: registration.keys.len() }))
        })
        .await
}

/// Revokes a device.
///
/// Later uploads are refused; stored envelopes stay. Idempotent.
#[utoipa::path(delete, path = "/v1/devices/{name}",
    params(("name" = String, Path, description = "The device's name: 1 to 64 of `A-Z a-z 0-9 _ . -`.", example = "boiler")),
    responses(
        (status = 204, description = "Revoked."),
        (status = 404, description = "`unknown-device`"),
        (status = 507, description = "`storage-full`")
))]
pub(super) async fn delete(
    State(cloud): State<Arc<Cloud>>,
    Path(name): Path<String>,
) -> Result<StatusCode, Problem> {
    cloud
        .blocking(move |cloud| {
            if !cloud.store.revoke_device(&name)? {
                return Err(Problem::not_found(
                    "unknown-device",
                    "no device of this name is registered here",
                ));
            }
            tracing::info!(device = name, "revoked");
            Ok(StatusCode::NO_CONTENT)
        })
        .await
}
