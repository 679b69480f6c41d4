//! One attempt to send a message to the cloud.

use std::time::Duration;

use serde_json::Value;
use sotto_api::Route;
use sotto_api::position::{AskHeads, AskPosition};
use sotto_api::reason;
use sotto_api::uploads::Upload;
use sotto_http::{Address, Failure, Limits, NotAnAddress, Request, Site, Trust};
use sotto_wire::{Heads, LARGEST_HEADS, is_final_refusal, message_digest};

pub use sotto_api::position::{Position, PositionQuery};
pub use sotto_api::uploads::Receipt;

const LIMITS: Limits = Limits {
    // A page of heads; receipts and problem documents are shorter.
    largest_answer: LARGEST_HEADS,
    whole: Some(Duration::from_secs(120)),
    first_byte: None,
    transfer: None,
    idle: Duration::from_secs(15),
};
/// Maximum characters of a message's id in the cloud.
const LONGEST_ID: usize = 256;
/// Maximum characters kept of a text in a problem document.
const LONGEST_TEXT: usize = 400;
/// Reasons of a cloud that does not know groups: it rejects their frame or the length of their key.
const WITHOUT_GROUPS: [&str; 3] =
    [reason::NOT_A_FRAME, reason::UNKNOWN_VERSION, reason::INVALID_IDEMPOTENCY_KEY];
/// Reasons of a cloud that does not know a route.
const WITHOUT_ROUTE: [&str; 2] = [reason::NO_SUCH_RESOURCE, reason::METHOD_NOT_ALLOWED];
/// Reasons that the owner resolves by registering the device. Clouds before `not-admitted` say `unknown-device` and
/// `bad-signature`.
const UNREGISTERED: [&str; 8] = [
    reason::NOT_ADMITTED,
    reason::UNKNOWN_DEVICE,
    reason::DEVICE_REVOKED,
    reason::BAD_SIGNATURE,
    reason::WRONG_KEY,
    reason::WRONG_PARAMETERS,
    reason::UNKNOWN_PARAMETERS,
    reason::UNKNOWN_STREAM,
];

/// The cloud's address. Clones share its connections.
#[derive(Clone, Debug)]
pub struct Cloud {
    site: Site,
}

/// Outcome of an attempt to send a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Delivery {
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

impl From<Failure> for Later {
    fn from(failure: Failure) -> Self {
        Self::new(failure.reason, failure.wait)
    }
}

/// Outcome of a question about a stream.
#[derive(Clone, Debug, PartialEq)]
pub enum Lookup<T> {
    /// The cloud's answer.
    Known(T),
    /// The cloud's version does not know the question.
    Unknown,
    /// The cloud may answer later.
    Later(Later),
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
        Ok(Self { site: Site::new(Address::new(address)?, trust, &LIMITS) })
    }

    /// Returns the cloud's address.
    #[must_use]
    pub fn address(&self) -> &str {
        self.site.url()
    }

    /// Sends a message. `key` is its idempotency key: the cloud stores the message once, however often it is sent.
    #[must_use]
    pub fn upload(&self, key: &str, message: &[u8]) -> Delivery {
        match self.site.send(&Request::to::<Upload>([], &(), message).under(key)) {
            Ok(arrived) => answer(&arrived.into(), message),
            Err(failure) => Delivery::Later(failure.into()),
        }
    }

    /// Sends a group of windows. The receipts must name these digests.
    #[must_use]
    pub fn upload_group(&self, key: &str, group: &[u8], digests: &[[u8; 32]]) -> GroupAnswer {
        match self.site.send(&Request::to::<Upload>([], &(), group).under(key)) {
            Ok(arrived) => group_answer(&arrived.into(), digests),
            Err(failure) => GroupAnswer::Later(failure.into()),
        }
    }

    /// Asks for the position of a stream, with the frame of a signed question. `query` says whether for the owner's order alone.
    #[must_use]
    pub fn position(&self, question: &[u8], query: &PositionQuery) -> Lookup<Position> {
        self.ask::<AskPosition, _>(question, query, Ok)
    }

    /// Asks for heads of a stream, with the frame of a signed question.
    #[must_use]
    pub fn heads(&self, question: &[u8]) -> Lookup<Heads> {
        self.ask::<AskHeads, _>(question, &(), |frame| Heads::read(&frame).map_err(|error| error.to_string()))
    }

    fn ask<R, T>(
        &self,
        question: &[u8],
        query: &R::Query,
        read: impl FnOnce(R::Answer) -> Result<T, String>,
    ) -> Lookup<T>
    where
        R: for<'n> Route<Names<'n> = [&'n str; 0], Request = [u8]>,
    {
        let arrived = match self.site.send(&Request::to::<R>([], query, question)) {
            Ok(arrived) => arrived,
            Err(failure) => return Lookup::Later(failure.into()),
        };
        if arrived.status == 200 {
            let answer = arrived.read::<R>().map_err(|error| error.to_string()).and_then(read);
            return match answer {
                Ok(answer) => Lookup::Known(answer),
                Err(error) => {
                    Lookup::Later(Later::new(format!("{} cannot be read: {error}", R::ABOUT), None))
                }
            };
        }
        let received = Received::from(arrived);
        match &received.reason {
            // A cloud of an older version answers with our problem document for unknown paths.
            Some(reason) if WITHOUT_ROUTE.contains(&reason.as_str()) => Lookup::Unknown,
            _ => Lookup::Later(received.later()),
        }
    }
}

/// An answer, with its reason if it is one of our problem documents.
struct Received {
    answer: sotto_http::Received,
    /// The reason in the document's type; `None` if this is not one of our problem documents.
    reason: Option<String>,
}

impl From<sotto_http::Received> for Received {
    fn from(answer: sotto_http::Received) -> Self {
        let problem = answer.is_problem().then(|| answer.problem());
        let reason = problem.and_then(|problem| Some(problem.reason()?.to_owned()));
        Self { answer, reason }
    }
}

impl Received {
    /// Returns the reason to repeat an attempt after this answer.
    fn later(&self) -> Later {
        let (status, wait) = (self.answer.status, self.answer.wait());
        let Some(reason) = &self.reason else {
            let text: String = String::from_utf8_lossy(&self.answer.body).chars().take(80).collect();
            let reason = format!(
                "an answer with status {status} came that is not the cloud's: a proxy, or another server at its address ({text:?})"
            );
            return Later::new(reason, wait);
        };
        let unregistered = UNREGISTERED.contains(&reason.as_str());
        Later { reason: format!("the cloud answers {status}: {}", self.detail(reason)), wait, unregistered }
    }

    /// Returns the explanation of a refusal; its reason if there is none.
    fn detail(&self, reason: &str) -> String {
        Some(self.answer.problem().detail)
            .filter(|detail| !detail.is_empty())
            .unwrap_or_else(|| reason.to_owned())
    }

    /// Returns true if the cloud will never accept these bytes.
    fn is_final(&self) -> bool {
        self.reason.is_some() && is_final_refusal(&self.answer.problem().kind)
    }
}

fn answer(received: &Received, message: &[u8]) -> Delivery {
    let later = |reason: String| Delivery::Later(Later::new(reason, received.answer.wait()));
    let (status, body) = (received.answer.status, &received.answer.body);
    match (status, received.reason.as_deref()) {
        (200 | 201, _) => match serde_json::from_slice::<Receipt>(body) {
            Ok(receipt) if receipt.id.len() > LONGEST_ID => {
                later("the receipt has no name for the message".to_owned())
            }
            Ok(receipt) if is_digest_of(&receipt.digest, message) => Delivery::Stored(receipt),
            Ok(_) => later("the receipt is for another message".to_owned()),
            Err(error) => later(format!("the receipt cannot be read: {error}")),
        },
        (_, Some(reason::FORGOTTEN)) => Delivery::Forgotten,
        _ if received.is_final() => Delivery::Refused(Refusal { status, problem: problem(body) }),
        _ => Delivery::Later(received.later()),
    }
}

fn group_answer(received: &Received, digests: &[[u8; 32]]) -> GroupAnswer {
    let later = |reason: String| GroupAnswer::Later(Later::new(reason, received.answer.wait()));
    match (received.answer.status, received.reason.as_deref()) {
        (200 | 201, _) => match serde_json::from_slice::<Vec<Receipt>>(&received.answer.body) {
            Ok(receipts) if are_for(&receipts, digests) => GroupAnswer::Stored(receipts),
            Ok(_) => later("the receipts are for other messages".to_owned()),
            Err(error) => later(format!("the receipts cannot be read: {error}")),
        },
        (_, Some(reason)) if WITHOUT_GROUPS.contains(&reason) => GroupAnswer::Unknown,
        (_, Some(reason::TOO_LARGE)) => GroupAnswer::TooLarge,
        (_, Some(reason)) if received.is_final() => GroupAnswer::Refused(received.detail(reason)),
        _ => GroupAnswer::Later(received.later()),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_http_or_https() {
        let address = |text| Cloud::new(text, Trust::default()).map(|cloud| cloud.address().to_owned());
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
        let long = "\u{1}".repeat(64 << 10);
        let strange = serde_json::json!({ "title": long, "detail": [0, 0], "other": long });
        let kept = problem(strange.to_string().as_bytes());
        assert_eq!(kept, serde_json::json!({ "title": "\u{1}".repeat(LONGEST_TEXT) }));
        assert_eq!(problem(long.as_bytes()), kept["title"]);
        assert_eq!(problem(b"[0,0,0]"), "[0,0,0]");
    }
}
