//! HTTP requests to a recryptor.

use std::net::IpAddr;
use std::time::Duration;

use serde_json::Value;
use sotto_trust::Trust;
use ureq::Agent;
use ureq::http::Uri;
use zeroize::Zeroizing;

use crate::error::ConnectError;

/// Maximum bytes of an answer: 256 ciphertexts of 1,024 bytes with their framing fit.
pub(crate) const LARGEST_ANSWER: u64 = 1 << 20;
/// Maximum characters shown of a text from the server.
const LONGEST_TEXT: usize = 400;
const CONNECT: Duration = Duration::from_secs(10);
/// Maximum time for one request.
pub(crate) const WHOLE: Duration = Duration::from_secs(120);

/// The address of a recryptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    url: String,
    /// True if the address is on this machine.
    is_loopback: bool,
    trust: Trust,
}

impl Address {
    /// Accepts `https://host:port`, or `http://host:port` on this machine. Over plain HTTP to another machine, anyone
    /// on the network path could read the token.
    ///
    /// # Errors
    /// [`ConnectError::Address`] and [`ConnectError::PlainHttp`]
    pub fn new(url: &str) -> Result<Self, ConnectError> {
        let address = Self::with_plain_http(url)?;
        let is_plain = !address.url.to_ascii_lowercase().starts_with("https:");
        if is_plain && !address.is_loopback {
            return Err(ConnectError::PlainHttp(url.to_owned()));
        }
        Ok(address)
    }

    /// Like [`Address::new`], but also accepts `http://host:port` of any machine. Only for a network under one's own
    /// control.
    ///
    /// # Errors
    /// [`ConnectError::Address`]
    pub fn with_plain_http(url: &str) -> Result<Self, ConnectError> {
        let wrong = || ConnectError::Address(url.to_owned());
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let host = uri.host().ok_or_else(wrong)?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.query().is_some() {
            return Err(wrong());
        }
        Ok(Self {
            url: url.trim_end_matches('/').to_owned(),
            is_loopback: is_loopback(host),
            trust: Trust::default(),
        })
    }

    /// Accepts only certificates of these authorities.
    #[must_use]
    pub fn trusting(self, trust: Trust) -> Self {
        Self { trust, ..self }
    }
}

/// The connection to a recryptor, with the caller's token.
pub(crate) struct Site {
    agent: Agent,
    url: String,
    trust: Trust,
    authorization: Zeroizing<String>,
}

/// An answer. If a request fails without one, the recryptor may or may not have received the request.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) bytes: Vec<u8>,
}

impl Site {
    pub(crate) fn new(address: &Address, token: &str) -> Result<Self, ConnectError> {
        if !(16..=256).contains(&token.len()) || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConnectError::Token);
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .tls_config(address.trust.tls_config())
            .timeout_connect(Some(CONNECT));
        if address.is_loopback {
            // Loopback traffic must not go through a proxy: that is another machine.
            config = config.proxy(None);
        }
        Ok(Self {
            agent: config.build().into(),
            url: address.url.clone(),
            trust: address.trust.clone(),
            authorization: Zeroizing::new(format!("Bearer {token}")),
        })
    }

    /// Returns the reason why a request has no answer.
    pub(crate) fn reason(&self, error: &ureq::Error) -> String {
        self.trust.explain(&self.url, error)
    }

    /// Sends GET and waits for the answer for `longest`, at most [`WHOLE`].
    pub(crate) fn fetch(&self, path: &str, longest: Duration) -> Result<Answer, ureq::Error> {
        let request = self.agent.get(format!("{}{path}", self.url));
        let request = request.config().timeout_global(Some(longest.min(WHOLE))).build();
        read(request.header("Authorization", self.authorization.as_str()).call()?)
    }

    /// Sends POST and waits for the answer for `longest`, at most [`WHOLE`].
    pub(crate) fn post(&self, path: &str, frame: &[u8], longest: Duration) -> Result<Answer, ureq::Error> {
        let request = self.agent.post(format!("{}{path}", self.url));
        let request = request.config().timeout_global(Some(longest.min(WHOLE))).build();
        let request = request.header("Authorization", self.authorization.as_str());
        read(request.header("Content-Type", "application/octet-stream").send(frame)?)
    }
}

fn read(mut response: ureq::http::Response<ureq::Body>) -> Result<Answer, ureq::Error> {
    let status = response.status().as_u16();
    let bytes = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec()?;
    Ok(Answer { status, bytes })
}

impl Answer {
    /// Returns a field of a problem document; empty if there is none. Safe to print on a terminal: control characters
    /// become spaces, and long texts are truncated.
    pub(crate) fn problem(&self, field: &str) -> String {
        let document: Value = serde_json::from_slice(&self.bytes).unwrap_or_default();
        let text = document[field].as_str().unwrap_or_default();
        text.chars().take(LONGEST_TEXT).map(|c| if c.is_control() { ' ' } else { c }).collect()
    }

    /// Returns a number from an answer that is a JSON object.
    pub(crate) fn number(&self, field: &str) -> Option<u64> {
        serde_json::from_slice::<Value>(&self.bytes).ok()?[field].as_u64()
    }
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_other_end_says_cannot_take_the_terminal() {
        let detail = format!("no\u{1b}]0;title\u{7}{}", "x".repeat(1000));
        let bytes = serde_json::json!({ "detail": detail }).to_string().into_bytes();
        let answer = Answer { status: 400, bytes };
        let shown = answer.problem("detail");
        assert!(shown.starts_with("no ]0;title x") && shown.chars().count() == LONGEST_TEXT, "{shown:?}");
        assert_eq!(answer.problem("reason"), "");
    }

    #[test]
    fn what_is_no_address_and_what_is_no_token_is_refused() {
        assert_eq!(Address::new("http://127.0.0.1:80/").map(|it| it.url), Ok("http://127.0.0.1:80".into()));
        for wrong in ["", "example.org", "ftp://example.org", "http://", "http://a/?b=c"] {
            assert_eq!(Address::new(wrong), Err(ConnectError::Address(wrong.into())), "{wrong}");
        }
        let here = Address::new("http://[::1]").unwrap();
        assert!(Site::new(&here, "0123456789abcdef").is_ok());
        for wrong in ["short", "0123456789abcdef\r\nx: y", ""] {
            assert_eq!(Site::new(&here, wrong).err(), Some(ConnectError::Token), "{wrong}");
        }
        assert!(["localhost", "127.1.2.3", "[::1]"].into_iter().all(is_loopback));
        assert!(!["10.0.0.1", "localhost.example.org"].into_iter().any(is_loopback));
    }

    #[test]
    fn a_token_leaves_this_machine_over_plain_http_only_if_told() {
        for plain in [
            "http://10.0.0.1:7420",
            "HTTP://example.org",
            "http://localhost.example.org",
            "http://u@127.0.0.1@a.org",
        ] {
            let refused = Address::new(plain).unwrap_err();
            assert!(matches!(refused, ConnectError::PlainHttp(_) | ConnectError::Address(_)), "{plain}");
        }
        assert_eq!(
            Address::new("http://10.0.0.1:7420"),
            Err(ConnectError::PlainHttp("http://10.0.0.1:7420".into()))
        );
        assert!(Address::with_plain_http("http://10.0.0.1:7420").is_ok());
        for fine in ["https://example.org", "HTTPS://example.org", "http://localhost:1", "http://127.0.0.1"] {
            assert!(Address::new(fine).is_ok(), "{fine}");
        }
    }
}
