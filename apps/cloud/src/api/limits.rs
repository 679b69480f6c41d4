//! The limits that a planner has to respect.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use sotto_api::limits::{FetchLimits, Limits};
use sotto_program::limits;

use super::routes::Routes;
use crate::cloud::Cloud;
use crate::register;
use crate::registry;
use crate::store;

pub(super) fn routes(routes: Routes) -> Routes {
    routes.serve(FetchLimits, all)
}

async fn all(State(cloud): State<Arc<Cloud>>) -> Json<Limits> {
    let config = &cloud.config;
    Json(Limits {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        largest_upload: config.largest_upload,
        largest_keys: config.largest_keys,
        largest_plan: sotto_wire::LARGEST_PLAN,
        largest_job: config.largest_job,
        most_galois_keys: registry::MOST_KEYS.galois,
        most_transfer_keys: registry::MOST_KEYS.transfers,
        most_device_keys: register::MOST_KEYS,
        most_inputs: limits::INPUTS,
        most_outputs: limits::OUTPUTS,
        most_steps: limits::STEPS,
        largest_page: store::LARGEST_PAGE,
    })
}
