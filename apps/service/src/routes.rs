//! Routers made of the declarations of routes.

use std::sync::Arc;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::handler::Handler;
use axum::http::StatusCode;
use axum::middleware::{from_fn_with_state, map_response};
use axum::routing::{MethodFilter, on};
use sotto_api::{Admission, Method, Route, reason};

use crate::outside;
use crate::problem::Problem;
use crate::strangers::Strangers;

/// The routes of a service with their handlers. `S` is the state that handlers share.
pub struct Routes<S> {
    /// Routes that ask for a token.
    token: Router<S>,
    /// Routes that ask for a device's signature.
    signature: Router<S>,
    /// All others.
    open: Router<S>,
}

impl<S: Clone + Send + Sync + 'static> Default for Routes<S> {
    fn default() -> Self {
        Self { token: Router::new(), signature: Router::new(), open: Router::new() }
    }
}

impl<S: Clone + Send + Sync + 'static> Routes<S> {
    /// Adds a route with its handler.
    #[must_use]
    pub fn serve<R: Route, T: 'static>(mut self, _: R, handler: impl Handler<T, S>) -> Self {
        let method = match R::METHOD {
            Method::Get => MethodFilter::GET,
            Method::Put => MethodFilter::PUT,
            Method::Post => MethodFilter::POST,
            Method::Delete => MethodFilter::DELETE,
        };
        let router = match R::ADMISSION {
            Admission::Token => &mut self.token,
            Admission::Signature => &mut self.signature,
            Admission::Anybody => &mut self.open,
        };
        *router = std::mem::take(router).route(R::PATH, on(method, handler));
        self
    }

    /// Returns the router. `guarded` adds the check of the token to the routes that ask for one.
    pub fn router(self, state: S, guarded: impl FnOnce(Router<S>) -> Router<S>) -> Router {
        let signature = self.signature.layer(map_response(outside::known_by_signature));
        let token = guarded(self.token).layer(map_response(outside::known_by_token));
        self.open
            .merge(signature)
            .merge(token)
            .fallback(async || {
                Problem::not_found(reason::NO_SUCH_RESOURCE, "there is nothing of this name here")
            })
            .method_not_allowed_fallback(async || {
                let detail = "this resource does not take this method";
                Problem::new(StatusCode::METHOD_NOT_ALLOWED, reason::METHOD_NOT_ALLOWED, detail)
            })
            // Bodies are read by `body`, which has limits of its own.
            .layer(DefaultBodyLimit::disable())
            .layer(map_response(outside::as_problem))
            .layer(from_fn_with_state(Arc::<Strangers>::default(), outside::log))
            .with_state(state)
    }
}
