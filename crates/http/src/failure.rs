//! Requests without an answer.

use std::time::Duration;

/// Reason why a request has no answer.
///
/// ```
/// use sotto_http::{Address, Cause, Limits, Request, Site, Trust};
/// use sotto_api::health::FetchHealth;
///
/// // Nobody listens there.
/// let site = Site::new(Address::new("http://127.0.0.1:9")?, Trust::default(), &Limits::default());
/// let failure = site.send(&Request::to::<FetchHealth>([], &(), &())).expect_err("no answer");
/// assert_eq!((failure.cause, failure.wait), (Cause::Away, None));
/// # Ok::<(), sotto_http::NotAnAddress>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    /// The kind of failure.
    pub cause: Cause,
    /// The explanation, for people.
    pub reason: String,
    /// The wait that the service asks for, if an answer began to come.
    pub wait: Option<Duration>,
}

/// The kind of a failure.
///
/// Example: [`Failure`]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The TLS connection failed, or the certificate is not accepted: nothing was sent. The reason names a remedy.
    Tls,
    /// The answer has more than this many bytes.
    TooLong(u64),
    /// The service cannot be reached, or the connection broke or timed out. The service may have carried out the
    /// request.
    Away,
}
