//! Reads, charges and answers a batch.

use axum::http::StatusCode;
use sotto_api::reason;
use sotto_partial::recrypt::{Recrypt as _, RecryptError};
use sotto_service::problem::Problem;
use sotto_wire::{UnreadRequests, frame_digest, write_exchange_response};

use crate::callers::Caller;
use crate::ledger::{Charge, Day, MOST_ASKED, RequestCounts};
use crate::recryptor::Recryptor;

/// Answers a batch.
///
/// All checks of its bytes come before the charge. After it, only a fault of this program can prevent the answer, and
/// the batch can be sent again. The counts in its head are compared with the quota before its numbers are checked,
/// because that takes long, also for numbers that turn out not to be ciphertexts.
pub(crate) fn exchange(recryptor: &Recryptor, caller: &Caller, bytes: &[u8]) -> Result<Vec<u8>, Problem> {
    let (keys, ledger, today) = (recryptor.keys(), &recryptor.ledger, Day::today());
    let unread = UnreadRequests::open(bytes, recryptor.config.largest_batch, keys)?;
    let (batch, asked, digest) = (unread.batch(), RequestCounts::of(&unread), frame_digest(bytes)?);
    if asked.numbers() == 0 {
        return Err(Problem::unprocessable(reason::EMPTY_BATCH, "this batch asks for nothing"));
    }
    may_be_answered(ledger.foresee(today, caller, batch, &digest, asked)?, caller, asked)?;
    let requests = unread.read().inspect_err(|_| ledger.looked_at(today, &caller.name, asked))?;
    let charge = ledger.charge(today, caller, batch, &digest, asked)?;
    may_be_answered(charge, caller, asked)?;
    let again = charge == Charge::AskedAgain;
    let answers = recryptor.agent.exchange(&requests).map_err(failed)?;
    tracing::info!(caller = caller.name, requests = requests.len(), again, "exchanged");
    Ok(write_exchange_response(batch, keys, &answers)?)
}

fn may_be_answered(charge: Charge, caller: &Caller, asked: RequestCounts) -> Result<(), Problem> {
    let too_many = |reason, detail| Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, reason, detail));
    match charge {
        Charge::Charged | Charge::AskedAgain => Ok(()),
        Charge::OverQuota { left } => {
            let (name, numbers) = (&caller.name, asked.numbers());
            let detail =
                format!("this batch has {numbers} numbers and {name} has {left} left until midnight (UTC)");
            too_many(reason::OVER_QUOTA, detail)
        }
        Charge::TooOften => too_many(
            reason::ASKED_TOO_OFTEN,
            format!("this batch was sent {MOST_ASKED} times: use a new batch name"),
        ),
        Charge::RefusedTooOften => too_many(
            reason::REFUSED_TOO_OFTEN,
            format!(
                "the quota of {} is used up by numbers that were checked and refused today: try again after midnight \
                 (UTC)",
                caller.name
            ),
        ),
        Charge::NameTaken => Err(Problem::conflict(
            reason::BATCH_NAME_TAKEN,
            "this batch name was used for other requests: use a new name for a new batch",
        )),
    }
}

/// Converts an error of the agent. Reading the batch has already refused everything that the agent itself would refuse.
fn failed(error: RecryptError) -> Problem {
    match error {
        RecryptError::Refused { .. } | RecryptError::Batch { .. } => {
            Problem::unprocessable(reason::INVALID_VALUE, error.to_string())
        }
        error => {
            tracing::error!(%error, "the agent failed");
            Problem::internal()
        }
    }
}
