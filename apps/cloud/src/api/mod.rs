//! The HTTP interface: all routes.

mod authorise;
mod devices;
mod document;
mod envelopes;
mod fleets;
mod health;
mod jobs;
mod keys;
mod limits;
mod log;
mod pages;
mod parameters;
mod plans;
mod position;
mod sums;
mod upload;

use std::sync::{Arc, LazyLock};

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::http::{StatusCode, header};
use axum::middleware::{from_fn, from_fn_with_state, map_response};
use axum::response::IntoResponse;
use utoipa::openapi::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use sotto_service::outside;

use self::document::Caller;
use crate::cloud::Cloud;
use crate::problem::Problem;

type Routes = OpenApiRouter<Arc<Cloud>>;

/// Declares every route once, for the router and for the document.
fn declared() -> [(Caller, Routes); 3] {
    let owner = Routes::new()
        .routes(routes!(parameters::put))
        .routes(routes!(devices::list))
        .routes(routes!(devices::put, devices::delete))
        .routes(routes!(keys::put))
        .routes(routes!(keys::status))
        .routes(routes!(keys::delete_transfer))
        .routes(routes!(plans::put))
        .routes(routes!(jobs::list, jobs::post))
        .routes(routes!(jobs::state))
        .routes(routes!(jobs::output))
        .routes(routes!(sums::post))
        .routes(routes!(fleets::post))
        .routes(routes!(limits::all))
        .routes(routes!(log::identity))
        .routes(routes!(log::get))
        .routes(routes!(envelopes::list, envelopes::delete))
        .routes(routes!(envelopes::one))
        .routes(routes!(envelopes::body))
        .routes(routes!(envelopes::message));
    let device = Routes::new()
        .routes(routes!(upload::post))
        .routes(routes!(position::post))
        .routes(routes!(position::newest));
    let anybody = Routes::new()
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(openapi));
    [(Caller::Anybody, anybody), (Caller::Device, device), (Caller::Owner, owner)]
}

/// Returns the OpenAPI document of the interface.
pub(crate) fn openapi_document() -> OpenApi {
    document::document(declared().map(|(caller, routes)| (caller, routes.into_openapi())))
}

/// Returns the document as indented JSON.
pub(crate) fn openapi_json() -> Result<String, serde_json::Error> {
    // utoipa writes `u-int32` for the registered format `uint32`.
    Ok(openapi_document().to_pretty_json()?.replace("\"u-int", "\"uint"))
}

/// Returns this document.
///
/// It has nothing of the configuration, the version of the program, or stored data.
#[utoipa::path(get, path = "/v1/openapi.json", responses(
    (status = 200, description = "OpenAPI 3.1.", body = Object, content_type = "application/json")
))]
async fn openapi() -> impl IntoResponse {
    static DOCUMENT: LazyLock<String> = LazyLock::new(|| openapi_json().unwrap_or_default());
    ([(header::CONTENT_TYPE, "application/json")], DOCUMENT.as_str())
}

/// Returns the router with every route of the cloud.
pub(crate) fn router(cloud: &Arc<Cloud>) -> Router {
    let mut router = Router::new();
    for (caller, routes) in declared() {
        let mut routes = Router::from(routes);
        if caller == Caller::Owner {
            routes = routes.route_layer(from_fn_with_state(Arc::clone(cloud), authorise::owner));
        }
        router = router.merge(routes);
    }
    router
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
