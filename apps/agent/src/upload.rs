//! One attempt to bring a message to the cloud.

use std::net::IpAddr;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use sotto_wire::frame_digest;
use ureq::http::{Response, Uri};
use ureq::{Agent, Body};

/// Most bytes of a receipt or a problem document.
const LARGEST_ANSWER: u64 = 64 << 10;
/// Most characters of a message's name in the cloud.
const LONGEST_ID: usize = 256;
/// Most characters of a text in a problem document.
const LONGEST_TEXT: usize = 400;
const CONNECT: Duration = Duration::from_secs(10);
const WHOLE_UPLOAD: Duration = Duration::from_secs(120);

/// The cloud. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Cloud {
    agent: Agent,
    address: String,
}

/// An address that is none.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not an address of the form http://host:port or https://host:port")]
pub struct NotAnAddress(String);

/// What came of an attempt.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    /// The cloud has the message: its receipt names the message's digest.
    Stored(Receipt),
    /// It will never take it.
    Refused(Refusal),
    /// It may later.
    Later {
        /// Why not now.
        reason: String,
        /// When the cloud asks for patience: how long.
        wait: Option<Duration>,
    },
}

/// What the cloud says when it has a message.
#[derive(Clone, Debug, PartialEq, Deserialize)]
pub struct Receipt {
    /// Names the message in the cloud.
    pub id: String,
    /// The digest that ends the message, in hexadecimal.
    pub digest: String,
}

/// What the cloud says when it will not take a message.
#[derive(Clone, Debug, PartialEq)]
pub struct Refusal {
    /// The status of the answer.
    pub status: u16,
    /// What of the problem document is for people and programs; text, if the answer was none. Kept for each refusal, so short,
    /// whatever the cloud sends.
    pub problem: Value,
}

impl Cloud {
    /// At this address.
    ///
    /// # Errors
    /// [`NotAnAddress`] when it is none.
    pub fn new(address: &str) -> Result<Self, NotAnAddress> {
        let wrong = || NotAnAddress(address.to_owned());
        let uri: Uri = address.parse().map_err(|_| wrong())?;
        let host = uri.host().ok_or_else(wrong)?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.query().is_some() {
            return Err(wrong());
        }
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_connect(Some(CONNECT))
            .timeout_global(Some(WHOLE_UPLOAD));
        if is_loopback(host) {
            // A proxy is another machine.
            config = config.proxy(None);
        }
        let address = format!("{}/v1/envelopes", address.trim_end_matches('/'));
        Ok(Self { agent: config.build().into(), address })
    }

    /// The address that messages are sent to.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Sends a message. The key names it: the cloud stores it once, however often it is sent.
    #[must_use]
    pub fn upload(&self, key: &str, message: &[u8]) -> Answer {
        let request = self
            .agent
            .post(&self.address)
            .header("Content-Type", "application/octet-stream")
            .header("Idempotency-Key", key);
        match request.send(message) {
            Ok(mut response) => answer(&mut response, message),
            Err(error) => Answer::Later { reason: error.to_string(), wait: None },
        }
    }
}

fn answer(response: &mut Response<Body>, message: &[u8]) -> Answer {
    let status = response.status().as_u16();
    let wait = response.headers().get("Retry-After").and_then(|wait| wait.to_str().ok()?.parse().ok());
    let wait = wait.map(Duration::from_secs);
    let body = match response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec() {
        Ok(body) => body,
        Err(error) => return Answer::Later { reason: error.to_string(), wait },
    };
    match status {
        200 | 201 => match serde_json::from_slice::<Receipt>(&body) {
            Ok(receipt) if receipt.id.len() > LONGEST_ID => {
                Answer::Later { reason: "the receipt has no name for the message".to_owned(), wait }
            }
            Ok(receipt) if is_digest_of(&receipt.digest, message) => Answer::Stored(receipt),
            Ok(_) => Answer::Later { reason: "the receipt is for another message".to_owned(), wait },
            Err(error) => Answer::Later { reason: format!("the receipt cannot be read: {error}"), wait },
        },
        408 | 425 | 429 | 500.. => Answer::Later { reason: format!("the cloud answers {status}"), wait },
        _ => Answer::Refused(Refusal { status, problem: problem(&body) }),
    }
}

/// What is kept of an answer's body.
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
    frame_digest(message).is_ok_and(|of_message| digest.eq_ignore_ascii_case(&hex::encode(of_message)))
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
        let address = |text| Cloud::new(text).map(|cloud| cloud.address);
        assert_eq!(address("http://127.0.0.1:80/").unwrap(), "http://127.0.0.1:80/v1/envelopes");
        assert_eq!(address("https://example.org/a").unwrap(), "https://example.org/a/v1/envelopes");
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
