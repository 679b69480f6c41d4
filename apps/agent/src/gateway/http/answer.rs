//! Answers requests as InfluxDB does, as far as its senders ask.

use std::sync::Arc;

use flate2::bufread::MultiGzDecoder;
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::header::{CONTENT_ENCODING, CONTENT_TYPE, RETRY_AFTER, USER_AGENT, WWW_AUTHENTICATE};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use serde_json::json;

use super::Shared;
use super::body::{self, Unread};
use crate::gateway::lines::{LinesError, LinesTaken, Precision, take_lines};

/// The version that senders read: they write to any of 1.8 or later in the same way.
const VERSION: &str = concat!("1.8-sotto-", env!("CARGO_PKG_VERSION"));
/// Seconds after which a sender may try again.
const LATER: &str = "10";
/// Parameters of a query that are read.
const MOST_PARAMETERS: usize = 32;

/// The interface of a route.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Interface {
    First,
    Second,
}

/// Answers a request. `peer` names the sender if the request does not.
pub(super) async fn answer(
    shared: Arc<Shared>,
    request: Request<Incoming>,
    peer: Arc<str>,
) -> Response<Full<Bytes>> {
    let (head, body) = request.into_parts();
    let query = Parameters::of(head.uri.query().unwrap_or_default().as_bytes());
    let (method, path) = (&head.method, head.uri.path());
    let is_open = matches!(path, "/ping" | "/health");
    if let Some(token) =
        shared.token.as_ref().filter(|token| !is_open && !token.is_shown(&head.headers, query.get("p")))
    {
        let _ = token;
        let mut refused = problem(StatusCode::UNAUTHORIZED, "unauthorized", "show the token of --token-file");
        refused.headers_mut().insert(WWW_AUTHENTICATE, hyper::header::HeaderValue::from_static("Token"));
        return refused;
    }
    match (method, path) {
        (&Method::GET | &Method::HEAD, "/ping") => empty(StatusCode::NO_CONTENT),
        (&Method::GET | &Method::HEAD, "/health") => {
            let health = json!({
                "name": "sotto-agent", "message": "ready for writes", "status": "pass", "checks": [], "version": VERSION
            });
            with_json(StatusCode::OK, &health)
        }
        (&Method::POST, "/write") => write(shared, Interface::First, &query, &head.headers, body, peer).await,
        (&Method::POST, "/api/v2/write") => {
            write(shared, Interface::Second, &query, &head.headers, body, peer).await
        }
        (&Method::GET, "/query") => statement(query.get("q")),
        (&Method::POST, "/query") => match body::read(body, &shared.budget).await {
            Ok(body) if query.get("q").is_none() => statement(Parameters::of(&body).get("q")),
            Ok(_) => statement(query.get("q")),
            Err(unread) => not_read(unread, Interface::First),
        },
        (_, "/ping" | "/health" | "/write" | "/api/v2/write" | "/query") => {
            problem(StatusCode::METHOD_NOT_ALLOWED, "method not allowed", "this path has another method")
        }
        _ => problem(
            StatusCode::NOT_FOUND,
            "not found",
            "there are /write, /api/v2/write, /query, /ping and /health: readings are encrypted, and no query reads them here",
        ),
    }
}

async fn write(
    shared: Arc<Shared>,
    interface: Interface,
    query: &Parameters,
    headers: &HeaderMap,
    body: Incoming,
    peer: Arc<str>,
) -> Response<Full<Bytes>> {
    let Some(precision) = Precision::parse(query.get("precision").unwrap_or_default()) else {
        return fault(interface, StatusCode::BAD_REQUEST, "precision: give ns, us, ms, s, m or h", None);
    };
    let encoding = headers.get(CONTENT_ENCODING).map(|value| value.as_bytes());
    let is_gzip = match encoding {
        None | Some(b"" | b"identity") => false,
        Some(b"gzip" | b"x-gzip") => true,
        Some(_) => {
            let reason = "Content-Encoding: send gzip, or none";
            return fault(interface, StatusCode::UNSUPPORTED_MEDIA_TYPE, reason, None);
        }
    };
    let agent = headers.get(USER_AGENT).and_then(|value| value.to_str().ok());
    let sender: Arc<str> = agent.map_or(peer, Arc::from);
    let body = match body::read(body, &shared.budget).await {
        Ok(body) => body,
        Err(unread) => return not_read(unread, interface),
    };
    let intake = Arc::clone(&shared.intake);
    // Waits for the disk.
    let taken = tokio::task::spawn_blocking(move || match is_gzip && !body.is_empty() {
        true => take_lines(&*intake, MultiGzDecoder::new(&body[..]), precision, &sender),
        false => take_lines(&*intake, &body[..], precision, &sender),
    });
    match taken.await {
        Ok(Ok(LinesTaken { malformed: 0, .. })) => empty(StatusCode::NO_CONTENT),
        Ok(Ok(LinesTaken { malformed, first, .. })) => {
            let (line, reason) = first.unwrap_or_default();
            let text =
                format!("partial write: unable to parse line {line}: {reason}; lines dropped={malformed}");
            fault(interface, StatusCode::BAD_REQUEST, &text, Some(line))
        }
        Ok(Err(error)) => not_taken(interface, &error),
        Err(_) => fault(interface, StatusCode::INTERNAL_SERVER_ERROR, "the request could not be taken", None),
    }
}

fn not_taken(interface: Interface, error: &LinesError) -> Response<Full<Bytes>> {
    match error {
        LinesError::Intake(error) => {
            let mut answer = fault(interface, StatusCode::SERVICE_UNAVAILABLE, &error.to_string(), None);
            answer.headers_mut().insert(RETRY_AFTER, hyper::header::HeaderValue::from_static(LATER));
            answer
        }
        LinesError::TooLong => fault(interface, StatusCode::PAYLOAD_TOO_LARGE, &error.to_string(), None),
        LinesError::Unreadable(_) => fault(interface, StatusCode::BAD_REQUEST, &error.to_string(), None),
    }
}

fn not_read(unread: Unread, interface: Interface) -> Response<Full<Bytes>> {
    let status = match unread {
        Unread::TooLong => StatusCode::PAYLOAD_TOO_LARGE,
        Unread::TooSlow => StatusCode::REQUEST_TIMEOUT,
        Unread::Broken => StatusCode::BAD_REQUEST,
        Unread::Busy => StatusCode::SERVICE_UNAVAILABLE,
    };
    let mut answer = fault(interface, status, &unread.to_string(), None);
    if unread == Unread::Busy {
        answer.headers_mut().insert(RETRY_AFTER, hyper::header::HeaderValue::from_static("1"));
    }
    answer
}

/// Answers the statements with which senders begin.
fn statement(text: Option<&str>) -> Response<Full<Bytes>> {
    let text = text.unwrap_or_default().trim().trim_end_matches(';').to_ascii_uppercase();
    let words: Vec<&str> = text.split_ascii_whitespace().take(3).collect();
    let result = match words[..] {
        ["CREATE", "DATABASE", ..] => json!({ "statement_id": 0 }),
        ["SHOW", "DATABASES", ..] => json!({
            "statement_id": 0,
            "series": [{ "name": "databases", "columns": ["name"], "values": [["sotto"]] }]
        }),
        _ => {
            let reason = "readings are encrypted, and no query reads them here: ask `sotto ask`; there are CREATE DATABASE and SHOW DATABASES";
            return fault(Interface::First, StatusCode::BAD_REQUEST, reason, None);
        }
    };
    with_json(StatusCode::OK, &json!({ "results": [result] }))
}

fn fault(interface: Interface, status: StatusCode, reason: &str, line: Option<u64>) -> Response<Full<Bytes>> {
    let code = match status {
        StatusCode::SERVICE_UNAVAILABLE => "unavailable",
        StatusCode::PAYLOAD_TOO_LARGE => "request too large",
        StatusCode::INTERNAL_SERVER_ERROR => "internal error",
        _ => "invalid",
    };
    let document = match interface {
        Interface::First => json!({ "error": reason }),
        Interface::Second => json!({ "code": code, "message": reason, "line": line }),
    };
    with_json(status, &document)
}

fn problem(status: StatusCode, code: &str, message: &str) -> Response<Full<Bytes>> {
    with_json(status, &json!({ "code": code, "message": message, "error": message }))
}

fn with_json(status: StatusCode, document: &serde_json::Value) -> Response<Full<Bytes>> {
    let mut answer = empty(status);
    *answer.body_mut() = Full::from(document.to_string());
    answer.headers_mut().insert(CONTENT_TYPE, hyper::header::HeaderValue::from_static("application/json"));
    answer
}

fn empty(status: StatusCode) -> Response<Full<Bytes>> {
    let mut answer = Response::new(Full::default());
    *answer.status_mut() = status;
    answer.headers_mut().insert("x-influxdb-version", hyper::header::HeaderValue::from_static(VERSION));
    answer
}

/// The parameters of a query or a form.
struct Parameters(Vec<(String, String)>);

impl Parameters {
    fn of(query: &[u8]) -> Self {
        let pairs = form_urlencoded::parse(query).take(MOST_PARAMETERS);
        Self(pairs.map(|(name, text)| (name.into_owned(), text.into_owned())).collect())
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(other, _)| other == name).map(|(_, text)| text.as_str())
    }
}
