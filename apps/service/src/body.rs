//! Bodies of requests, never longer than they may be.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;
use sotto_wire::WireError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::problem::Problem;

/// Most bytes of a JSON body.
const LARGEST_JSON: u64 = 256 << 10;
/// What is read of a refused body, so that whoever sends it gets to read the refusal.
const LINGER_BYTES: usize = 16 << 20;
const LINGER_TIME: Duration = Duration::from_secs(2);

/// Most time without a byte of a body.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Memory for uploads is counted in pieces of so many bytes.
pub const PIECE: u64 = 4 << 10;

/// How many pieces hold so many bytes.
pub fn pieces(bytes: u64) -> usize {
    bytes.div_ceil(PIECE) as usize
}

/// What holds a body's memory until it is dropped.
pub type Held = Option<OwnedSemaphorePermit>;

/// The whole body. What it announces is held against the limit first, what comes while it comes.
pub async fn read(request: Request, limit: u64, longest: Duration) -> Result<Vec<u8>, Problem> {
    read_within(request, limit, longest, None).await.map(|(bytes, _)| bytes)
}

/// The same, out of memory that all such bodies share: one that is small, or comes slowly, takes little of it.
pub async fn read_within(
    request: Request,
    limit: u64,
    longest: Duration,
    memory: Option<&Arc<Semaphore>>,
) -> Result<(Vec<u8>, Held), Problem> {
    let announced = request.headers().get(header::CONTENT_LENGTH);
    let announced: Option<u64> = announced.and_then(|value| value.to_str().ok()?.parse().ok());
    let mut body = request.into_body();
    let read = match announced {
        Some(found) if found > limit => Err(WireError::TooLarge { limit, found }.into()),
        _ => timeout(longest, collect(&mut body, limit, memory)).await.unwrap_or_else(|_| {
            Err(too_slow(format!("the body did not come within {} s", longest.as_secs())))
        }),
    };
    let unread = [StatusCode::PAYLOAD_TOO_LARGE, StatusCode::SERVICE_UNAVAILABLE];
    if read.as_ref().is_err_and(|problem| unread.contains(&problem.status)) {
        discard(body).await;
    }
    read
}

fn too_slow(detail: String) -> Problem {
    Problem::new(StatusCode::REQUEST_TIMEOUT, "too-slow", detail)
}

async fn collect(
    body: &mut Body,
    limit: u64,
    memory: Option<&Arc<Semaphore>>,
) -> Result<(Vec<u8>, Held), Problem> {
    let (mut bytes, mut held) = (Vec::new(), None);
    let paused = |_| too_slow(format!("nothing of the body came for {} s", LONGEST_PAUSE.as_secs()));
    while let Some(data) = timeout(LONGEST_PAUSE, next(body)).await.map_err(paused)?? {
        let found = bytes.len() as u64 + data.len() as u64;
        if found > limit {
            return Err(WireError::TooLarge { limit, found }.into());
        }
        if found > bytes.capacity() as u64 {
            let capacity = found.max(2 * bytes.capacity() as u64).max(PIECE).min(limit);
            take(memory, &mut held, pieces(capacity))?;
            bytes.reserve_exact(capacity as usize - bytes.len());
        }
        bytes.extend_from_slice(&data);
    }
    Ok((bytes, held))
}

/// Takes memory until this many pieces are held.
fn take(memory: Option<&Arc<Semaphore>>, held: &mut Held, pieces: usize) -> Result<(), Problem> {
    let Some(memory) = memory else { return Ok(()) };
    let more = pieces.saturating_sub(held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits));
    let full = |_| Problem::busy("too-many-uploads", "too many uploads at the same time: send it again soon");
    let permit = Arc::clone(memory).try_acquire_many_owned(more as u32).map_err(full)?;
    match held {
        Some(held) => held.merge(permit),
        None => *held = Some(permit),
    }
    Ok(())
}

async fn next(body: &mut Body) -> Result<Option<Bytes>, Problem> {
    let Some(frame) = body.frame().await else { return Ok(None) };
    let ended = |_| Problem::bad_request("truncated", "the connection ended before the body did");
    Ok(Some(frame.map_err(ended)?.into_data().unwrap_or_default()))
}

/// Reads on for a while without keeping anything: a connection that is closed while bytes are still coming is reset, and
/// the answer is lost with it.
pub async fn discard(mut body: Body) {
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
pub async fn json<T: DeserializeOwned>(request: Request, longest: Duration) -> Result<T, Problem> {
    let bytes = read(request, LARGEST_JSON, longest).await?;
    serde_json::from_slice(&bytes).map_err(|error| Problem::bad_request("invalid-json", error.to_string()))
}
