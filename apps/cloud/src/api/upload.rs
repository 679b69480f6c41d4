//! Uploads by devices.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, StatusCode};

use sotto_service::body;
use sotto_wire::LONGEST_UPLOAD_KEY;

use super::document::Frame;
use crate::cloud::Cloud;
use crate::ingest::{Receipts, ingest};
use crate::problem::Problem;

/// The header with a request's idempotency key.
pub(super) const IDEMPOTENCY_KEY: &str = "idempotency-key";

/// Stores an envelope, or a group of windows, of a registered device.
///
/// The device's signature in the body admits it; there is no token. The answer has a receipt that the cloud has signed,
/// or the receipts of a group's windows in order. The same bytes again get the same receipts, so a device sends
/// until it has an answer; a group is stored whole or not at all.
#[utoipa::path(post, path = "/v1/envelopes",
    params(("Idempotency-Key" = String, Header, description = "`DEVICE.STREAM.SEQUENCE`, of a group `DEVICE.STREAM.FIRST-LAST`: names and numbers as in the signed header, at most 171 bytes.", example = "boiler.temperature.17")),
    request_body(content = Frame, content_type = "application/octet-stream", description = "A frame of kind 6 (envelope), a window of version 2, or a group of 2 to 64 windows: at most `largest_upload` bytes."),
    responses(
        (status = 201, description = "Stored.", body = Receipts),
        (status = 200, description = "Everything was stored before.", body = Receipts),
        (status = 400, description = "`idempotency-key-missing`, `invalid-idempotency-key`, `not-a-frame`, `unknown-version`, `wrong-kind`, `digest-mismatch`, `trailing-bytes`"),
        (status = 403, description = "`not-admitted` (unknown device, or another signature), `device-revoked`, `unknown-stream`"),
        (status = 409, description = "`idempotency-key-reused`, `sequence-taken`, `mask-repeated`"),
        (status = 410, description = "`forgotten`: the owner deleted the windows of this time"),
        (status = 422, description = "`idempotency-key-mismatch`, `wrong-parameters`, `wrong-key`, `unknown-parameters`, `wrong-length`, `residue-out-of-range`, `padding-not-zero`, `invalid-value`, `parameters-refused`"),
        (status = 429, description = "`device-rate`: more than `device_rate` envelopes a minute"),
        (status = 503, description = "`too-many-uploads` at the same time"),
        (status = 507, description = "`storage-full`, `device-quota`")
))]
pub(super) async fn post(
    State(cloud): State<Arc<Cloud>>,
    request: Request,
) -> Result<(StatusCode, Json<Receipts>), Problem> {
    let idempotency_key = idempotency_key(request.headers());
    let (limit, longest) = (cloud.config.largest_upload, cloud.config.body_time);
    let (bytes, held) = body::read_within(request, limit, longest, Some(&cloud.uploads)).await?;
    let idempotency_key = idempotency_key?;
    let taken_in = cloud.computing(move |cloud| {
        let receipts = ingest(cloud, &idempotency_key, &bytes);
        drop((bytes, held));
        receipts
    });
    let receipts = taken_in.await?;
    Ok((if receipts.duplicate() { StatusCode::OK } else { StatusCode::CREATED }, Json(receipts)))
}

pub(super) fn idempotency_key(headers: &HeaderMap) -> Result<String, Problem> {
    let mut values = headers.get_all(IDEMPOTENCY_KEY).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        let detail = "the request has one Idempotency-Key header, so that it can be sent again safely";
        return Err(Problem::bad_request("idempotency-key-missing", detail));
    };
    let bytes = value.as_bytes();
    if (1..=LONGEST_UPLOAD_KEY).contains(&bytes.len()) && bytes.iter().all(u8::is_ascii_graphic) {
        Ok(String::from_utf8_lossy(bytes).into_owned())
    } else {
        let detail = format!("an idempotency key has 1 to {LONGEST_UPLOAD_KEY} visible ASCII characters");
        Err(Problem::bad_request("invalid-idempotency-key", detail))
    }
}
