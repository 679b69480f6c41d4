//! Logs of streams, for the owner.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use axum::http::header;
use axum::response::IntoResponse;
use sotto_api::log::{FetchIdentity, FetchLog, LogQuery, PublicIdentity};
use sotto_api::{FRAME, reason};
use sotto_wire::{Heads, LogEntry, LogPage, PageEntry, SignedHeader, StreamHead};

use super::routes::Routes;
use crate::cloud::Cloud;
use crate::id::Id;
use crate::problem::Problem;
use crate::store::{Logged, StoreError, milliseconds};

/// Maximum bytes of messages read for a page.
const MOST_READ: u64 = 64 << 20;
/// Maximum number of windows of a page.
const MOST_WINDOWS: usize = 16_384;
/// Bytes of windows after which a page ends. The largest header, with that of its stream, still fits the frame.
const MOST_BYTES: usize = 4 << 20;
/// Bytes of a window on a page beside its header: marks, an id, bytes on the way.
const BESIDE: usize = 40;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(FetchIdentity, identity).serve(FetchLog, get)
}

async fn get(
    State(cloud): State<Arc<Cloud>>,
    Query(query): Query<LogQuery>,
) -> Result<impl IntoResponse, Problem> {
    let frame = cloud.reading(move |cloud| page(cloud, &query)).await?;
    Ok(([(header::CONTENT_TYPE, FRAME)], frame))
}

fn page(cloud: &Cloud, query: &LogQuery) -> Result<Vec<u8>, Problem> {
    let LogQuery { device, stream, from, .. } = query;
    if !sotto_program::is_name(device) || !sotto_program::is_name(stream) {
        return Err(Problem::unprocessable(reason::INVALID_NAME, "a name has 1 to 64 of A-Z a-z 0-9 _ . -"));
    }
    let most = query.limit.map_or(MOST_WINDOWS, |limit| limit as usize).min(MOST_WINDOWS);
    let page = cloud.store.log(device, stream, *from, most)?;
    let now = milliseconds(std::time::SystemTime::now());
    let head = StreamHead::sign(
        device,
        stream,
        page.size,
        page.root,
        now,
        cloud.identity.verifying_key(),
        |message| cloud.identity.sign(message),
    )?;
    let mut entries = entries(cloud, page.windows)?;
    let end = from.saturating_add(entries.iter().map(|(_, windows)| *windows as u64).sum());
    if end < page.size {
        entries.truncate(whole_groups(&entries));
    }
    Ok(LogPage::of(head.write()?, entries.into_iter().map(|(entry, _)| entry)).write())
}

/// Returns the first of some windows of a log, as many as a page holds, and the number of windows of each entry.
fn entries(cloud: &Cloud, windows: Vec<Logged>) -> Result<Vec<(PageEntry, usize)>, Problem> {
    let (mut entries, mut read, mut bytes) = (Vec::<(PageEntry, usize)>::with_capacity(windows.len()), 0, 0);
    for logged in windows {
        let windows = logged.windows();
        let entry = match logged {
            Logged::Item(item, of_item) => {
                read += of_item;
                bytes += item.most_bytes();
                item.into()
            }
            Logged::Window { sequence, leaf, envelope, bytes: of_window, signed } => {
                let (sequence, of_window) = (sequence.unsigned_abs(), of_window.unsigned_abs());
                let signed = envelope.map(|id| signed_header(cloud, id, signed)).transpose()?.flatten();
                let before = entries.last().and_then(|(entry, _)| signed_of(entry));
                read += of_window;
                bytes += BESIDE + signed.as_ref().map_or(32, |signed| Heads::bytes_of(signed, before));
                LogEntry { sequence, leaf, id: envelope.map(|id| id.0), bytes: of_window, signed }.into()
            }
        };
        entries.push((entry, windows));
        if read > MOST_READ || bytes > MOST_BYTES {
            break;
        }
    }
    Ok(entries)
}

/// Returns the signed header of a window, the only reading of those that are in no segment. Returns None if it cannot be read.
fn signed_header(
    cloud: &Cloud,
    id: Id,
    signed: Option<Box<SignedHeader>>,
) -> Result<Option<SignedHeader>, Problem> {
    match signed.map_or_else(|| cloud.store.signed(id), |signed| Ok(*signed)) {
        Ok(signed) => Ok(Some(signed)),
        // Damaged, or deleted meanwhile. Other errors may be temporary: then the page is refused.
        Err(error @ StoreError::Damaged(_)) => {
            tracing::error!(%id, %error, "a window of a log cannot be read");
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn signed_of(entry: &PageEntry) -> Option<&SignedHeader> {
    if let PageEntry::Window(entry) = entry { entry.signed.as_ref() } else { None }
}

/// Returns how many entries there are without those of a group that the page cuts; all, if it has no others.
fn whole_groups(entries: &[(PageEntry, usize)]) -> usize {
    let place = |(entry, _): &(PageEntry, usize)| signed_of(entry).and_then(SignedHeader::place);
    let Some((index, count)) = entries.last().and_then(place) else { return entries.len() };
    let is_cut = index + 1 < count;
    let without = entries.len().saturating_sub(usize::from(index) + 1);
    if is_cut && without > 0 { without } else { entries.len() }
}

async fn identity(State(cloud): State<Arc<Cloud>>) -> Json<PublicIdentity> {
    Json(PublicIdentity { verifying_key: cloud.identity.verifying_key() })
}
