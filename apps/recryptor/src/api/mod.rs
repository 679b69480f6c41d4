//! The HTTP interface: all routes.

mod authorise;
mod exchange;
mod health;
mod keys;
mod quota;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use sotto_api::recryptor::{
    Exchange, FetchElGamalKey, FetchHealth, FetchPaillierKey, FetchQuota, FetchReadiness,
};
use sotto_service::routes::Routes;

use crate::recryptor::Recryptor;

/// Returns the router with every route of the recryptor.
pub(crate) fn router(recryptor: &Arc<Recryptor>) -> Router {
    Routes::default()
        .serve(Exchange, exchange::post)
        .serve(FetchPaillierKey, keys::paillier)
        .serve(FetchElGamalKey, keys::elgamal)
        .serve(FetchQuota, quota::left)
        .serve(FetchHealth, health::healthz)
        .serve(FetchReadiness, health::readyz)
        .router(Arc::clone(recryptor), |callers| {
            callers.route_layer(from_fn_with_state(Arc::clone(recryptor), authorise::caller))
        })
}
