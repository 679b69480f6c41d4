//! Parameters that the cloud may compute with.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use serde_json::{Value, json};

use sotto_service::body;

use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::registry;

const LARGEST_PARAMETERS: u64 = 4096;

/// `PUT /v1/parameters`: refused unless they reach 128-bit security.
pub(super) async fn put(State(cloud): State<Arc<Cloud>>, request: Request) -> Result<Json<Value>, Problem> {
    let frame = body::read(request, LARGEST_PARAMETERS, cloud.config.body_time).await?;
    cloud
        .computing(move |cloud| {
            let spec = sotto_wire::read_parameters(&frame)?;
            let id = spec.id();
            let engine = registry::engine(spec).map_err(sotto_wire::WireError::from)?;
            cloud.store.keep_parameters(id, engine.scheme(), &frame)?;
            Ok(Json(json!({ "parameter_id": id.to_string(), "scheme": engine.scheme().name() })))
        })
        .await
}
