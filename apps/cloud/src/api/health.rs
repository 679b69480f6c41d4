//! Health: `healthz` answers while the process runs, `readyz` if it can serve requests.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use crate::cloud::Cloud;
use crate::problem::Problem;

/// A process that runs.
#[derive(Serialize, ToSchema)]
pub(super) struct Alive {
    /// Always `alive`.
    status: &'static str,
}

/// A store that answers.
#[derive(Serialize, ToSchema)]
pub(super) struct Ready {
    /// Always `ready`.
    status: &'static str,
    /// Number of rows whose file is missing, counted at the start: above 0 the store is damaged.
    missing_bodies: usize,
    /// Number of files without a row, which the cloud has put aside.
    orphans: usize,
}

/// Answers while the process runs.
///
/// Reads nothing from the disk. Without an answer, start the process again.
#[utoipa::path(get, path = "/healthz", responses((status = 200, description = "The process runs.", body = Alive)))]
pub(super) async fn healthz() -> Json<Alive> {
    Json(Alive { status: "alive" })
}

/// Answers if the store can serve requests.
///
/// Send requests here only if it does, and raise an alarm if `missing_bodies` is not 0.
#[utoipa::path(get, path = "/readyz", responses(
    (status = 200, description = "The store answers.", body = Ready),
    (status = 503, description = "`not-ready`: the store does not answer")
))]
pub(super) async fn readyz(State(cloud): State<Arc<Cloud>>) -> Result<Json<Ready>, Problem> {
    cloud
        .blocking(|cloud| {
            let missing = cloud.store.missing_bodies();
            match cloud.store.ping().and_then(|()| cloud.store.orphans()) {
                Ok(orphans) => Ok(Json(Ready { status: "ready", missing_bodies: missing, orphans })),
                Err(error) => {
                    tracing::error!(%error, "not ready");
                    Err(Problem::busy("not-ready", "the store does not answer"))
                }
            }
        })
        .await
}
