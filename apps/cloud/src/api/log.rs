//! Logs of streams, for the owner.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Query, State};
use sotto_api::log::{FetchIdentity, FetchLog, LogPage, LogQuery, LoggedWindow, PublicIdentity};
use sotto_api::reason;
use sotto_wire::StreamHead;

use super::routes::Routes;
use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::store::{Logged, StoreError, limit, milliseconds};

/// Maximum bytes of messages read for a page.
const MOST_READ: u64 = 64 << 20;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(FetchIdentity, identity).serve(FetchLog, get)
}

async fn get(
    State(cloud): State<Arc<Cloud>>,
    Query(query): Query<LogQuery>,
) -> Result<Json<LogPage>, Problem> {
    cloud.computing(move |cloud| page(cloud, &query).map(Json)).await
}

fn page(cloud: &Cloud, query: &LogQuery) -> Result<LogPage, Problem> {
    let LogQuery { device, stream, from, .. } = query;
    if !sotto_program::is_name(device) || !sotto_program::is_name(stream) {
        return Err(Problem::unprocessable(reason::INVALID_NAME, "a name has 1 to 64 of A-Z a-z 0-9 _ . -"));
    }
    let page = cloud.store.log(device, stream, *from, limit(query.limit))?;
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
    let (mut windows, mut read) = (Vec::with_capacity(page.windows.len()), 0);
    for logged in page.windows {
        let window = window(cloud, logged)?;
        read += window.bytes;
        windows.push(window);
        if read > MOST_READ {
            break;
        }
    }
    Ok(LogPage { head: head.write()?, windows })
}

fn window(cloud: &Cloud, logged: Logged) -> Result<LoggedWindow, Problem> {
    let Logged { sequence, leaf, envelope, bytes, signed } = logged;
    let (sequence, bytes) = (sequence.unsigned_abs(), bytes.unsigned_abs());
    let Some(id) = envelope else {
        return Ok(LoggedWindow { sequence, leaf, id: None, signed: None, bytes });
    };
    let signed = match signed.map_or_else(|| cloud.store.signed(id), |signed| Ok(*signed)) {
        Ok(signed) => Some(signed.write()),
        // Damaged, or deleted meanwhile. Other errors may be temporary: then the page is refused.
        Err(error @ StoreError::Damaged(_)) => {
            tracing::error!(%id, %error, "a window of a log cannot be read");
            None
        }
        Err(error) => return Err(error.into()),
    };
    Ok(LoggedWindow { sequence, leaf, id: Some(id.to_string()), signed, bytes })
}

async fn identity(State(cloud): State<Arc<Cloud>>) -> Json<PublicIdentity> {
    Json(PublicIdentity { verifying_key: cloud.identity.verifying_key() })
}
