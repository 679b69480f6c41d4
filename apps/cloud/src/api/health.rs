//! Health: one route answers while the process runs, another if it can serve requests; and the description of the
//! interface.

use std::sync::{Arc, LazyLock};

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use sotto_api::health::{Alive, FetchDocument, FetchHealth, FetchReadiness, Ready};
use sotto_api::{JSON, reason};

use super::openapi_json;
use super::routes::Routes;
use crate::cloud::Cloud;
use crate::problem::Problem;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(FetchHealth, healthz).serve(FetchReadiness, readyz).serve(FetchDocument, document)
}

async fn healthz() -> Json<Alive> {
    Json(Alive::default())
}

async fn readyz(State(cloud): State<Arc<Cloud>>) -> Result<Json<Ready>, Problem> {
    cloud
        .blocking(|cloud| {
            let missing = cloud.store.missing_bodies();
            match cloud.store.ping().and_then(|()| cloud.store.orphans()) {
                Ok(orphans) => {
                    Ok(Json(Ready { status: "ready".to_owned(), missing_bodies: missing, orphans }))
                }
                Err(error) => {
                    tracing::error!(%error, "not ready");
                    Err(Problem::busy(reason::NOT_READY, "the store does not answer"))
                }
            }
        })
        .await
}

async fn document() -> impl IntoResponse {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| openapi_json().unwrap_or_default());
    ([(header::CONTENT_TYPE, JSON)], DOCUMENT.as_str())
}
