//! Plans.

use std::sync::Arc;

use axum::Json;
use axum::extract::{Request, State};
use sotto_api::plans::{KeptPlan, PutPlan};
use sotto_rlwe::ParameterId;
use sotto_service::body;

use super::routes::Routes;
use crate::cloud::Cloud;
use crate::problem::Problem;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(PutPlan, put)
}

async fn put(State(cloud): State<Arc<Cloud>>, request: Request) -> Result<Json<KeptPlan>, Problem> {
    let frame = body::read(request, sotto_wire::LARGEST_PLAN, cloud.config.body_time()).await?;
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
