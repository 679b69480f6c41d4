//! Checks the caller's token.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sotto_api::reason;
use sotto_service::body;
use sotto_service::problem::Problem;

use crate::ledger::Day;
use crate::recryptor::Recryptor;

pub(super) async fn caller(
    State(recryptor): State<Arc<Recryptor>>,
    mut request: Request,
    next: Next,
) -> Response {
    let authorization = request.headers().get(header::AUTHORIZATION);
    if let Some(caller) = authorization.and_then(|value| recryptor.callers.find(value.as_bytes())) {
        request.extensions_mut().insert(caller);
        return next.run(request).await;
    }
    body::discard(request.into_body()).await;
    let detail = "this is for callers that the owner knows: send a token as `Authorization: Bearer TOKEN`";
    let problem = Problem::new(StatusCode::UNAUTHORIZED, reason::UNAUTHORISED, detail);
    recryptor.ledger.refused(Day::today(), "", problem.reason);
    problem.into_response()
}
