//! Requests over HTTP, and their answers.

use std::net::IpAddr;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use sotto_trust::Trust;
use ureq::http::{Response, Uri};
use ureq::{Agent, Body};
use zeroize::Zeroizing;

use crate::error::CloudError;
use crate::interrupt::Interrupt;
use crate::text::shown;

/// Largest answer in bytes: that of the largest envelope.
const LARGEST_ANSWER: u64 = 64 << 20;
/// Longest reference to the next page, in bytes.
const LONGEST_REFERENCE: usize = 2048;
const CONNECT: Duration = Duration::from_secs(10);
/// Time limit for the first byte of an answer. The cloud reads and checks uploads before it answers: 256 MiB of keys
/// take some seconds.
const FIRST_BYTE: Duration = Duration::from_secs(120);
/// Time limit for one direction of a transfer: the largest answer at 1 Mbit/s.
const TRANSFER: Duration = Duration::from_secs(600);
/// Longest age of an idle connection. The cloud closes idle ones after `header_seconds`, 10 by default.
const IDLE: Duration = Duration::from_secs(5);

const FRAME: &str = "application/octet-stream";
const JSON: &str = "application/json";

/// The cloud's address and the owner's token.
pub(crate) struct Site {
    agent: Agent,
    trust: Trust,
    pub(crate) interrupt: Interrupt,
    pub(crate) url: String,
    authorization: Zeroizing<String>,
}

/// A successful answer.
pub(crate) struct Answer {
    what: &'static str,
    pub(crate) bytes: Vec<u8>,
    /// The query of the next page: `?…`.
    pub(crate) next: Option<String>,
    /// The computing time in microseconds; 0 if the cloud does not report it.
    pub(crate) evaluate_us: u64,
    /// The frame of a transcript; empty if there is none.
    pub(crate) transcript: Vec<u8>,
}

/// The fields of a problem document (RFC 9457) that the client uses.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Problem {
    #[serde(rename = "type")]
    kind: Option<String>,
    title: Option<String>,
    detail: Option<String>,
}

impl Site {
    pub(crate) fn new(
        url: &str,
        token: &str,
        trust: &Trust,
        allow_plain_http: bool,
    ) -> Result<Self, CloudError> {
        if !(16..=256).contains(&token.len()) || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(CloudError::Token);
        }
        let wrong = || CloudError::Address(shown(url));
        let uri: Uri = url.parse().map_err(|_| wrong())?;
        let host = uri.host().ok_or_else(wrong)?;
        let is_plain = match uri.scheme_str() {
            Some("http") => true,
            Some("https") => false,
            _ => return Err(wrong()),
        };
        let has_user = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
        if uri.query().is_some() || has_user {
            return Err(wrong());
        }
        if is_plain && !is_loopback(host) && !allow_plain_http {
            return Err(CloudError::PlainHttp(shown(url)));
        }
        let mut config = Agent::config_builder()
            // Statuses are not errors of ureq, so that problem documents can be read.
            .http_status_as_error(false)
            .max_redirects(0)
            .tls_config(trust.tls_config())
            .max_idle_age(IDLE)
            .timeout_connect(Some(CONNECT))
            .timeout_send_body(Some(TRANSFER))
            .timeout_recv_response(Some(FIRST_BYTE))
            .timeout_recv_body(Some(TRANSFER));
        if is_plain || is_loopback(host) {
            // A proxy is another machine; without TLS it would see the token.
            config = config.proxy(None);
        }
        Ok(Self {
            agent: config.build().into(),
            trust: trust.clone(),
            interrupt: Interrupt::default(),
            url: url.trim_end_matches('/').to_owned(),
            authorization: Zeroizing::new(format!("Bearer {token}")),
        })
    }

    pub(crate) fn fetch(&self, what: &'static str, path: &str) -> Result<Answer, CloudError> {
        self.proceed(what)?;
        let request = self.agent.get(format!("{}{path}", self.url));
        let request = request.header("Authorization", self.authorization.as_str());
        self.read(what, request.call())
    }

    pub(crate) fn delete(&self, what: &'static str, path: &str) -> Result<Answer, CloudError> {
        self.proceed(what)?;
        let request = self.agent.delete(format!("{}{path}", self.url));
        let request = request.header("Authorization", self.authorization.as_str());
        self.read(what, request.call())
    }

    pub(crate) fn put_frame(
        &self,
        what: &'static str,
        path: &str,
        frame: &[u8],
    ) -> Result<Answer, CloudError> {
        self.send(what, self.agent.put(format!("{}{path}", self.url)), FRAME, frame)
    }

    pub(crate) fn put_json(
        &self,
        what: &'static str,
        path: &str,
        body: &serde_json::Value,
    ) -> Result<Answer, CloudError> {
        let request = self.agent.put(format!("{}{path}", self.url));
        self.send(what, request, JSON, body.to_string().as_bytes())
    }

    /// Posts under an idempotency key. Sends once more if the connection breaks; the cloud recognises the repetition.
    pub(crate) fn post_json(
        &self,
        what: &'static str,
        path: &str,
        body: &serde_json::Value,
    ) -> Result<Answer, CloudError> {
        let key = random_key()?;
        let body = body.to_string();
        let post = || {
            let request = self.agent.post(format!("{}{path}", self.url)).header("Idempotency-Key", &key);
            self.send(what, request, JSON, body.as_bytes())
        };
        match post() {
            Err(CloudError::Away { .. }) => post(),
            answered => answered,
        }
    }

    fn send(
        &self,
        what: &'static str,
        request: ureq::RequestBuilder<ureq::typestate::WithBody>,
        kind: &str,
        body: &[u8],
    ) -> Result<Answer, CloudError> {
        self.proceed(what)?;
        let request = request.header("Authorization", self.authorization.as_str());
        self.read(what, request.content_type(kind).send(body))
    }

    fn read(
        &self,
        what: &'static str,
        response: Result<Response<Body>, ureq::Error>,
    ) -> Result<Answer, CloudError> {
        let mut response = response.map_err(|error| self.failure(what, &error))?;
        let status = response.status();
        let next = next_page(&response);
        let evaluate_us = response.headers().get("sotto-evaluate-us");
        let evaluate_us = evaluate_us.and_then(|time| time.to_str().ok()?.parse().ok()).unwrap_or_default();
        let transcript = response.headers().get("sotto-transcript");
        let transcript = transcript.and_then(|frame| hex::decode(frame.as_bytes()).ok()).unwrap_or_default();
        let bytes = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec();
        let bytes = bytes.map_err(|error| self.failure(what, &error))?;
        if status.is_success() {
            return Ok(Answer { what, bytes, next, evaluate_us, transcript });
        }
        let problem: Problem = serde_json::from_slice(&bytes).unwrap_or_default();
        let detail = problem.detail.or(problem.title);
        Err(CloudError::Refused {
            what,
            status: status.as_u16(),
            kind: shown(&problem.kind.unwrap_or_default()),
            detail: detail.map_or_else(|| "no reason given".to_owned(), |detail| shown(&detail)),
        })
    }

    /// Checks for an interruption. Every request does so first.
    fn proceed(&self, what: &'static str) -> Result<(), CloudError> {
        if self.interrupt.is_due() { Err(CloudError::Interrupted { what }) } else { Ok(()) }
    }

    fn failure(&self, what: &'static str, error: &ureq::Error) -> CloudError {
        match error {
            ureq::Error::BodyExceedsLimit(limit) => CloudError::TooLong { what, limit: *limit },
            other => match self.trust.tls_failure(&self.url, other) {
                Some(reason) => CloudError::Tls(shown(&reason)),
                None => CloudError::Away { url: self.url.clone(), reason: shown(&other.to_string()) },
            },
        }
    }
}

impl Answer {
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, CloudError> {
        serde_json::from_slice(&self.bytes)
            .map_err(|error| CloudError::Unreadable { what: self.what, reason: shown(&error.to_string()) })
    }
}

/// Returns a random idempotency key: 32 hexadecimal digits.
fn random_key() -> Result<String, CloudError> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(|_| CloudError::Randomness)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Reads `Link: <?query>; rel="next"` (RFC 8288). Ignores other forms: the client follows no link to another resource.
fn next_page(response: &Response<Body>) -> Option<String> {
    response.headers().get_all("link").iter().find_map(|link| {
        let (reference, parameters) = link.to_str().ok()?.strip_prefix('<')?.split_once('>')?;
        let is_next = parameters.split(';').any(|parameter| parameter.trim() == "rel=\"next\"");
        let is_query = reference.starts_with('?') && reference.bytes().all(|byte| byte.is_ascii_graphic());
        (is_next && is_query && reference.len() <= LONGEST_REFERENCE && !reference.contains('#'))
            .then(|| reference.to_owned())
    })
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "0123456789abcdef";

    #[test]
    fn addresses_are_servers() {
        let url = |url| Site::new(url, TOKEN, &Trust::default(), false).map(|site| site.url);
        assert_eq!(url("http://127.0.0.1:80/"), Ok("http://127.0.0.1:80".to_owned()));
        assert_eq!(url("https://example.org/sotto"), Ok("https://example.org/sotto".to_owned()));
        for wrong in ["", "example.org", "ftp://example.org", "http://", "/v1", "http://127.0.0.1/?b=c"] {
            assert_eq!(url(wrong), Err(CloudError::Address(wrong.into())), "{wrong}");
        }
        assert_eq!(
            url("https://u@example.org"),
            Err(CloudError::Address("https://u@example.org".into())),
            "credentials in an address would be shown in errors"
        );
    }

    #[test]
    fn a_token_leaves_this_machine_over_plain_http_only_if_allowed() {
        for plain in ["http://10.0.0.1:7410", "HTTP://example.org", "http://localhost.example.org"] {
            assert_eq!(
                Site::new(plain, TOKEN, &Trust::default(), false).err(),
                Some(CloudError::PlainHttp(plain.to_owned())),
                "{plain}"
            );
            assert!(Site::new(plain, TOKEN, &Trust::default(), true).is_ok(), "{plain}");
        }
        for fine in ["https://example.org", "HTTPS://a.org", "http://localhost:1", "http://[::1]:7410"] {
            assert!(Site::new(fine, TOKEN, &Trust::default(), false).is_ok(), "{fine}");
        }
    }

    #[test]
    fn tokens_are_headers() {
        for wrong in ["short", "0123456789abcdef\r\nx: y", "0123456789 abcdef", ""] {
            assert_eq!(
                Site::new("http://127.0.0.1", wrong, &Trust::default(), false).err(),
                Some(CloudError::Token),
                "{wrong}"
            );
        }
    }

    #[test]
    fn only_a_query_is_a_next_page() {
        let next = |link: &str| {
            let response = Response::builder().header("link", link).body(Body::builder().data(""));
            next_page(&response.unwrap())
        };
        assert_eq!(next(r#"<?after=a/b/3>; rel="next""#), Some("?after=a/b/3".to_owned()));
        let long = format!("<?{}>; rel=\"next\"", "a".repeat(LONGEST_REFERENCE));
        for other in [
            r#"<?after=3>; rel="prev""#,
            r#"<http://example.org/?after=3>; rel="next""#,
            r#"</v1/devices?after=3>; rel="next""#,
            r#"<?after=3 HTTP/1.1>; rel="next""#,
            "?after=3",
            &long,
        ] {
            assert_eq!(next(other), None, "{other}");
        }
    }
}
