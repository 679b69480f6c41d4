//! The HTTP interface: all routes.

mod authorise;
mod devices;
mod document;
mod envelopes;
mod health;
mod jobs;
mod keys;
mod limits;
mod log;
mod orders;
mod pages;
mod parameters;
mod plans;
mod position;
mod routes;
mod streams;
mod upload;

use std::sync::Arc;

use axum::Router;
use axum::middleware::from_fn_with_state;
use utoipa::openapi::OpenApi;

use self::routes::Routes;
use crate::cloud::Cloud;

/// Returns every route with its handler, for the router and for the document.
fn all() -> Routes {
    [
        health::routes,
        upload::routes,
        position::routes,
        parameters::routes,
        devices::routes,
        keys::routes,
        plans::routes,
        jobs::routes,
        streams::routes,
        limits::routes,
        log::routes,
        envelopes::routes,
        orders::routes,
    ]
    .into_iter()
    .fold(Routes::default(), |routes, add| add(routes))
}

/// Returns the OpenAPI document of the interface.
pub(crate) fn openapi_document() -> OpenApi {
    document::document(all().described())
}

/// Returns the document as indented JSON.
pub(crate) fn openapi_json() -> Result<String, serde_json::Error> {
    // utoipa writes `u-int32` for the registered format `uint32`.
    Ok(openapi_document().to_pretty_json()?.replace("\"u-int", "\"uint"))
}

/// Returns the router with every route of the cloud.
pub(crate) fn router(cloud: &Arc<Cloud>) -> Router {
    all().router(Arc::clone(cloud), |owners| {
        owners.route_layer(from_fn_with_state(Arc::clone(cloud), authorise::owner))
    })
}
