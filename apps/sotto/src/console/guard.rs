//! The checks before every request: whom it is for, from which page it comes, whether it has a session; and the headers of
//! every answer.
//!
//! Another site in the same browser can send requests here, also under a name of its own that leads to this machine (DNS
//! rebinding). So the header `Host` names this console, `Origin` and `Sec-Fetch-Site` name its own page, and a session is a
//! header that no other page can set.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::Console;
use super::refusal::Refusal;

/// Marks a request that no person caused.
pub(super) const BACKGROUND: &str = "x-background";

/// The largest body of a request, in bytes: a question has 4,096 at most.
const LARGEST_BODY: usize = 64 << 10;
/// The time for a request's body to arrive.
pub(super) const BODY_TIME: Duration = Duration::from_secs(10);

/// The headers of every answer. Scripts and styles come from this console alone, and nothing is asked elsewhere.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// Refuses requests that are not of this console's page, and those to `/api` without a session.
pub(super) async fn guard(State(console): State<Arc<Console>>, request: Request, next: Next) -> Response {
    let read = match refused(&console, &request) {
        Some(refusal) => Err(refusal),
        None => whole(request).await,
    };
    let mut answer = match read {
        Ok(request) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    for (name, value) in HEADERS {
        answer.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    answer
}

/// Reads a request to its end, within bounds on bytes and time.
async fn whole(request: Request) -> Result<Request, Refusal> {
    let (head, body) = request.into_parts();
    match tokio::time::timeout(BODY_TIME, axum::body::to_bytes(body, LARGEST_BODY)).await {
        Ok(Ok(body)) => Ok(Request::from_parts(head, Body::from(body))),
        Ok(Err(_)) => {
            let reason = format!("a request has at most {LARGEST_BODY} bytes, and all that it announces");
            Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, reason))
        }
        Err(_) => {
            let reason = format!("the request did not arrive within {} seconds", BODY_TIME.as_secs());
            Err(Refusal::new(StatusCode::REQUEST_TIMEOUT, reason))
        }
    }
}

fn refused(console: &Console, request: &Request) -> Option<Refusal> {
    let headers = request.headers();
    let path = request.uri().path();
    if !is_here(console, headers, path == "/" && request.method() == Method::GET) {
        let reason = "this request is not for this console, or comes from another page";
        return Some(Refusal::new(StatusCode::MISDIRECTED_REQUEST, reason));
    }
    if !path.starts_with("/api/") {
        let reads = matches!(*request.method(), Method::GET | Method::HEAD);
        return (!reads).then(|| Refusal::new(StatusCode::METHOD_NOT_ALLOWED, "files are only read"));
    }
    if path == "/api/session" || path == "/api/code" {
        return None;
    }
    let of_person = !headers.contains_key(BACKGROUND);
    let is_session = key(headers).is_some_and(|key| console.access.is_session(key, of_person));
    (!is_session).then(Refusal::no_session)
}

/// Returns true if `Host` names this console, and the other headers no page but its own. The page itself, which holds nothing
/// secret, may also be opened from elsewhere: from the file with a code, or a link; not in a frame.
fn is_here(console: &Console, headers: &HeaderMap, is_page: bool) -> bool {
    let text = |name: HeaderName| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_host = |host: &str| console.host == host;
    let of_origin = |origin: &str| origin.strip_prefix("http://").is_some_and(is_host);
    // A browser states where the request comes from; a bookmark has "none".
    let is = |name: &'static str, expected: &str| text(HeaderName::from_static(name)) == Some(expected);
    let opens = is_page && is("sec-fetch-mode", "navigate") && is("sec-fetch-dest", "document");
    let of_site = |site: &str| opens || matches!(site, "same-origin" | "none");
    let one_host = headers.get_all(header::HOST).iter().count() == 1;
    one_host
        && text(header::HOST).is_some_and(is_host)
        && text(header::ORIGIN).is_none_or(of_origin)
        && text(HeaderName::from_static("sec-fetch-site")).is_none_or(of_site)
}

/// Returns the key of a request's session.
pub(super) fn key(headers: &HeaderMap) -> Option<&str> {
    headers.get(header::AUTHORIZATION)?.to_str().ok()?.strip_prefix("Bearer ")
}
