//! The public keys, as frames.

use std::sync::Arc;

use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use sotto_api::{FRAME, reason};
use sotto_service::problem::Problem;

use crate::recryptor::Recryptor;

pub(super) async fn paillier(State(recryptor): State<Arc<Recryptor>>) -> impl IntoResponse {
    frame(recryptor.paillier_frame.clone())
}

pub(super) async fn elgamal(State(recryptor): State<Arc<Recryptor>>) -> Result<impl IntoResponse, Problem> {
    let none =
        || Problem::not_found(reason::NO_ELGAMAL_KEY, "this recryptor has no ElGamal key: it cannot convert");
    recryptor.elgamal_frame.clone().map(frame).ok_or_else(none)
}

fn frame(bytes: Vec<u8>) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, FRAME)], bytes)
}
