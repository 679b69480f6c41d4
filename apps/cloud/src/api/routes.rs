//! Routes with their handlers and their descriptions.

use std::sync::Arc;

use axum::Router;
use axum::handler::Handler;
use sotto_api::{Admission, Described};
use utoipa::openapi::OpenApi;

use crate::cloud::Cloud;

/// Makes the description of a route.
type Describe = fn() -> OpenApi;

/// The routes of the cloud, as the router and the document need them.
#[derive(Default)]
pub(super) struct Routes {
    served: sotto_service::routes::Routes<Arc<Cloud>>,
    described: Vec<(Admission, Describe)>,
}

impl Routes {
    /// Adds a route with its handler.
    pub(super) fn serve<R: Described, T: 'static>(
        mut self,
        route: R,
        handler: impl Handler<T, Arc<Cloud>>,
    ) -> Self {
        self.served = self.served.serve(route, handler);
        self.described.push((R::ADMISSION, R::document));
        self
    }

    /// Returns the descriptions of the routes, by the proof that they ask of their callers.
    pub(super) fn described(self) -> impl Iterator<Item = (Admission, OpenApi)> {
        self.described.into_iter().map(|(admission, describe)| (admission, describe()))
    }

    pub(super) fn router(
        self,
        cloud: Arc<Cloud>,
        guarded: impl FnOnce(Router<Arc<Cloud>>) -> Router<Arc<Cloud>>,
    ) -> Router {
        self.served.router(cloud, guarded)
    }
}
