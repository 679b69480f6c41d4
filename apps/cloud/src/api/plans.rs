//! Plans.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use serde::Serialize;
use sotto_rlwe::ParameterId;
use utoipa::ToSchema;

use sotto_service::body;

use super::document::Frame;
use crate::cloud::Cloud;
use crate::problem::Problem;

/// A plan that was stored.
#[derive(Serialize, ToSchema)]
pub(super) struct KeptPlan {
    /// The digest of the plan's frame: 64 lower-case hexadecimal digits.
    #[schema(pattern = "^[0-9a-f]{64}$")]
    plan_id: String,
    /// Number of the plan's steps.
    steps: usize,
}

/// Stores a plan under the digest of its frame.
///
/// Idempotent.
#[utoipa::path(put, path = "/v1/plans",
    request_body(content = Frame, content_type = "application/octet-stream", description = "A frame of kind 5 (plan), at most `largest_plan` bytes of `GET /v1/limits`."),
    responses(
        (status = 200, description = "Stored.", body = KeptPlan),
        (status = 400, description = "`not-a-frame`, `unknown-version`, `wrong-kind`, `digest-mismatch`, `trailing-bytes`"),
        (status = 422, description = "`unknown-parameters`, `invalid-plan`, `invalid-value`, `wrong-length`"),
        (status = 507, description = "`storage-full`")
))]
pub(super) async fn put(
    State(cloud): State<Arc<Cloud>>,
    request: Request,
) -> Result<Json<KeptPlan>, Problem> {
    let frame = body::read(request, sotto_wire::LARGEST_PLAN, cloud.config.body_time).await?;
    cloud
        .computing(move |cloud| {
            let plan = sotto_wire::read_plan(&frame)?;
            // Refuses unknown parameters.
            cloud.params(ParameterId(plan.parameter_id))?;
            let id = sotto_wire::frame_digest(&frame)?;
            cloud.store.keep_plan(&id, &plan, &frame)?;
            Ok(Json(KeptPlan { plan_id: hex::encode(id), steps: plan.steps.len() }))
        })
        .await
}
