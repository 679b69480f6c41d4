//! Takes a batch's frame and returns the frame of its answers.

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Request, State};
use axum::http::header;
use axum::response::IntoResponse;
use sotto_api::FRAME;
use sotto_service::body;
use sotto_service::problem::Problem;

use crate::callers::Caller;
use crate::exchange::exchange;
use crate::ledger::Day;
use crate::recryptor::Recryptor;

pub(super) async fn post(
    State(recryptor): State<Arc<Recryptor>>,
    Extension(caller): Extension<Arc<Caller>>,
    request: Request,
) -> Result<impl IntoResponse, Problem> {
    let answered = answer(&recryptor, &caller, request).await;
    if let Err(problem) = &answered {
        recryptor.ledger.refused(Day::today(), &caller.name, problem.reason);
    }
    Ok(([(header::CONTENT_TYPE, FRAME)], answered?))
}

async fn answer(
    recryptor: &Arc<Recryptor>,
    caller: &Arc<Caller>,
    request: Request,
) -> Result<Vec<u8>, Problem> {
    let (limit, longest) = (recryptor.config.largest_batch, recryptor.config.body_time());
    let (bytes, held) = body::read_within(request, limit, longest, Some(&recryptor.batches)).await?;
    let caller = Arc::clone(caller);
    let work = move |recryptor: &Recryptor| {
        let answer = exchange(recryptor, &caller, &bytes);
        drop((bytes, held));
        answer
    };
    Arc::clone(recryptor).computing(work).await
}
