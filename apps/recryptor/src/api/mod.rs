//! The HTTP interface: all routes.

mod authorise;
mod exchange;
mod health;
mod keys;
mod quota;

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::StatusCode;
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::routing::{get, post};
use sotto_service::outside;
use sotto_service::problem::Problem;

use crate::recryptor::Recryptor;

/// Returns the router with every route of the recryptor.
pub(crate) fn router(recryptor: &Arc<Recryptor>) -> Router {
    let callers = Router::new()
        .route("/v1/exchange", post(exchange::post))
        .route("/v1/keys/paillier", get(keys::paillier))
        .route("/v1/keys/elgamal", get(keys::elgamal))
        .route("/v1/quota", get(quota::left))
        .route_layer(from_fn_with_state(Arc::clone(recryptor), authorise::caller));
    let anybody = Router::new().route("/healthz", get(health::healthz)).route("/readyz", get(health::readyz));
    anybody
        .merge(callers)
        .fallback(async || Problem::not_found("no-such-resource", "there is nothing of this name here"))
        .method_not_allowed_fallback(async || {
            let detail = "this resource does not take this method";
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", detail)
        })
        // Bodies are read by the service's `body`, which has limits of its own.
        .layer(DefaultBodyLimit::disable())
        .layer(map_response(outside::as_problem))
        .layer(from_fn(outside::log))
        .with_state(Arc::clone(recryptor))
}
