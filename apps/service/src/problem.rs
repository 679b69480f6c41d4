//! Refusals and failures as problem documents (RFC 9457).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use sotto_api::{PROBLEM, reason};
use sotto_wire::WireError;

use crate::sender::{Known, Refusal};

/// Reason why a request is refused or a job failed. `reason` is for programs and stable; `detail` is for people.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The HTTP status.
    pub status: StatusCode,
    /// A short stable name: one of [`sotto_api::reason`].
    pub reason: &'static str,
    /// The explanation; never contains a body, a token or decrypted data.
    pub detail: String,
    /// True if the sender has proved who it is.
    known: bool,
}

impl Problem {
    /// Creates a problem with any status.
    pub fn new(status: StatusCode, reason: &'static str, detail: impl Into<String>) -> Self {
        Self { status, reason, detail: detail.into(), known: false }
    }

    /// Says that the sender has proved who it is: the refusal has a line of the log. Those of others are counted.
    #[must_use]
    pub fn of_known(self) -> Self {
        Self { known: true, ..self }
    }

    /// 422: the request is well-formed but cannot be carried out.
    pub fn unprocessable(reason: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, reason, detail)
    }

    /// 400: the request is not well-formed.
    pub fn bad_request(reason: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, reason, detail)
    }

    /// 403: the sender may not do this.
    pub fn forbidden(reason: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, reason, detail)
    }

    /// 404: nothing has this name.
    pub fn not_found(reason: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, reason, detail)
    }

    /// 409: the request conflicts with existing data.
    pub fn conflict(reason: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, reason, detail)
    }

    /// 503: temporarily impossible.
    pub fn busy(reason: &'static str, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::SERVICE_UNAVAILABLE, reason, detail)
    }

    /// 500: a fault of the service itself; the log has the cause.
    pub fn internal() -> Self {
        let detail = "the service failed; its log says more";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, reason::INTERNAL, detail)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let document = sotto_api::Problem::new(self.status.as_u16(), self.reason, self.detail);
        let mut response = (self.status, Json(document)).into_response();
        response.extensions_mut().insert(Refusal(self.reason));
        if self.known {
            response.extensions_mut().insert(Known);
        }
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(PROBLEM));
        match self.status {
            StatusCode::UNAUTHORIZED => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"sotto\""));
            }
            StatusCode::SERVICE_UNAVAILABLE => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            StatusCode::TOO_MANY_REQUESTS => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("5"));
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
            WireError::Signature | WireError::UnknownStream(_) => StatusCode::FORBIDDEN,
            _ => StatusCode::UNPROCESSABLE_ENTITY,
        };
        Self::new(status, error.name(), error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wire_error_keeps_its_name_and_gets_a_status() {
        let problem = Problem::from(WireError::TooLarge { limit: 3, found: 4 });
        assert_eq!((problem.status.as_u16(), problem.reason), (413, reason::TOO_LARGE));
        assert_eq!(Problem::from(WireError::Signature).status.as_u16(), 403);
        assert_eq!(Problem::from(WireError::Residue { limb: 1 }).status.as_u16(), 422);
    }
}
