//! The limits that a planner has to respect.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use serde::Serialize;
use sotto_program::limits;
use utoipa::ToSchema;

use crate::cloud::Cloud;
use crate::register;
use crate::registry;
use crate::store;

/// The cloud's version and its limits.
#[derive(Serialize, ToSchema)]
pub(super) struct Limits {
    /// The version of the program.
    version: &'static str,
    /// Maximum bytes of an upload.
    largest_upload: u64,
    /// Maximum bytes of evaluation keys.
    largest_keys: u64,
    /// Maximum bytes of a plan.
    largest_plan: u64,
    /// Maximum bytes of ciphertexts that a job holds at any time.
    largest_job: u64,
    /// Maximum number of Galois keys of a secret key.
    most_galois_keys: usize,
    /// Maximum number of transfer keys to a secret key.
    most_transfer_keys: usize,
    /// Maximum number of pairs of parameters and key of a device.
    most_device_keys: usize,
    /// Maximum number of inputs of a plan.
    most_inputs: usize,
    /// Maximum number of outputs of a plan.
    most_outputs: usize,
    /// Maximum number of steps of a plan.
    most_steps: usize,
    /// Maximum number of items of a page.
    largest_page: u32,
}

/// Returns the limits that a planner has to respect: sizes in bytes, and counts.
#[utoipa::path(get, path = "/v1/limits", responses((status = 200, description = "The limits.", body = Limits)))]
pub(super) async fn all(State(cloud): State<Arc<Cloud>>) -> Json<Limits> {
    let config = &cloud.config;
    Json(Limits {
        version: env!("CARGO_PKG_VERSION"),
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
