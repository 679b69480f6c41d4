//! Middleware around every request: writes its log line, and turns every error into a problem document.

use std::time::Instant;

use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sotto_api::{PROBLEM, reason};

use crate::problem::Problem;

/// Logs method, path, status and time; never a body, a query or a header.
pub async fn log(request: Request, next: Next) -> Response {
    let (method, path, start) = (request.method().clone(), request.uri().path().to_owned(), Instant::now());
    let response = next.run(request).await;
    let (status, time) = (response.status().as_u16(), start.elapsed());
    tracing::info!(%method, path, status, ?time, "answered");
    response
}

/// Turns errors of the framework itself, such as an unreadable query, into problem documents.
pub async fn as_problem(response: Response) -> Response {
    let (status, headers) = (response.status(), response.headers());
    let is_error = status.is_client_error() || status.is_server_error();
    let is_problem = headers.get(header::CONTENT_TYPE).is_some_and(|kind| kind == PROBLEM);
    if !is_error || is_problem {
        return response;
    }
    let text = axum::body::to_bytes(response.into_body(), 4096).await.unwrap_or_default();
    let detail = String::from_utf8_lossy(&text).into_owned();
    let reason = match status {
        StatusCode::NOT_FOUND => reason::NO_SUCH_RESOURCE,
        status if status.is_server_error() => reason::INTERNAL,
        _ => reason::BAD_REQUEST,
    };
    Problem::new(status, reason, detail).into_response()
}
