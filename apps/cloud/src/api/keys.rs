//! Evaluation keys.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use serde_json::{Value, json};

use super::body;
use crate::cloud::Cloud;
use crate::problem::Problem;

/// `PUT /v1/keys`: in the place of those that were there for the same secret key.
pub(super) async fn put(State(cloud): State<Arc<Cloud>>, request: Request) -> Result<Json<Value>, Problem> {
    let limit = cloud.config.largest_keys;
    let frame = body::read(request, limit, cloud.config.body_time).await?;
    cloud
        .computing(move |cloud| {
            let (parameters, key) = sotto_wire::evaluation_keys_header(&frame, limit)?;
            let keys = cloud.engine(parameters)?.read_keys(&frame)?;
            let answer = json!({
                "parameter_id": parameters.to_string(),
                "key_id": key.to_string(),
                "relinearisation": keys.relinearisation,
                "galois": keys.galois,
            });
            cloud.keep_keys(parameters, keys, &frame)?;
            Ok(Json(answer))
        })
        .await
}
