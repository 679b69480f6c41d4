//! Middleware around every request: writes its log line, and turns every error into a problem document.

use std::sync::Arc;
use std::time::Instant;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sotto_api::{PROBLEM, reason};

use crate::problem::Problem;
use crate::sender::{Known, Refusal};
use crate::strangers::Strangers;

/// Logs method, path, status and time; never a body, a query or a header. Requests of senders that are not known are
/// counted instead.
pub(crate) async fn log(State(strangers): State<Arc<Strangers>>, request: Request, next: Next) -> Response {
    let (method, path, start) = (request.method().clone(), request.uri().path().to_owned(), Instant::now());
    let response = next.run(request).await;
    let (status, time) = (response.status().as_u16(), start.elapsed());
    if response.extensions().get::<Known>().is_some() {
        tracing::info!(%method, path, status, ?time, "answered");
    } else {
        tracing::debug!(%method, path, status, ?time, "an unknown sender was answered");
        let refusal = response.extensions().get::<Refusal>();
        strangers.count(status, refusal.map_or("answered", |refusal| refusal.0));
    }
    response
}

/// Marks responses of routes that ask for a token: all but the refusal of a token are for known senders.
pub(crate) async fn known_by_token(mut response: Response) -> Response {
    if response.status() != StatusCode::UNAUTHORIZED {
        response.extensions_mut().insert(Known);
    }
    response
}

/// Marks responses of routes that ask for a signature: only a known sender's request succeeds. Refusals after the check
/// of the signature are marked by [`Problem::of_known`].
pub(crate) async fn known_by_signature(mut response: Response) -> Response {
    if response.status().is_success() {
        response.extensions_mut().insert(Known);
    }
    response
}

/// Turns errors of the framework itself, such as an unreadable query, into problem documents.
pub(crate) async fn as_problem(response: Response) -> Response {
    let (status, headers) = (response.status(), response.headers());
    let is_error = status.is_client_error() || status.is_server_error();
    let is_problem = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == PROBLEM);
    if !is_error || is_problem {
        return response;
    }
    let known = response.extensions().get::<Known>().copied();
    let text = axum::body::to_bytes(response.into_body(), 4096).await.unwrap_or_default();
    let detail = String::from_utf8_lossy(&text).into_owned();
    let reason = match status {
        StatusCode::NOT_FOUND => reason::NO_SUCH_RESOURCE,
        status if status.is_server_error() => reason::INTERNAL,
        _ => reason::BAD_REQUEST,
    };
    let problem = Problem::new(status, reason, detail);
    if known.is_some() { problem.of_known() } else { problem }.into_response()
}
