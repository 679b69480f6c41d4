//! Sums of compact ciphertexts.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Request, State};
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::IntoResponse;

use sotto_service::body;

use sotto_wire::Transcript;

use super::document::Frame;
use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::sums;

/// Adds compact ciphertexts.
///
/// The envelopes have one form, and one key or one mask. Needs no evaluation keys and stores nothing.
#[utoipa::path(post, path = "/v1/sums",
    request_body(content = sums::Request, description = "At most 256 KiB.", example = json!({
        "envelopes": ["0123456789abcdef0123456789abcdef"],
        "sums": [{ "envelopes": [0, 1], "places": [0, 60] }] })),
    responses(
    (status = 200, description = "A frame of kind 20 (compact sums), or of kind 26 (sums over a fleet) where the envelopes are under several keys.",
     body = Frame, content_type = "application/octet-stream", headers(
        ("sotto-evaluate-us" = u64, description = "Microseconds of reading and adding."),
        ("sotto-transcript" = String, description = "The transcript, a frame of kind 29 in hexadecimal."))),
    (status = 400, description = "`invalid-json`, `wrong-kind` (an envelope that is not compact)"),
    (status = 422, description = "`unknown-envelope`, `wrong-sum`, `unknown-parameters`, `invalid-value` (under several keys: a key occurs twice)")
))]
pub(super) async fn post(
    State(cloud): State<Arc<Cloud>>,
    request: Request,
) -> Result<impl IntoResponse, Problem> {
    let wanted: sums::Request = body::json(request, cloud.config.body_time).await?;
    let ((frame, transcript), time) = cloud
        .computing(move |cloud| {
            let begin = Instant::now();
            Ok((sums::sums(cloud, &wanted)?, begin.elapsed()))
        })
        .await?;
    timed(frame, &transcript, time)
}

/// Returns an answer with a frame, its transcript, and the time of the computation.
pub(super) fn timed(
    frame: Vec<u8>,
    transcript: &Transcript,
    time: Duration,
) -> Result<impl IntoResponse + use<>, Problem> {
    let transcript = HeaderValue::try_from(hex::encode(transcript.write()?));
    let transcript = transcript.map_err(|_| Problem::internal())?;
    let time = HeaderValue::from(u64::try_from(time.as_micros()).unwrap_or(u64::MAX));
    let kind = HeaderValue::from_static("application/octet-stream");
    let headers = [
        (header::CONTENT_TYPE, kind),
        (HeaderName::from_static("sotto-evaluate-us"), time),
        (HeaderName::from_static("sotto-transcript"), transcript),
    ];
    Ok((headers, frame))
}
