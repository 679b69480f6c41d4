//! Health: `healthz` answers while the process runs, `readyz` if it can serve requests.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use sotto_service::problem::Problem;

use crate::recryptor::Recryptor;

pub(super) async fn healthz() -> Json<Value> {
    Json(json!({ "status": "alive" }))
}

pub(super) async fn readyz(State(recryptor): State<Arc<Recryptor>>) -> Result<Json<Value>, Problem> {
    let ping = move |recryptor: &Recryptor| {
        recryptor.ledger.ping().map_err(|error| {
            tracing::error!(%error, "not ready");
            Problem::busy("not-ready", "the ledger does not answer")
        })
    };
    recryptor.blocking(ping).await?;
    Ok(Json(json!({ "status": "ready" })))
}
