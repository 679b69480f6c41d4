//! The position of a device's stream, and the heads of its windows, for a device that has lost its spool.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, Request, State};
use axum::http::header;
use axum::response::IntoResponse;
use sotto_api::position::{AskHeads, AskPosition, Position, PositionQuery};
use sotto_api::{FRAME, reason};
use sotto_service::body;
use sotto_wire::{
    Heads, HeadsRequest, LARGEST_HEADS_REQUEST, LARGEST_POSITION_REQUEST, MOST_HEADS, PositionRequest,
    SignedHeader, WireError,
};

use super::routes::Routes;
use crate::cloud::Cloud;
use crate::ingest;
use crate::problem::Problem;
use crate::store::{LastWindows, StoreError, milliseconds};

/// Maximum difference between the clocks of device and cloud: a day, in milliseconds.
const MOST_APART: i64 = 86_400_000;
/// Bytes of heads after which a page ends. The largest head, with the largest header of a stream, still fits its frame.
const MOST_BYTES: usize = 512 << 10;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(AskPosition, post).serve(AskHeads, post_heads)
}

async fn post(
    State(cloud): State<Arc<Cloud>>,
    Query(query): Query<PositionQuery>,
    request: Request,
) -> Result<Json<Position>, Problem> {
    let frame = body::read(request, LARGEST_POSITION_REQUEST, cloud.config.body_time()).await?;
    cloud.computing(move |cloud| position(cloud, &PositionRequest::read(&frame)?, query).map(Json)).await
}

async fn post_heads(State(cloud): State<Arc<Cloud>>, request: Request) -> Result<impl IntoResponse, Problem> {
    let frame = body::read(request, LARGEST_HEADS_REQUEST, cloud.config.body_time()).await?;
    let frame = cloud.computing(move |cloud| heads(cloud, &HeadsRequest::read(&frame)?)).await?;
    Ok(([(header::CONTENT_TYPE, FRAME)], frame))
}

/// A device's signed question.
struct Question<'q> {
    device: &'q str,
    asked_at: i64,
    /// The rest of what is signed, for people.
    about: String,
}

/// Checks the signature and the time of a device's question, and refuses one that was answered before: whoever copied it
/// on its way learns no more from it. A device signs a question anew for every attempt.
fn check(
    cloud: &Cloud,
    Question { device, asked_at, about }: &Question<'_>,
    verify: impl Fn(&[u8; 32]) -> Result<(), WireError>,
) -> Result<(), Problem> {
    ingest::known(cloud, device, verify, |_| Ok(()))?;
    let now = milliseconds(std::time::SystemTime::now());
    if now.abs_diff(*asked_at) > MOST_APART.unsigned_abs() {
        let detail = "the clocks of the device and of the cloud are more than a day apart: set them right";
        return Err(Problem::forbidden(reason::CLOCK_APART, detail).of_known());
    }
    if !cloud.store.note_question(device, *asked_at, about, now.saturating_sub(MOST_APART))? {
        let detail = "this question was answered before: the device has to sign a new one";
        return Err(Problem::conflict(reason::ASKED_BEFORE, detail).of_known());
    }
    Ok(())
}

fn position(
    cloud: &Cloud,
    asked: &PositionRequest,
    PositionQuery { order }: PositionQuery,
) -> Result<Position, Problem> {
    let PositionRequest { device, stream, asked_at, .. } = asked;
    let question = Question { device, asked_at: *asked_at, about: format!("position {stream}") };
    check(cloud, &question, |key| asked.verify(key))?;
    let LastWindows { sequence, last, latest } =
        cloud.with_windows(|cloud| Ok(cloud.store.last_windows(device, stream)?))?;
    let forgotten = cloud.store.forgotten(device, stream)?;
    if !order && (sequence.is_some() || forgotten.is_some()) {
        tracing::warn!(device, stream, "the device has lost its spool, and asks where it stood");
        cloud.store.note_recovery(device, stream, *asked_at)?;
    }
    let after = |sequence: u64| sequence.saturating_add(1);
    let last_sequence = sequence.map_or(0, after);
    let forgotten_sequence = forgotten.map_or(0, |forgotten| after(forgotten.sequence.unsigned_abs()));
    let [signed_header, latest_header] =
        [last, latest].map(|header| header.map(|header| hex::encode(header.write())));
    let order = cloud.store.order_to_forget(device, stream)?;
    let accepted = cloud.store.order_to_accept(device, stream)?;
    Ok(Position {
        order: order.map(hex::encode),
        next: last_sequence.max(forgotten_sequence),
        signed_header,
        latest_header,
        forgotten_until: forgotten.map(|forgotten| forgotten.until),
        accepted: accepted.map(hex::encode),
    })
}

/// Returns the frame of some heads of a stream.
fn heads(cloud: &Cloud, asked: &HeadsRequest) -> Result<Vec<u8>, Problem> {
    let HeadsRequest { device, stream, from, asked_at, .. } = asked;
    let question = Question { device, asked_at: *asked_at, about: format!("heads {stream} {from}") };
    check(cloud, &question, |key| asked.verify(key))?;
    let (mut heads, mut from) = (Vec::<SignedHeader>::new(), *from);
    loop {
        let stored =
            cloud.with_windows(|cloud| Ok(cloud.store.windows_from(device, stream, from, MOST_HEADS)?))?;
        let (mut bytes, mut read) = (0, 0);
        for (sequence, row) in &stored {
            (read, from) = (read + 1, sequence.saturating_add(1));
            let Some(row) = row else { continue };
            match cloud.store.signed_of(row) {
                Ok(head) => {
                    bytes += Heads::bytes_of(&head, heads.last());
                    heads.push(head);
                }
                // Damaged, or deleted meanwhile.
                Err(error @ StoreError::Damaged(_)) => {
                    tracing::error!(id = %row.id, %error, "the head of a window cannot be read");
                }
                Err(error) => return Err(error.into()),
            }
            if bytes > MOST_BYTES {
                break;
            }
        }
        let more = read < stored.len() || stored.len() == MOST_HEADS;
        // A device asks again from the last head on, so a page has one.
        if !more || !heads.is_empty() {
            return Ok(Heads { heads, more }.write());
        }
    }
}
