//! Logs of streams, for the owner.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sotto_wire::{SignedHeader, StreamHead};

use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::store::{Logged, StoreError, limit, milliseconds};

/// Maximum bytes of messages read for a page.
const MOST_READ: u64 = 64 << 20;

/// Selects a part of a log.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LogQuery {
    device: String,
    stream: String,
    /// The first position.
    #[serde(default)]
    from: u64,
    limit: Option<u32>,
}

/// Part of a log.
#[derive(Debug, Serialize)]
pub(super) struct Page {
    /// The frame of the log's head.
    head: String,
    /// Windows, from the requested position on.
    windows: Vec<Window>,
}

/// A window of a log.
#[derive(Debug, Serialize)]
struct Window {
    sequence: i64,
    leaf: String,
    /// The envelope's id; absent once the owner has deleted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The frame of the window's signed header; absent if the window was deleted or cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    signed: Option<String>,
    /// Bytes of the window's upload.
    bytes: i64,
}

/// `GET /v1/log?device=…&stream=…&from=…`: the head of a log, and its windows from a position on.
///
/// A page has fewer windows than requested if the log ends, or if their messages exceed 64 MiB; it has at least one
/// window if any is left.
pub(super) async fn get(
    State(cloud): State<Arc<Cloud>>,
    Query(query): Query<LogQuery>,
) -> Result<Json<Page>, Problem> {
    cloud.computing(move |cloud| page(cloud, &query).map(Json)).await
}

fn page(cloud: &Cloud, query: &LogQuery) -> Result<Page, Problem> {
    let LogQuery { device, stream, from, .. } = query;
    if !sotto_program::is_name(device) || !sotto_program::is_name(stream) {
        return Err(Problem::unprocessable("invalid-name", "a name has 1 to 64 of A-Z a-z 0-9 _ . -"));
    }
    let page = cloud.store.log((device, stream), *from, limit(query.limit))?;
    let now = milliseconds(std::time::SystemTime::now());
    let head = StreamHead::sign(
        (device, stream),
        (page.size, page.root),
        now,
        cloud.identity.verifying_key(),
        |message| cloud.identity.sign(message),
    )?;
    let (mut windows, mut read) = (Vec::with_capacity(page.windows.len()), 0);
    for logged in &page.windows {
        let window = window(cloud, logged)?;
        read += window.bytes.unsigned_abs();
        windows.push(window);
        if read > MOST_READ {
            break;
        }
    }
    Ok(Page { head: hex::encode(head.write()?), windows })
}

fn window(cloud: &Cloud, logged: &Logged) -> Result<Window, Problem> {
    let Logged { sequence, leaf, envelope, bytes } = *logged;
    let leaf = hex::encode(leaf);
    let Some(id) = envelope else { return Ok(Window { sequence, leaf, id: None, signed: None, bytes }) };
    let signed = match cloud.store.stored(id) {
        Ok(envelope) => Some(hex::encode(SignedHeader::of(&envelope).and_then(|signed| signed.write())?)),
        // Damaged, or deleted meanwhile. Other errors may be temporary: then the page is refused.
        Err(error @ StoreError::Damaged(_)) => {
            tracing::error!(%id, %error, "a window of a log cannot be read");
            None
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Window { sequence, leaf, id: Some(id.to_string()), signed, bytes })
}

/// `GET /v1/identity`: the public key with which the cloud's signatures are verified.
pub(super) async fn identity(State(cloud): State<Arc<Cloud>>) -> Json<Value> {
    Json(json!({ "verifying_key": hex::encode(cloud.identity.verifying_key()) }))
}
