//! Logs of streams, for the owner.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use serde::{Deserialize, Serialize};
use sotto_wire::StreamHead;
use utoipa::{IntoParams, ToSchema};

use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::store::{Logged, StoreError, limit, milliseconds};

/// Maximum bytes of messages read for a page.
const MOST_READ: u64 = 64 << 20;

/// Selects a part of a log.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct LogQuery {
    /// The device's name: 1 to 64 of `A-Z a-z 0-9 _ . -`.
    #[param(example = "boiler")]
    device: String,
    /// The stream's name: 1 to 64 of `A-Z a-z 0-9 _ . -`.
    #[param(example = "temperature")]
    stream: String,
    /// The first position, from 0.
    #[serde(default)]
    from: u64,
    /// Maximum number of windows: 100 by default, 1000 at most.
    limit: Option<u32>,
}

/// Part of a log.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LogPage)]
pub(super) struct Page {
    /// The log's head, signed by the cloud: a frame of kind 28 in hexadecimal.
    head: String,
    /// Windows, from the requested position on.
    windows: Vec<Window>,
}

/// A window of a log.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = LogWindow)]
struct Window {
    /// The window's sequence number, 0 to 2^63 - 1.
    sequence: i64,
    /// The window's leaf in the log's tree: 64 lower-case hexadecimal digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    leaf: String,
    /// The envelope's id; absent once the owner has deleted it.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The window's signed header: a frame of kind 18 or 22 in hexadecimal; absent if the window was deleted or cannot
    /// be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    signed: Option<String>,
    /// Bytes of the window's upload; 0 once it is deleted.
    bytes: i64,
}

/// Returns the signed head of a stream's log, and its windows from a position on.
///
/// A page has fewer windows than requested if the log ends, or if their messages exceed 64 MiB; it has at least one
/// window if any is left. A stream without windows, or one that does not exist, has
/// a log of size 0.
#[utoipa::path(get, path = "/v1/log", params(LogQuery), responses(
    (status = 200, description = "A part of the log.", body = Page),
    (status = 422, description = "`invalid-name`")
))]
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
        Ok(envelope) => Some(hex::encode(envelope.signed_header().write())),
        // Damaged, or deleted meanwhile. Other errors may be temporary: then the page is refused.
        Err(error @ StoreError::Damaged(_)) => {
            tracing::error!(%id, %error, "a window of a log cannot be read");
            None
        }
        Err(error) => return Err(error.into()),
    };
    Ok(Window { sequence, leaf, id: Some(id.to_string()), signed, bytes })
}

/// The cloud's public key.
#[derive(Debug, Serialize, ToSchema)]
pub(super) struct PublicIdentity {
    /// An Ed25519 key: 64 lower-case hexadecimal digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    verifying_key: String,
}

/// Returns the public key that verifies the cloud's signatures.
///
/// The cloud signs receipts, heads of logs and transcripts.
#[utoipa::path(get, path = "/v1/identity", responses((status = 200, description = "The key.", body = PublicIdentity)))]
pub(super) async fn identity(State(cloud): State<Arc<Cloud>>) -> Json<PublicIdentity> {
    Json(PublicIdentity { verifying_key: hex::encode(cloud.identity.verifying_key()) })
}
