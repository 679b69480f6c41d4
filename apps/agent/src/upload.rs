//! One attempt to send a message to the cloud.

use std::net::IpAddr;
use std::time::Duration;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use sotto_trust::Trust;
use sotto_wire::{PROBLEM_TYPE, is_final_refusal, message_digest};
use ureq::http::{Response, Uri};
use ureq::{Agent, Body};

/// Maximum bytes of a receipt or a problem document.
const LARGEST_ANSWER: u64 = 64 << 10;
/// Maximum characters of a message's id in the cloud.
const LONGEST_ID: usize = 256;
/// Maximum characters kept of a text in a problem document.
const LONGEST_TEXT: usize = 400;
const FRAME: &str = "application/octet-stream";
const PROBLEM: &str = "application/problem+json";
/// The problem reason for windows that the owner has deleted.
const FORGOTTEN: &str = "forgotten";
/// The problem reason for too many bytes.
const TOO_LARGE: &str = "too-large";
/// Problem reasons of a cloud that does not know groups: it rejects their frame or the length of their key.
const WITHOUT_GROUPS: [&str; 3] = ["not-a-frame", "unknown-version", "invalid-idempotency-key"];
/// Problem reasons that the owner resolves by registering the device. Clouds before `not-admitted` say `unknown-device`
/// and `bad-signature`.
const UNREGISTERED: [&str; 8] = [
    "not-admitted",
    "unknown-device",
    "device-revoked",
    "bad-signature",
    "wrong-key",
    "wrong-parameters",
    "unknown-parameters",
    "unknown-stream",
];
const CONNECT: Duration = Duration::from_secs(10);
const WHOLE_UPLOAD: Duration = Duration::from_secs(120);

/// The cloud's address. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Cloud {
    agent: Agent,
    address: String,
    trust: Trust,
}

/// The text is not an HTTP address.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an address of the form http://host:port or https://host:port")]
pub struct NotAnAddress(String);

/// Outcome of an attempt to send a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The cloud has the message: its receipt names the message's digest.
    Stored(Receipt),
    /// The cloud refuses the message for good, in a problem document of its own.
    Refused(Refusal),
    /// The owner has deleted the windows of this time.
    Forgotten,
    /// The cloud may take the message later.
    Later(Later),
}

/// Outcome of an attempt to send a group of windows. The cloud stores either all of its windows or none.
#[derive(Clone, Debug, PartialEq)]
pub enum GroupAnswer {
    /// The cloud has all windows; their receipts, in order.
    Stored(Vec<Receipt>),
    /// The cloud's version does not know groups.
    Unknown,
    /// The group has too many bytes.
    TooLarge,
    /// A window prevents the group, for this reason. Send each window alone to learn which one.
    Refused(String),
    /// The cloud may take the group later.
    Later(Later),
}

/// Reason to repeat an attempt.
#[derive(Clone, Debug, PartialEq)]
pub struct Later {
    /// The reason, for people.
    pub reason: String,
    /// The wait that the cloud asks for, if any.
    pub wait: Option<Duration>,
    /// True if the cloud does not know the device or its key: the owner has to register it.
    pub unregistered: bool,
}

impl Later {
    fn new(reason: impl Into<String>, wait: Option<Duration>) -> Self {
        Self { reason: reason.into(), wait, unregistered: false }
    }
}

/// The position of a stream in the cloud.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
pub struct Position {
    /// The sequence number that the stream's next window may have.
    pub next: u64,
    /// The frame of the last window's signed header, in hexadecimal.
    #[serde(default)]
    pub signed_header: Option<String>,
    /// The owner has deleted the windows that ended before this time: milliseconds since 1970.
    #[serde(default)]
    pub forgotten_until: Option<i64>,
}

/// The newest window of a stream in the cloud.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub struct Newest {
    /// The end of the window in milliseconds since 1970; `None` if there is no window.
    #[serde(default)]
    pub newest_end: Option<i64>,
}

/// Outcome of a question about a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked<T> {
    /// The cloud's answer.
    Known(T),
    /// The cloud's version does not know the question.
    Unknown,
    /// The cloud may answer later.
    Later(Later),
}

/// The cloud's statement that it has a message.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Receipt {
    /// The message's id in the cloud.
    pub id: String,
    /// The digest of the message, or of a window in a group, in hexadecimal.
    pub digest: String,
    /// The time of storage by the cloud's clock: milliseconds since 1970.
    #[serde(default)]
    pub stored_at: i64,
    /// The window's position in the log of its stream.
    #[serde(default)]
    pub position: u64,
    /// The cloud's signature in hexadecimal; empty from older versions.
    #[serde(default)]
    pub signature: String,
}

/// The cloud's statement that it refuses a message for good.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The HTTP status of the answer.
    pub status: u16,
    /// The useful parts of the problem document, or the text of an answer without one. Its length is bounded, because
    /// one is kept for each refusal.
    pub problem: Value,
}

impl Cloud {
    /// Creates a client for this address. For `https`, the cloud's certificate must be of these authorities.
    ///
    /// # Errors
    /// [`NotAnAddress`] if the text is not an address.
    pub fn new(address: &str, trust: Trust) -> Result<Self, NotAnAddress> {
        let wrong = || NotAnAddress(address.to_owned());
        let uri: Uri = address.parse().map_err(|_| wrong())?;
        let host = uri.host().ok_or_else(wrong)?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.query().is_some() {
            return Err(wrong());
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .tls_config(trust.tls_config())
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(WHOLE_UPLOAD));
        if is_loopback(host) {
            // Loopback traffic must not go through a proxy: that is another machine.
            config = config.proxy(None);
        }
        Ok(Self { agent: config.build().into(), address: address.trim_end_matches('/').to_owned(), trust })
    }

    /// Returns the cloud's address.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Sends a message. `key` is its idempotency key: the cloud stores the message once, however often it is sent.
    #[must_use]
    pub fn upload(&self, key: &str, message: &[u8]) -> Answer {
        match self.post(key, message) {
            Ok(mut response) => answer(&mut response, message),
            Err(later) => Answer::Later(later),
        }
    }

    /// Sends a group of windows. The receipts must name these digests.
    #[must_use]
    pub fn upload_group(&self, key: &str, group: &[u8], digests: &[[u8; 32]]) -> GroupAnswer {
        match self.post(key, group) {
            Ok(mut response) => group_answer(&mut response, digests),
            Err(later) => GroupAnswer::Later(later),
        }
    }

    fn post(&self, key: &str, message: &[u8]) -> Result<Response<Body>, Later> {
        let request = self
            .agent
            .post(format!("{}/v1/envelopes", self.address))
            .header("Content-Type", FRAME)
            .header("Idempotency-Key", key);
        request.send(message).map_err(|error| self.away(&error))
    }

    fn away(&self, error: &ureq::Error) -> Later {
        Later::new(self.trust.explain(&self.address, error), None)
    }

    /// Asks for the position of a stream, with the frame of a signed question.
    #[must_use]
    pub fn position(&self, question: &[u8]) -> Asked<Position> {
        self.ask("/v1/position", question)
    }

    /// Asks for the end of a stream's newest window, with the frame of a signed question.
    #[must_use]
    pub fn newest(&self, question: &[u8]) -> Asked<Newest> {
        self.ask("/v1/newest", question)
    }

    fn ask<T: DeserializeOwned>(&self, path: &str, question: &[u8]) -> Asked<T> {
        let request = self.agent.post(format!("{}{path}", self.address)).header("Content-Type", FRAME);
        let mut response = match request.send(question) {
            Ok(response) => response,
            Err(error) => return Asked::Later(self.away(&error)),
        };
        let status = response.status().as_u16();
        match received(&mut response) {
            Err(later) => Asked::Later(later),
            Ok(Received { body, .. }) if status == 200 => match serde_json::from_slice(&body) {
                Ok(answer) => Asked::Known(answer),
                Err(error) => Asked::Later(Later::new(format!("the position cannot be read: {error}"), None)),
            },
            // A cloud of an older version answers with our problem document for unknown paths.
            Ok(Received { reason: Some(reason), .. })
                if ["no-such-resource", "method-not-allowed"].contains(&reason.as_str()) =>
            {
                Asked::Unknown
            }
            Ok(received) => Asked::Later(received.later(status)),
        }
    }
}

/// The body of an answer, and its reason if it is one of our problem documents.
struct Received {
    body: Vec<u8>,
    wait: Option<Duration>,
    /// The reason in the document's type; `None` if this is not one of our problem documents.
    reason: Option<String>,
}

impl Received {
    /// Returns the reason to repeat an attempt after this answer.
    fn later(&self, status: u16) -> Later {
        let problem = problem(&self.body);
        let Some(reason) = &self.reason else {
            let text: String = String::from_utf8_lossy(&self.body).chars().take(80).collect();
            let reason = format!(
                "an answer with status {status} came that is not the cloud's: a proxy, or another server at its address ({text:?})"
            );
            return Later::new(reason, self.wait);
        };
        let detail = problem["detail"].as_str().unwrap_or(reason);
        let unregistered = UNREGISTERED.contains(&reason.as_str());
        Later { reason: format!("the cloud answers {status}: {detail}"), wait: self.wait, unregistered }
    }
}

fn received(response: &mut Response<Body>) -> Result<Received, Later> {
    let header = |name: &str| response.headers().get(name).and_then(|value| value.to_str().ok());
    let wait = header("Retry-After").and_then(|wait| wait.parse().ok()).map(Duration::from_secs);
    let is_problem = header("Content-Type").is_some_and(|kind| kind.starts_with(PROBLEM));
    let body = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec();
    let body = body.map_err(|error| Later::new(error.to_string(), wait))?;
    let reason = || {
        let kind = serde_json::from_slice::<Problem>(&body).ok()?.kind;
        Some(kind.strip_prefix(PROBLEM_TYPE)?.chars().take(LONGEST_TEXT).collect())
    };
    let reason = if is_problem { reason() } else { None };
    Ok(Received { body, wait, reason })
}

#[derive(Deserialize)]
struct Problem {
    #[serde(rename = "type")]
    kind: String,
}

fn answer(response: &mut Response<Body>, message: &[u8]) -> Answer {
    let status = response.status().as_u16();
    let received = match received(response) {
        Ok(received) => received,
        Err(later) => return Answer::Later(later),
    };
    let later = |reason: String| Answer::Later(Later::new(reason, received.wait));
    match (status, &received.reason) {
        (200 | 201, _) => match serde_json::from_slice::<Receipt>(&received.body) {
            Ok(receipt) if receipt.id.len() > LONGEST_ID => {
                later("the receipt has no name for the message".to_owned())
            }
            Ok(receipt) if is_digest_of(&receipt.digest, message) => Answer::Stored(receipt),
            Ok(_) => later("the receipt is for another message".to_owned()),
            Err(error) => later(format!("the receipt cannot be read: {error}")),
        },
        (_, Some(reason)) if reason == FORGOTTEN => Answer::Forgotten,
        (_, Some(reason)) if is_final_refusal(&format!("{PROBLEM_TYPE}{reason}")) => {
            Answer::Refused(Refusal { status, problem: problem(&received.body) })
        }
        _ => Answer::Later(received.later(status)),
    }
}

fn group_answer(response: &mut Response<Body>, digests: &[[u8; 32]]) -> GroupAnswer {
    let status = response.status().as_u16();
    let received = match received(response) {
        Ok(received) => received,
        Err(later) => return GroupAnswer::Later(later),
    };
    match (status, received.reason.as_deref()) {
        (200 | 201, _) => match serde_json::from_slice::<Vec<Receipt>>(&received.body) {
            Ok(receipts) if are_for(&receipts, digests) => GroupAnswer::Stored(receipts),
            Ok(_) => GroupAnswer::Later(Later::new("the receipts are for other messages", received.wait)),
            Err(error) => {
                GroupAnswer::Later(Later::new(format!("the receipts cannot be read: {error}"), received.wait))
            }
        },
        (_, Some(reason)) if WITHOUT_GROUPS.contains(&reason) => GroupAnswer::Unknown,
        (_, Some(TOO_LARGE)) => GroupAnswer::TooLarge,
        (_, Some(reason)) if is_final_refusal(&format!("{PROBLEM_TYPE}{reason}")) => {
            let detail = problem(&received.body)["detail"].as_str().unwrap_or(reason).to_owned();
            GroupAnswer::Refused(detail)
        }
        _ => GroupAnswer::Later(received.later(status)),
    }
}

fn are_for(receipts: &[Receipt], digests: &[[u8; 32]]) -> bool {
    receipts.len() == digests.len()
        && receipts.iter().zip(digests).all(|(receipt, digest)| {
            receipt.id.len() <= LONGEST_ID && receipt.digest.eq_ignore_ascii_case(&hex::encode(digest))
        })
}

/// Returns the parts to keep of an answer's body.
fn problem(body: &[u8]) -> Value {
    let short = |text: &str| Value::String(text.chars().take(LONGEST_TEXT).collect());
    let Ok(Value::Object(document)) = serde_json::from_slice(body) else {
        return short(&String::from_utf8_lossy(body));
    };
    let told = ["type", "title", "status", "detail", "reason"].into_iter().filter_map(|name| {
        let value = match document.get(name)? {
            Value::String(text) => short(text),
            number @ Value::Number(_) => number.clone(),
            _ => return None,
        };
        Some((name.to_owned(), value))
    });
    told.collect::<serde_json::Map<_, _>>().into()
}

fn is_digest_of(digest: &str, message: &[u8]) -> bool {
    message_digest(message).is_ok_and(|of_message| digest.eq_ignore_ascii_case(&hex::encode(of_message)))
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_http_or_https() {
        let address = |text| Cloud::new(text, Trust::default()).map(|cloud| cloud.address);
        assert_eq!(address("http://127.0.0.1:80/").unwrap(), "http://127.0.0.1:80");
        assert_eq!(address("https://example.org/a").unwrap(), "https://example.org/a");
        for wrong in ["", "example.org", "ftp://example.org", "http://", "/v1", "http://a/?b=c"] {
            assert_eq!(address(wrong), Err(NotAnAddress(wrong.into())), "{wrong}");
        }
    }

    #[test]
    fn of_a_refusal_what_is_told_is_kept_and_no_more() {
        let whole = serde_json::json!({
            "type": "urn:x", "title": "Bad Request", "status": 400, "detail": "why", "reason": "truncated",
        });
        assert_eq!(problem(whole.to_string().as_bytes()), whole);
        let long = "\u{1}".repeat(LARGEST_ANSWER as usize);
        let strange = serde_json::json!({ "title": long, "detail": [0, 0], "other": long });
        let kept = problem(strange.to_string().as_bytes());
        assert_eq!(kept, serde_json::json!({ "title": "\u{1}".repeat(LONGEST_TEXT) }));
        assert_eq!(problem(long.as_bytes()), kept["title"]);
        assert_eq!(problem(b"[0,0,0]"), "[0,0,0]");
    }

    #[test]
    fn loopback_is_recognised() {
        assert!(["localhost", "127.0.0.1", "127.1.2.3", "[::1]"].into_iter().all(is_loopback));
        assert!(!["10.0.0.1", "example.org", "localhost.example.org"].into_iter().any(is_loopback));
    }
}
