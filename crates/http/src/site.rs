//! Sites: addresses that requests are sent to.

use std::fmt;
use std::time::Duration;

use sotto_api::{IDEMPOTENCY_KEY, Method};
use ureq::http::{self, Response};
use ureq::{Agent, Body};
use zeroize::Zeroizing;

use crate::address::Address;
use crate::answer::{self, Received};
use crate::failure::{Cause, Failure};
use crate::request::Request;
use crate::trust::Trust;

/// Time limit for a connection.
const CONNECT: Duration = Duration::from_secs(10);

/// Limits on requests and answers.
///
/// ```
/// use std::time::Duration;
/// use sotto_http::Limits;
///
/// let limits = Limits { whole: Some(Duration::from_secs(120)), ..Limits::default() };
/// assert_eq!(limits.largest_answer, 64 << 10);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest answer in bytes.
    pub largest_answer: u64,
    /// Time limit for a request, with its answer; none by default.
    pub whole: Option<Duration>,
    /// Time limit for the first byte of an answer; none by default.
    pub first_byte: Option<Duration>,
    /// Time limit for one direction of a transfer; none by default.
    pub transfer: Option<Duration>,
    /// Longest age of an idle connection that is used again.
    pub idle: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            largest_answer: 64 << 10,
            whole: None,
            first_byte: None,
            transfer: None,
            idle: Duration::from_secs(15),
        }
    }
}

/// The text is not a token.
///
/// Example: [`Site`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a token has 16 to 256 visible ASCII characters")]
pub struct NotAToken;

/// A service at an address. Follows no redirect. Requests block the calling thread; clones share connections.
///
/// ```
/// use sotto_http::{Address, Limits, NotAToken, Site, Trust};
///
/// let address = Address::new("https://farm.example:7410")?;
/// let site = Site::with_token(address.clone(), Trust::default(), "0123456789abcdef", &Limits::default())?;
/// assert_eq!(format!("{site:?}"), r#"Site("https://farm.example:7410")"#); // no token
/// assert_eq!(Site::with_token(address, Trust::default(), "short", &Limits::default()).err(), Some(NotAToken));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Site {
    agent: Agent,
    address: Address,
    trust: Trust,
    authorization: Option<Zeroizing<String>>,
    largest_answer: u64,
}

impl Site {
    /// Names a service that asks for no token. Does not connect.
    #[must_use]
    pub fn new(address: Address, trust: Trust, limits: &Limits) -> Self {
        Self::with(address, trust, None, limits)
    }

    /// Names a service, and the token that requests carry. Does not connect.
    ///
    /// # Errors
    /// [`NotAToken`] unless the token has 16 to 256 visible ASCII characters.
    pub fn with_token(
        address: Address,
        trust: Trust,
        token: &str,
        limits: &Limits,
    ) -> Result<Self, NotAToken> {
        if !(16..=256).contains(&token.len()) || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(NotAToken);
        }
        let authorization = Zeroizing::new(format!("Bearer {token}"));
        Ok(Self::with(address, trust, Some(authorization), limits))
    }

    fn with(
        address: Address,
        trust: Trust,
        authorization: Option<Zeroizing<String>>,
        limits: &Limits,
    ) -> Self {
        let mut config = Agent::config_builder()
            // Statuses are not errors of ureq, so that problem documents can be read.
            .http_status_as_error(false)
            .max_redirects(0)
            .tls_config(trust.tls_config())
            .max_idle_age(limits.idle)
            .timeout_connect(Some(CONNECT))
            .timeout_global(limits.whole)
            .timeout_send_body(limits.transfer)
            .timeout_recv_response(limits.first_byte)
            .timeout_recv_body(limits.transfer);
        if !address.may_use_proxy(authorization.is_some()) {
            config = config.proxy(None);
        }
        Self {
            agent: config.build().into(),
            address,
            trust,
            authorization,
            largest_answer: limits.largest_answer,
        }
    }

    /// Returns the address.
    #[must_use]
    pub fn url(&self) -> &str {
        self.address.url()
    }

    /// Sends a request and reads its answer, whatever its status.
    ///
    /// # Errors
    /// [`Failure`] if no answer comes.
    pub fn send(&self, request: &Request<'_>) -> Result<Received, Failure> {
        let mut response = self.response(request).map_err(|error| self.failure(&error, None))?;
        let (status, headers) = (response.status().as_u16(), response.headers().clone());
        // One that announces more is not waited for.
        if response.body().content_length().is_some_and(|bytes| bytes > self.largest_answer) {
            let error = ureq::Error::BodyExceedsLimit(self.largest_answer);
            return Err(self.failure(&error, answer::wait(&headers)));
        }
        let body = response.body_mut().with_config().limit(self.largest_answer).read_to_vec();
        let body = body.map_err(|error| self.failure(&error, answer::wait(&headers)))?;
        Ok(Received { status, body, headers })
    }

    fn response(&self, request: &Request<'_>) -> Result<Response<Body>, ureq::Error> {
        let method = match request.method {
            Method::Get => http::Method::GET,
            Method::Put => http::Method::PUT,
            Method::Post => http::Method::POST,
            Method::Delete => http::Method::DELETE,
        };
        let mut head =
            http::Request::builder().method(method).uri(format!("{}{}", self.url(), request.target()));
        if let Some(authorization) = &self.authorization {
            head = head.header(http::header::AUTHORIZATION, authorization.as_str());
        }
        if let Some(key) = request.idempotency_key {
            head = head.header(IDEMPOTENCY_KEY, key);
        }
        if let Some(condition) = request.condition {
            let (name, value) = condition.header();
            head = head.header(name, value);
        }
        match &request.body {
            None => self.run(request.within, head.body(())?),
            Some(body) => {
                let head = head.header(http::header::CONTENT_TYPE, body.media);
                self.run(request.within, head.body(&body.bytes[..])?)
            }
        }
    }

    fn run(
        &self,
        within: Option<Duration>,
        request: http::Request<impl ureq::AsSendBody>,
    ) -> Result<Response<Body>, ureq::Error> {
        match within {
            None => self.agent.run(request),
            Some(time) => {
                let request = self.agent.configure_request(request).timeout_global(Some(time)).build();
                self.agent.run(request)
            }
        }
    }

    fn failure(&self, error: &ureq::Error, wait: Option<Duration>) -> Failure {
        let (cause, reason) = match error {
            ureq::Error::BodyExceedsLimit(limit) => (Cause::TooLong(*limit), error.to_string()),
            other => match self.trust.tls_failure(self.url(), other) {
                Some(reason) => (Cause::Tls, reason),
                None => (Cause::Away, other.to_string()),
            },
        };
        Failure { cause, reason, wait }
    }
}

impl fmt::Debug for Site {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Site").field(&self.url()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_are_headers() {
        let site = |token| {
            let address = Address::new("http://127.0.0.1").unwrap();
            Site::with_token(address, Trust::default(), token, &Limits::default())
        };
        assert!(site("0123456789abcdef").is_ok());
        for wrong in ["short", "0123456789abcdef\r\nx: y", "0123456789 abcdef", ""] {
            assert_eq!(site(wrong).err(), Some(NotAToken), "{wrong}");
        }
    }
}
