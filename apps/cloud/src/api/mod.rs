//! The HTTP interface: all routes.

mod authorise;
pub(crate) mod devices;
mod envelopes;
mod fleets;
mod health;
mod jobs;
mod keys;
mod limits;
mod log;
mod pages;
pub(crate) mod parameters;
mod plans;
mod position;
mod sums;
mod upload;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::routing::{delete, get, post, put};

use sotto_service::outside;

use crate::cloud::Cloud;
use crate::problem::Problem;

/// Returns the router with every route of the cloud.
pub(crate) fn router(cloud: &Arc<Cloud>) -> Router {
    let owner = Router::new()
        .route("/v1/parameters", put(parameters::put))
        .route("/v1/devices", get(devices::list))
        .route("/v1/devices/{name}", put(devices::put).delete(devices::delete))
        .route("/v1/keys", put(keys::put))
        .route("/v1/keys/{parameter_id}/{key_id}", get(keys::status))
        .route("/v1/keys/{parameter_id}/{key_id}/transfers/{from}", delete(keys::delete_transfer))
        .route("/v1/plans", put(plans::put))
        .route("/v1/jobs", get(jobs::list).post(jobs::post))
        .route("/v1/jobs/{id}", get(jobs::state))
        .route("/v1/jobs/{id}/outputs/{index}", get(jobs::output))
        .route("/v1/sums", post(sums::post))
        .route("/v1/fleets/{id}/sums", post(fleets::post))
        .route("/v1/limits", get(limits::all))
        .route("/v1/identity", get(log::identity))
        .route("/v1/log", get(log::get))
        .route("/v1/envelopes", get(envelopes::list).delete(envelopes::delete))
        .route("/v1/envelopes/{id}", get(envelopes::one))
        .route("/v1/envelopes/{id}/body", get(envelopes::body))
        .route("/v1/envelopes/{id}/envelope", get(envelopes::message))
        .route_layer(from_fn_with_state(Arc::clone(cloud), authorise::owner));
    let device = Router::new()
        .route("/v1/envelopes", post(upload::post))
        .route("/v1/position", post(position::post))
        .route("/v1/newest", post(position::newest));
    let anybody = Router::new().route("/healthz", get(health::healthz)).route("/readyz", get(health::readyz));
    anybody
        .merge(device)
        .merge(owner)
        .fallback(async || Problem::not_found("no-such-resource", "there is nothing of this name here"))
        .method_not_allowed_fallback(async || {
            let detail = "this resource does not take this method";
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", detail)
        })
        // Bodies are read by `body`, which has limits of its own.
        .layer(DefaultBodyLimit::disable())
        .layer(map_response(outside::as_problem))
        .layer(from_fn(outside::log))
        .with_state(Arc::clone(cloud))
}
