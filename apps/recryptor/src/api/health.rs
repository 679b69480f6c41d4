//! Health: one route answers while the process runs, another if it can serve requests.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sotto_api::health::Alive;
use sotto_api::reason;
use sotto_api::recryptor::Ready;
use sotto_service::problem::Problem;

use crate::recryptor::Recryptor;

pub(super) async fn healthz() -> Json<Alive> {
    Json(Alive::default())
}

pub(super) async fn readyz(State(recryptor): State<Arc<Recryptor>>) -> Result<Json<Ready>, Problem> {
    let ping = move |recryptor: &Recryptor| {
        recryptor.ledger.ping().map_err(|error| {
            tracing::error!(%error, "not ready");
            Problem::busy(reason::NOT_READY, "the ledger does not answer")
        })
    };
    recryptor.blocking(ping).await?;
    Ok(Json(Ready::default()))
}
