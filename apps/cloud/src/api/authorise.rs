//! Checks the owner's token.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sotto_api::reason;
use sotto_service::body;

use crate::cloud::Cloud;
use crate::problem::Problem;

pub(super) async fn owner(State(cloud): State<Arc<Cloud>>, request: Request, next: Next) -> Response {
    let authorization = request.headers().get(header::AUTHORIZATION);
    if authorization.is_some_and(|value| cloud.owner.admits(value.as_bytes())) {
        return next.run(request).await;
    }
    body::discard(request.into_body()).await;
    let detail = "this is for the owner: send the owner's token as `Authorization: Bearer TOKEN`";
    Problem::new(StatusCode::UNAUTHORIZED, reason::UNAUTHORISED, detail).into_response()
}
