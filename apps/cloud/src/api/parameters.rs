//! Parameter sets that the cloud may compute with.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use serde_json::{Value, json};
use sotto_rlwe::{ParameterId, SchemeId};

use sotto_service::body;

use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::registry;

/// Maximum bytes of a frame of parameters.
pub(crate) const LARGEST_PARAMETERS: u64 = 4096;

/// `PUT /v1/parameters`: stores parameters; refuses those below 128-bit security.
pub(super) async fn put(State(cloud): State<Arc<Cloud>>, request: Request) -> Result<Json<Value>, Problem> {
    let frame = body::read(request, LARGEST_PARAMETERS, cloud.config.body_time).await?;
    cloud
        .computing(move |cloud| {
            let (id, scheme) = keep(cloud, &frame)?;
            Ok(Json(json!({ "parameter_id": id.to_string(), "scheme": scheme.name() })))
        })
        .await
}

/// Checks and stores the parameters of a frame. Skips the check if they are already stored.
pub(crate) fn keep(cloud: &Cloud, frame: &[u8]) -> Result<(ParameterId, SchemeId), Problem> {
    let spec = sotto_wire::read_parameters(frame)?;
    let (id, scheme) = (spec.id(), spec.scheme);
    if cloud.store.parameters(id)?.is_none() {
        registry::params(spec).map_err(sotto_wire::WireError::from)?;
        cloud.store.keep_parameters(id, scheme, frame)?;
    }
    Ok((id, scheme))
}
