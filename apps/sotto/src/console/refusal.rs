//! Refusals: a status, and a body that the page shows.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sotto_owner::{OwnerError, SecretsError};

/// The body of a refusal.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Refusal {
    #[serde(skip)]
    status: u16,
    error: String,
    exit_code: u8,
    /// The character of the question at which the error is, counted from 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    column: Option<usize>,
    /// The reason without its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

impl Refusal {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self { status: status.as_u16(), error: error.into(), exit_code: 2, column: None, reason: None }
    }

    pub(super) fn no_session() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "there is no session: give a code of `sotto console --code`")
    }

    pub(super) fn read_only() -> Self {
        Self::new(StatusCode::FORBIDDEN, "this console only reads: start it without --read-only")
    }
}

/// Returns the place in a question, counted from 0, and the reason of an error that begins with `column N:`.
fn placed(error: &str) -> Option<(usize, String)> {
    let (column, reason) = error.strip_prefix("column ")?.split_once(": ")?;
    let drawn = reason.find("\n    ").unwrap_or(reason.len());
    Some((column.parse::<usize>().ok()?.checked_sub(1)?, reason[..drawn].to_owned()))
}

impl From<OwnerError> for Refusal {
    fn from(error: OwnerError) -> Self {
        let exit_code = error.exit_code();
        let status = match &error {
            OwnerError::NotDeclared { .. } => StatusCode::NOT_FOUND,
            OwnerError::Cloud(_) => StatusCode::BAD_GATEWAY,
            // The page asks for the passphrase.
            OwnerError::Secrets(SecretsError::Locked { .. }) => StatusCode::LOCKED,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        let error = error.to_string();
        let (column, reason) = placed(&error).unzip();
        Self { status: status.as_u16(), error, exit_code, column, reason }
    }
}

impl From<anyhow::Error> for Refusal {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<OwnerError>() {
            Ok(error) => error.into(),
            Err(error) => Self::new(StatusCode::UNPROCESSABLE_ENTITY, format!("{error:#}")),
        }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let status = StatusCode::from_u16(self.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        (status, Json(self)).into_response()
    }
}

#[cfg(test)]
mod tests {
    use sotto_owner::question::Question;

    use super::*;

    #[test]
    fn an_error_of_a_question_tells_its_place() {
        let error = "mean(x), mena(y) by day".parse::<Question>().unwrap_err();
        let (column, reason) = placed(&error.to_string()).unwrap();
        assert_eq!((column, error.column), (9, 10));
        assert_eq!(reason, error.kind.to_string());
        assert_eq!(placed("the cloud is away"), None);
    }
}
