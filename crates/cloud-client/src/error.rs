//! Errors of requests to a cloud.

use sotto_api::PROBLEM_TYPE;

/// The reason why a request failed. Texts from the cloud are stripped of control characters and cut after 400
/// characters.
///
/// ```
/// # mod stand_in { include!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/stand_in/mod.rs")); }
/// use sotto_cloud_client::CloudError;
/// # let problem = r#"{"type": "urn:sotto:problem:queue-full", "detail": "16 jobs wait: try again later"}"#;
/// # let (cloud, _) = stand_in::serve(vec![stand_in::answer(503, "", problem)]);
///
/// let error: CloudError = cloud.submit("plan", &["window"]).unwrap_err();
/// assert_eq!(error.refusal(), Some("queue-full"));
/// assert!(error.is_temporary(), "the same request may succeed later");
/// assert_eq!(error.to_string(), "the cloud refused the job (503): 16 jobs wait: try again later");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CloudError {
    /// The URL is not the address of a server.
    #[error("{0:?} is not an address of the form http://host:port or https://host:port")]
    Address(String),
    /// The URL uses plain HTTP to another machine.
    #[error(
        "{0:?} is plain HTTP to another machine, which shows the owner's token to the network: use https, or allow plain HTTP if \
         the network is yours"
    )]
    PlainHttp(String),
    /// The token does not have 16 to 256 visible ASCII characters.
    #[error("the owner's token must have 16 to 256 visible ASCII characters")]
    Token,
    /// The operating system provides no randomness for an idempotency key.
    #[error("the operating system gives no randomness")]
    Randomness,
    /// The cloud cannot be reached, or the connection broke or timed out. The cloud may have executed the request.
    #[error("the cloud at {url} cannot be reached: {reason}")]
    Away {
        /// The cloud's address.
        url: String,
        /// The failure of the connection.
        reason: String,
    },
    /// The TLS connection failed, or the cloud's certificate is not accepted. Nothing was sent.
    #[error("{0}")]
    Tls(String),
    /// The cloud refused the request.
    #[error("the cloud refused {what} ({status}): {detail}")]
    Refused {
        /// The subject of the request, e.g. "the plan".
        what: &'static str,
        /// HTTP status.
        status: u16,
        /// The problem document's `type`, e.g. `urn:sotto:problem:missing-key`; empty if there is none.
        kind: String,
        /// The cloud's explanation.
        detail: String,
    },
    /// The answer does not have the expected form.
    #[error("the cloud's answer about {what} cannot be read: {reason}")]
    Unreadable {
        /// The subject of the request.
        what: &'static str,
        /// The first fault.
        reason: String,
    },
    /// The answer is longer than the client accepts.
    #[error("the cloud's answer about {what} has more than {limit} bytes")]
    TooLong {
        /// The subject of the request.
        what: &'static str,
        /// The limit in bytes.
        limit: u64,
    },
    /// The job ended without outputs.
    #[error("job {job} failed: {reason}")]
    JobFailed {
        /// The job's id.
        job: String,
        /// The cloud's explanation.
        reason: String,
    },
    /// The caller's [`Interrupt`](crate::Interrupt) ended the work before this request. Jobs in the cloud continue.
    #[error("interrupted before the request about {what}; the same question may be asked again")]
    Interrupted {
        /// The subject of the request that was not sent.
        what: &'static str,
    },
    /// The caller stopped waiting. The job continues.
    #[error("stopped waiting for job {job}, which goes on")]
    Cancelled {
        /// The job's id.
        job: String,
    },
}

impl CloudError {
    /// Returns the [reason](sotto_api::reason) of a refusal, e.g. `missing-key`: the last part of `kind`. Returns None
    /// for other errors.
    #[must_use]
    pub fn refusal(&self) -> Option<&str> {
        match self {
            Self::Refused { kind, .. } => kind.strip_prefix(PROBLEM_TYPE),
            _ => None,
        }
    }

    /// Returns true if the same request may succeed later, because the cloud was unreachable, busy or stopping.
    #[must_use]
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Away { .. } => true,
            Self::Refused { status, .. } => matches!(status, 408 | 425 | 429 | 502..=504),
            _ => false,
        }
    }
}
