//! The public keys, as frames.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use sotto_service::problem::Problem;

use crate::recryptor::Recryptor;

/// `GET /v1/keys/paillier`
pub(super) async fn paillier(State(recryptor): State<Arc<Recryptor>>) -> impl IntoResponse {
    frame(recryptor.paillier_frame.clone())
}

/// `GET /v1/keys/elgamal`
pub(super) async fn elgamal(State(recryptor): State<Arc<Recryptor>>) -> Result<impl IntoResponse, Problem> {
    let none =
        || Problem::not_found("no-elgamal-key", "this recryptor has no ElGamal key: it cannot convert");
    recryptor.elgamal_frame.clone().map(frame).ok_or_else(none)
}

fn frame(bytes: Vec<u8>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/octet-stream")], bytes)
}
