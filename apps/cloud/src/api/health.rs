//! Health: `healthz` answers while the process runs, `readyz` if it can serve requests.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};

use crate::cloud::Cloud;
use crate::problem::Problem;

pub(super) async fn healthz() -> Json<Value> {
    Json(json!({ "status": "alive" }))
}

pub(super) async fn readyz(State(cloud): State<Arc<Cloud>>) -> Result<Json<Value>, Problem> {
    cloud
        .blocking(|cloud| {
            let missing = cloud.store.missing_bodies();
            match cloud.store.ping().and_then(|()| cloud.store.orphans()) {
                Ok(orphans) => {
                    Ok(Json(json!({ "status": "ready", "missing_bodies": missing, "orphans": orphans })))
                }
                Err(error) => {
                    tracing::error!(%error, "not ready");
                    Err(Problem::busy("not-ready", "the store does not answer"))
                }
            }
        })
        .await
}
