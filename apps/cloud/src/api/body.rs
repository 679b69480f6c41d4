//! Bodies of requests, never longer than they may be.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;
use sotto_wire::WireError;
use tokio::time::timeout;

use crate::problem::Problem;

/// Most bytes of a JSON body.
const LARGEST_JSON: u64 = 256 << 10;
/// What is read of a refused body, so that whoever sends it gets to read the refusal.
const LINGER_BYTES: usize = 16 << 20;
const LINGER_TIME: Duration = Duration::from_secs(2);

/// The whole body. What it announces is held against the limit first, what comes while it comes.
pub(super) async fn read(request: Request, limit: u64, longest: Duration) -> Result<Vec<u8>, Problem> {
    let announced = request.headers().get(header::CONTENT_LENGTH);
    let announced: Option<u64> = announced.and_then(|value| value.to_str().ok()?.parse().ok());
    let mut body = request.into_body();
    let read = match announced {
        Some(found) if found > limit => Err(WireError::TooLarge { limit, found }.into()),
        _ => timeout(longest, collect(&mut body, limit)).await.unwrap_or_else(|_| {
            let detail = format!("the body did not come within {} s", longest.as_secs());
            Err(Problem::new(StatusCode::REQUEST_TIMEOUT, "too-slow", detail))
        }),
    };
    if read.as_ref().is_err_and(|problem| problem.status == StatusCode::PAYLOAD_TOO_LARGE) {
        discard(body).await;
    }
    read
}

async fn collect(body: &mut Body, limit: u64) -> Result<Vec<u8>, Problem> {
    let mut bytes = Vec::new();
    while let Some(data) = next(body).await? {
        let found = bytes.len() as u64 + data.len() as u64;
        if found > limit {
            return Err(WireError::TooLarge { limit, found }.into());
        }
        bytes.extend_from_slice(&data);
    }
    Ok(bytes)
}

async fn next(body: &mut Body) -> Result<Option<Bytes>, Problem> {
    let Some(frame) = body.frame().await else { return Ok(None) };
    let ended = |_| Problem::bad_request("truncated", "the connection ended before the body did");
    Ok(Some(frame.map_err(ended)?.into_data().unwrap_or_default()))
}

/// Reads on for a while without keeping anything: a connection that is closed while bytes are still coming is reset, and
/// the answer is lost with it.
pub(super) async fn discard(mut body: Body) {
    let lingering = async {
        let mut left = LINGER_BYTES;
        while let Ok(Some(data)) = next(&mut body).await {
            left = left.saturating_sub(data.len());
            if left == 0 {
                break;
            }
        }
    };
    // Whether it came to an end does not matter.
    let _ = timeout(LINGER_TIME, lingering).await;
}

/// A JSON body.
pub(super) async fn json<T: DeserializeOwned>(request: Request, longest: Duration) -> Result<T, Problem> {
    let bytes = read(request, LARGEST_JSON, longest).await?;
    serde_json::from_slice(&bytes).map_err(|error| Problem::bad_request("invalid-json", error.to_string()))
}
