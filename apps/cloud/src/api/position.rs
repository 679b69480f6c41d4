//! The position of a device's stream, for a device that has lost its spool.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use serde::Serialize;
use sotto_service::body;
use sotto_wire::{LARGEST_POSITION_REQUEST, PositionRequest};
use utoipa::ToSchema;

use super::document::Frame;
use crate::cloud::Cloud;
use crate::ingest;
use crate::problem::Problem;
use crate::store::milliseconds;

/// Maximum difference between the clocks of device and cloud: a day, in milliseconds.
const MOST_APART: i64 = 86_400_000;

/// The last window of a stream, and the time up to which the owner has deleted windows.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Position {
    /// The sequence number that the next window may have.
    next: u64,
    /// The last window's signed header: a frame of kind 18 or 22 in hexadecimal; absent before the first window.
    #[serde(skip_serializing_if = "Option::is_none")]
    signed_header: Option<String>,
    /// The owner has deleted the windows that ended before this time (ms since 1970); they are refused if sent again.
    #[serde(skip_serializing_if = "Option::is_none")]
    forgotten_until: Option<i64>,
}

/// The end of a stream's newest window.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct Newest {
    /// Milliseconds since 1970; absent before the first window.
    #[serde(skip_serializing_if = "Option::is_none")]
    newest_end: Option<i64>,
}

/// Returns the time of a stream's newest window under a fleet's mask, to the device that signs the question.
///
/// A device whose windows share the masks of a fleet asks this at each start. It has lost nothing, so no recovery is
/// recorded. Changes nothing.
#[utoipa::path(post, path = "/v1/newest",
    request_body(content = Frame, content_type = "application/octet-stream", description = "A frame of kind 17 (question for a position), at most 1024 bytes, signed by the device at most 24 h from the cloud's clock."),
    responses(
        (status = 200, description = "The time.", body = Newest),
        (status = 400, description = "`not-a-frame`, `unknown-version`, `wrong-kind`, `digest-mismatch`, `trailing-bytes`"),
        (status = 403, description = "`not-admitted` (unknown device, or another signature), `device-revoked`, `clock-apart`"),
        (status = 422, description = "`invalid-value`, `wrong-length`")
))]
pub(super) async fn newest(
    State(cloud): State<Arc<Cloud>>,
    request: Request,
) -> Result<Json<Newest>, Problem> {
    let frame = body::read(request, LARGEST_POSITION_REQUEST, cloud.config.body_time).await?;
    cloud
        .computing(move |cloud| {
            let asked = PositionRequest::read(&frame)?;
            check(cloud, &asked)?;
            Ok(Json(Newest { newest_end: cloud.store.newest_end(&asked.device, &asked.stream)? }))
        })
        .await
}

/// Returns the position of a stream, to the device that signs the question.
///
/// For a device that has lost its spool. The answer has the device's own signature of its last window, so that the
/// cloud cannot invent one. The cloud counts such questions for the owner.
#[utoipa::path(post, path = "/v1/position",
    request_body(content = Frame, content_type = "application/octet-stream", description = "A frame of kind 17 (question for a position), at most 1024 bytes, signed by the device at most 24 h from the cloud's clock."),
    responses(
        (status = 200, description = "The position.", body = Position),
        (status = 400, description = "`not-a-frame`, `unknown-version`, `wrong-kind`, `digest-mismatch`, `trailing-bytes`"),
        (status = 403, description = "`not-admitted` (unknown device, or another signature), `device-revoked`, `clock-apart`"),
        (status = 422, description = "`invalid-value`, `wrong-length`"),
        (status = 507, description = "`storage-full`")
))]
pub(super) async fn post(
    State(cloud): State<Arc<Cloud>>,
    request: Request,
) -> Result<Json<Position>, Problem> {
    let frame = body::read(request, LARGEST_POSITION_REQUEST, cloud.config.body_time).await?;
    cloud.computing(move |cloud| position(cloud, &PositionRequest::read(&frame)?).map(Json)).await
}

/// Checks the signature and the time of a question.
fn check(cloud: &Cloud, asked: &PositionRequest) -> Result<(), Problem> {
    ingest::known(cloud, &asked.device, |key| asked.verify(key), |_| Ok(()))?;
    let now = milliseconds(std::time::SystemTime::now());
    if now.abs_diff(asked.asked_at) > MOST_APART.unsigned_abs() {
        let detail = "the clocks of the device and of the cloud are more than a day apart: set them right";
        return Err(Problem::forbidden("clock-apart", detail));
    }
    Ok(())
}

fn position(cloud: &Cloud, asked: &PositionRequest) -> Result<Position, Problem> {
    let PositionRequest { device, stream, asked_at, .. } = asked;
    check(cloud, asked)?;
    let (last, forgotten) =
        (cloud.store.last_header(device, stream)?, cloud.store.forgotten(device, stream)?);
    if last.is_some() || forgotten.is_some() {
        tracing::warn!(device, stream, "the device has lost its spool, and asks where it stood");
        cloud.store.note_recovery(device, stream, *asked_at)?;
    }
    let after = |sequence: u64| sequence.saturating_add(1);
    let last_sequence = last.as_ref().map_or(0, |last| after(last.header().sequence));
    let forgotten_sequence = forgotten.map_or(0, |forgotten| after(forgotten.sequence.unsigned_abs()));
    let signed_header = last.map(|last| hex::encode(last.write()));
    Ok(Position {
        next: last_sequence.max(forgotten_sequence),
        signed_header,
        forgotten_until: forgotten.map(|forgotten| forgotten.until),
    })
}
