//! The limits that a planner has to respect.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde_json::{Value, json};
use sotto_program::limits;

use super::devices;
use crate::cloud::Cloud;
use crate::registry;
use crate::store;

/// `GET /v1/limits`: sizes in bytes, and counts.
pub(super) async fn all(State(cloud): State<Arc<Cloud>>) -> Json<Value> {
    let config = &cloud.config;
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "largest_upload": config.largest_upload,
        "largest_keys": config.largest_keys,
        "largest_plan": sotto_wire::LARGEST_PLAN,
        "largest_job": config.largest_job,
        "most_galois_keys": registry::MOST_KEYS.galois,
        "most_transfer_keys": registry::MOST_KEYS.transfers,
        "most_device_keys": devices::MOST_KEYS,
        "most_inputs": limits::INPUTS,
        "most_outputs": limits::OUTPUTS,
        "most_steps": limits::STEPS,
        "largest_page": store::LARGEST_PAGE,
    }))
}
