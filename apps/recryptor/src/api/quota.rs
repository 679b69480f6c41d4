//! The numbers that a caller may still request today.

use std::sync::Arc;

use axum::extract::State;
use axum::{Extension, Json};
use sotto_api::recryptor::Quota;
use sotto_service::problem::Problem;

use crate::callers::Caller;
use crate::ledger::Day;
use crate::recryptor::Recryptor;

pub(super) async fn left(
    State(recryptor): State<Arc<Recryptor>>,
    Extension(caller): Extension<Arc<Caller>>,
) -> Result<Json<Quota>, Problem> {
    recryptor
        .blocking(move |recryptor| {
            let used = recryptor.ledger.used(Day::today(), &caller)?;
            let left = caller.numbers_a_day.saturating_sub(used);
            Ok(Json(Quota { numbers_a_day: caller.numbers_a_day, used, left }))
        })
        .await
}
