//! Converts errors of runs and of the store to problem documents.

use axum::http::StatusCode;
use sotto_rlwe::EvalError;
use sotto_runtime::RunError;
pub(crate) use sotto_service::problem::Problem;

use crate::store::StoreError;

/// Converts the reason why a plan cannot be run.
pub(crate) fn cannot_run(error: &RunError) -> Problem {
    Problem::unprocessable(run_reason(error), error.to_string())
}

fn run_reason(error: &RunError) -> &'static str {
    match error {
        RunError::Plan(_) => "invalid-plan",
        RunError::Parameters => "wrong-parameters",
        RunError::Inputs { .. } => "wrong-inputs",
        RunError::MixedKeys { .. } | RunError::SameKey { .. } => "wrong-key",
        RunError::Constant { .. } => "invalid-constant",
        RunError::Transparent { .. } => "transparent",
        RunError::Memory { .. } => "job-too-large",
        RunError::Step { error, .. } => refused(error, "invalid-step"),
        RunError::Output { error, .. } => refused(error, "invalid-output"),
    }
}

/// Converts the error of an input that cannot be expanded.
pub(crate) fn cannot_expand(error: &EvalError) -> Problem {
    let detail = format!("a compact input cannot be expanded: {error}");
    Problem::unprocessable(refused(error, "wrong-inputs"), detail)
}

fn refused(error: &EvalError, other: &'static str) -> &'static str {
    match error {
        EvalError::MissingKey(_) => "missing-key",
        EvalError::Noise { .. } | EvalError::Coarse { .. } => "noise",
        EvalError::KeyMismatch { .. } => "wrong-key",
        EvalError::ParameterMismatch => "wrong-parameters",
        EvalError::NoSpecialPrime => "no-special-prime",
        _ => other,
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        if let StoreError::Outdated(_) = error {
            let detail =
                "the plan has the layout of an older version, which is no longer read: make it again";
            return Self::unprocessable("outdated-plan", detail);
        }
        tracing::error!(%error, "the store failed");
        match error {
            StoreError::Damaged(_) => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "stored-bytes-damaged",
                "the stored bytes with this name are missing or damaged",
            ),
            error if error.is_full() => Self::new(
                StatusCode::INSUFFICIENT_STORAGE,
                "storage-full",
                "no space is left in the store; nothing was kept",
            ),
            _ => Self::internal(),
        }
    }
}
