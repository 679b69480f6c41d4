//! Refusals and failures as problem documents (RFC 9457).

use axum::Json;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use sotto_wire::WireError;

/// Reason why a request is refused or a job failed. `reason` is for programs and stable; `detail` is for people.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The HTTP status.
    pub status: StatusCode,
    /// A short stable name.
    pub reason: &'static str,
    /// The explanation; never contains a body, a token or decrypted data.
    pub detail: String,
}

impl Problem {
    /// Creates a problem with any status.
    pub fn new(status: StatusCode, reason: &'static str, detail: impl Into<String>) -> Self {
        Self { status, reason, detail: detail.into() }
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

/// Makes a title of a reason: `wrong-key` becomes `Wrong key`.
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
        assert_eq!((problem.status.as_u16(), problem.reason), (413, "too-large"));
        assert_eq!(title(problem.reason), "Too large");
        assert_eq!(Problem::from(WireError::Signature).status.as_u16(), 403);
        assert_eq!(Problem::from(WireError::Residue { limb: 1 }).status.as_u16(), 422);
    }
}
