//! Converts errors of runs and of the store to problem documents.

use axum::http::StatusCode;
use sotto_api::reason;
use sotto_rlwe::EvalError;
use sotto_runtime::RunError;
pub(crate) use sotto_service::problem::Problem;

use crate::store::StoreError;

/// Why windows cannot be read now.
const AWAY: &str = "the object store that has these windows does not answer now: try again";

/// Converts the reason why a plan cannot be run.
pub(crate) fn cannot_run(error: &RunError) -> Problem {
    Problem::unprocessable(run_reason(error), error.to_string())
}

fn run_reason(error: &RunError) -> &'static str {
    match error {
        RunError::Plan(_) => reason::INVALID_PLAN,
        RunError::Parameters => reason::WRONG_PARAMETERS,
        RunError::Inputs { .. } => reason::WRONG_INPUTS,
        RunError::MixedKeys { .. } | RunError::SameKey { .. } => reason::WRONG_KEY,
        RunError::Constant { .. } => reason::INVALID_CONSTANT,
        RunError::Transparent { .. } => reason::TRANSPARENT,
        RunError::Memory { .. } => reason::JOB_TOO_LARGE,
        RunError::Step { error, .. } => refused(error, reason::INVALID_STEP),
        RunError::Output { error, .. } => refused(error, reason::INVALID_OUTPUT),
    }
}

/// Converts the error of an input that cannot be expanded.
pub(crate) fn cannot_expand(error: &EvalError) -> Problem {
    let detail = format!("a compact input cannot be expanded: {error}");
    Problem::unprocessable(refused(error, reason::WRONG_INPUTS), detail)
}

fn refused(error: &EvalError, other: &'static str) -> &'static str {
    match error {
        EvalError::MissingKey(_) => reason::MISSING_KEY,
        EvalError::Noise { .. } | EvalError::Coarse { .. } => reason::NOISE,
        EvalError::KeyMismatch { .. } => reason::WRONG_KEY,
        EvalError::ParameterMismatch => reason::WRONG_PARAMETERS,
        EvalError::NoSpecialPrime => reason::NO_SPECIAL_PRIME,
        _ => other,
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        if let StoreError::Outdated(_) = error {
            let detail =
                "the plan has the layout of an older version, which is no longer read: make it again";
            return Self::unprocessable(reason::OUTDATED_PLAN, detail);
        }
        if let StoreError::Places(error) = error {
            return error.into();
        }
        if let StoreError::Dropped { .. } = error {
            return Self::new(StatusCode::GONE, reason::BODY_DROPPED, error.to_string());
        }
        if let StoreError::DamagedWindows { reason, .. } = &error {
            tracing::error!(%error, reason, "the store failed");
            return Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                reason::STORED_BYTES_DAMAGED,
                error.to_string(),
            );
        }
        if let StoreError::Away(_) = error {
            return Self::busy(reason::WINDOWS_AWAY, AWAY);
        }
        tracing::error!(%error, "the store failed");
        match error {
            StoreError::Objects(_) => Self::busy(reason::WINDOWS_AWAY, AWAY),
            StoreError::Damaged(_) => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                reason::STORED_BYTES_DAMAGED,
                "the stored bytes with this name are missing or damaged",
            ),
            error if error.is_full() => Self::new(
                StatusCode::INSUFFICIENT_STORAGE,
                reason::STORAGE_FULL,
                "no space is left in the store; nothing was kept",
            ),
            _ => Self::internal(),
        }
    }
}
