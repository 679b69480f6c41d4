//! Sums over all windows of a fleet under one mask.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Path, Request, State};
use axum::response::IntoResponse;
use sotto_api::fleets::{AddFleet, FleetSumsOf};
use sotto_service::body;

use super::routes::Routes;
use super::sums::timed;
use crate::cloud::Cloud;
use crate::fleets;
use crate::problem::Problem;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(AddFleet, post)
}

async fn post(
    State(cloud): State<Arc<Cloud>>,
    Path(fleet): Path<String>,
    request: Request,
) -> Result<impl IntoResponse, Problem> {
    let wanted: FleetSumsOf = body::json(request, cloud.config.body_time()).await?;
    let ((frame, transcript), time) = cloud
        .computing(move |cloud| {
            let begin = Instant::now();
            Ok((fleets::sums(cloud, &fleet, &wanted)?, begin.elapsed()))
        })
        .await?;
    timed(frame, Some(&transcript), time)
}
