//! Parameter sets that the cloud may compute with.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use serde::Serialize;
use sotto_service::body;
use utoipa::ToSchema;

use super::document::Frame;
use crate::cloud::Cloud;
use crate::problem::Problem;
use crate::register::{self, LARGEST_PARAMETERS};

/// Parameters that were stored.
#[derive(Serialize, ToSchema)]
pub(super) struct KeptParameters {
    /// 64 lower-case hexadecimal digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    parameter_id: String,
    /// `bfv`, `bgv` or `ckks`.
    scheme: &'static str,
}

/// Stores parameters; refuses those below 128-bit security.
///
/// Idempotent.
#[utoipa::path(put, path = "/v1/parameters",
    request_body(content = Frame, content_type = "application/octet-stream", description = "A frame of kind 1 (parameters), at most 4096 bytes."),
    responses(
        (status = 200, description = "Stored.", body = KeptParameters),
        (status = 400, description = "`not-a-frame`, `unknown-version`, `wrong-kind`, `digest-mismatch`, `trailing-bytes`"),
        (status = 422, description = "`parameters-refused` (below 128 bits, or not valid), `invalid-value`, `wrong-length`"),
        (status = 507, description = "`storage-full`")
))]
pub(super) async fn put(
    State(cloud): State<Arc<Cloud>>,
    request: Request,
) -> Result<Json<KeptParameters>, Problem> {
    let frame = body::read(request, LARGEST_PARAMETERS, cloud.config.body_time).await?;
    cloud
        .computing(move |cloud| {
            let (id, scheme) = register::parameters(cloud, &frame)?;
            Ok(Json(KeptParameters { parameter_id: id.to_string(), scheme: scheme.name() }))
        })
        .await
}
