//! Reads bodies of requests within limits on length, time and memory.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use http_body_util::BodyExt as _;
use serde::de::DeserializeOwned;
use sotto_api::reason;
use sotto_wire::WireError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::buffer::Buffer;
use crate::problem::Problem;

/// Maximum bytes of a JSON body.
const LARGEST_JSON: u64 = 256 << 10;
/// Maximum bytes read of a refused body, so that its sender can read the refusal.
const LINGER_BYTES: usize = 16 << 20;
const LINGER_TIME: Duration = Duration::from_secs(2);

/// Maximum time between two parts of a body.
const LONGEST_PAUSE: Duration = Duration::from_secs(10);
/// Bytes in one piece, the unit in which memory for uploads is counted.
pub const PIECE: u64 = 4 << 10;

/// Returns the number of pieces for `bytes` bytes, rounded up.
pub fn pieces(bytes: u64) -> usize {
    bytes.div_ceil(PIECE) as usize
}

/// A body's share of the memory, given back when dropped.
pub type Held = Option<OwnedSemaphorePermit>;

/// Reads a whole body. Checks Content-Length first, then counts bytes as they arrive.
///
/// # Errors
/// A [`Problem`] if the body exceeds `limit` bytes, takes longer than `longest`, pauses for 10 s, or ends early.
pub async fn read(request: Request, limit: u64, longest: Duration) -> Result<Buffer, Problem> {
    read_within(request, limit, longest, None).await.map(|(bytes, _)| bytes)
}

/// Like [`read`], but takes its memory from a shared pool as bytes arrive, so a small or slow body holds little of it.
///
/// # Errors
/// Those of [`read`], and `too-many-uploads` if the pool is exhausted.
pub async fn read_within(
    request: Request,
    limit: u64,
    longest: Duration,
    memory: Option<&Arc<Semaphore>>,
) -> Result<(Buffer, Held), Problem> {
    let announced = request.headers().get(header::CONTENT_LENGTH);
    let announced: Option<u64> = announced.and_then(|value| value.to_str().ok()?.parse().ok());
    let mut body = request.into_body();
    let read = match announced {
        Some(found) if found > limit => Err(WireError::TooLarge { limit, found }.into()),
        _ => timeout(longest, collect(&mut body, limit, memory)).await.unwrap_or_else(|_| {
            Err(too_slow(format!("the body did not arrive within {} s", longest.as_secs())))
        }),
    };
    let unread = [StatusCode::PAYLOAD_TOO_LARGE, StatusCode::SERVICE_UNAVAILABLE];
    if read.as_ref().is_err_and(|problem| unread.contains(&problem.status)) {
        discard(body).await;
    }
    read
}

fn too_slow(detail: String) -> Problem {
    Problem::new(StatusCode::REQUEST_TIMEOUT, reason::TOO_SLOW, detail)
}

async fn collect(
    body: &mut Body,
    limit: u64,
    memory: Option<&Arc<Semaphore>>,
) -> Result<(Buffer, Held), Problem> {
    let (mut bytes, mut held) = (Buffer::new(), None);
    let paused = |_| too_slow(format!("no byte of the body arrived for {} s", LONGEST_PAUSE.as_secs()));
    while let Some(data) = timeout(LONGEST_PAUSE, next(body)).await.map_err(paused)?? {
        let found = bytes.len() as u64 + data.len() as u64;
        if found > limit {
            return Err(WireError::TooLarge { limit, found }.into());
        }
        if found > bytes.capacity() as u64 {
            let capacity = found.max(2 * bytes.capacity() as u64).max(PIECE).min(limit);
            take(memory, &mut held, pieces(capacity))?;
            bytes.grow(capacity as usize);
        }
        bytes.extend(&data);
    }
    Ok((bytes, held))
}

/// Takes memory from the pool until `pieces` pieces are held.
fn take(memory: Option<&Arc<Semaphore>>, held: &mut Held, pieces: usize) -> Result<(), Problem> {
    let Some(memory) = memory else { return Ok(()) };
    let more = pieces.saturating_sub(held.as_ref().map_or(0, OwnedSemaphorePermit::num_permits));
    let full =
        |_| Problem::busy(reason::TOO_MANY_UPLOADS, "too many uploads at the same time: send it again soon");
    let permit = Arc::clone(memory).try_acquire_many_owned(more as u32).map_err(full)?;
    match held {
        Some(held) => held.merge(permit),
        None => *held = Some(permit),
    }
    Ok(())
}

async fn next(body: &mut Body) -> Result<Option<Bytes>, Problem> {
    let Some(frame) = body.frame().await else { return Ok(None) };
    let ended = |_| Problem::bad_request(reason::TRUNCATED, "the connection ended before the body did");
    Ok(Some(frame.map_err(ended)?.into_data().unwrap_or_default()))
}

/// Reads and discards the rest of a body, up to 16 MiB and 2 s. If a connection is closed while bytes still arrive, it
/// is reset and the answer is lost.
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
    // A timeout does not matter here.
    let _ = timeout(LINGER_TIME, lingering).await;
}

/// Reads a JSON body of at most 256 KiB.
///
/// # Errors
/// Those of [`read`], and `invalid-json`.
pub async fn json<T: DeserializeOwned>(request: Request, longest: Duration) -> Result<T, Problem> {
    let bytes = read(request, LARGEST_JSON, longest).await?;
    serde_json::from_slice(&bytes)
        .map_err(|error| Problem::bad_request(reason::INVALID_JSON, error.to_string()))
}
