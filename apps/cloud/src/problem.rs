//! Refusals and failures as problem documents (RFC 9457).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sotto_rlwe::EvalError;
use sotto_runtime::RunError;
use sotto_wire::WireError;

use crate::store::StoreError;

/// Why a request is refused, or a job failed. `reason` is for machines and does not change; `detail` is for people.
#[derive(Clone, Debug)]
pub(crate) struct Problem {
    pub(crate) status: StatusCode,
    pub(crate) reason: &'static str,
    pub(crate) detail: String,
}

impl Problem {
    pub(crate) fn new(status: StatusCode, reason: &'static str, detail: impl Into<String>) -> Self {
        Self { status, reason, detail: detail.into() }
    }

    /// Well-formed, and yet it cannot be done.
    pub(crate) fn unprocessable(reason: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, reason, detail)
    }

    pub(crate) fn bad_request(reason: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, reason, detail)
    }

    pub(crate) fn forbidden(reason: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, reason, detail)
    }

    pub(crate) fn not_found(reason: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, reason, detail)
    }

    pub(crate) fn conflict(reason: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, reason, detail)
    }

    pub(crate) fn busy(reason: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, reason, detail)
    }

    /// A fault of the cloud's own; what it is goes to the log.
    pub(crate) fn internal() -> Self {
        let detail = "the cloud failed; its log says more";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "internal", detail)
    }
}

#[derive(Serialize)]
struct Document<'p> {
    #[serde(rename = "type")]
    kind: String,
    title: String,
    status: u16,
    detail: &'p str,
    reason: &'p str,
}

/// `wrong-key` becomes `Wrong key`.
fn title(reason: &str) -> String {
    let words = reason.replace('-', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = Document {
            kind: format!("urn:sotto:problem:{}", self.reason),
            title: title(self.reason),
            status: self.status.as_u16(),
            detail: &self.detail,
            reason: self.reason,
        };
        let mut response = (self.status, Json(document)).into_response();
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        match self.status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"owner\""));
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => {}
        }
        response
    }
}

impl From<WireError> for Problem {
    fn from(error: WireError) -> Self {
        let status = match error {
            WireError::Truncated { .. }
            | WireError::Trailing { .. }
            | WireError::Magic
            | WireError::Version(_)
            | WireError::Kind { .. }
            | WireError::Digest => StatusCode::BAD_REQUEST,
            WireError::TooLarge { .. } => StatusCode::PAYLOAD_TOO_LARGE,
            WireError::Signature => StatusCode::FORBIDDEN,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::new(status, error.name(), error.to_string())
    }
}

impl From<RunError> for Problem {
    fn from(error: RunError) -> Self {
        Self::unprocessable(run_reason(&error), error.to_string())
    }
}

fn run_reason(error: &RunError) -> &'static str {
    match error {
        RunError::Plan(_) => "invalid-plan",
        RunError::Parameters => "wrong-parameters",
        RunError::Inputs { .. } => "wrong-inputs",
        RunError::MixedKeys { .. } | RunError::SameKey { .. } => "wrong-key",
        RunError::Constant { .. } => "invalid-constant",
        RunError::Step { error, .. } => match error {
            EvalError::MissingKey(_) => "missing-key",
            EvalError::Noise { .. } => "noise",
            EvalError::KeyMismatch { .. } => "wrong-key",
            EvalError::ParameterMismatch => "wrong-parameters",
            EvalError::NoSpecialPrime => "no-special-prime",
            _ => "invalid-step",
        },
    }
}

impl From<StoreError> for Problem {
    fn from(error: StoreError) -> Self {
        if let StoreError::Outdated(_) = error {
            let detail = "the plan is an older program's, which are not read any more: make it again";
            return Self::unprocessable("outdated-plan", detail);
        }
        tracing::error!(%error, "the store failed");
        match error {
            StoreError::Damaged(_) => Self::new(
                StatusCode::INTERNAL_SERVER_ERROR,
                "stored-bytes-damaged",
                "what is stored under this name is missing or damaged",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_error_keeps_its_name_and_gets_a_status() {
        let problem = Problem::from(WireError::TooLarge { limit: 3, found: 4 });
        assert_eq!((problem.status.as_u16(), problem.reason), (413, "too-large"));
        assert_eq!(title(problem.reason), "Too large");
        assert_eq!(Problem::from(WireError::Signature).status.as_u16(), 403);
        assert_eq!(Problem::from(WireError::Residue { limb: 1 }).status.as_u16(), 422);
    }
}
