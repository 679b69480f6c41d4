//! Lies in the form of answers.

use serde_json::json;

use super::Verdict::Refused;
use super::{Case, at};
use crate::liar::{Lie, Reply, Request, edited};
use crate::world::DAILY;

fn is_sums(request: &Request) -> bool {
    request.path.ends_with("/sums")
}

fn is_log(request: &Request) -> bool {
    request.is("GET", "/v1/log")
}

/// Answers with a status and a document.
pub(super) fn status(
    wanted: impl Fn(&Request) -> bool + Send + 'static,
    status: u16,
    reason: &'static str,
) -> Lie {
    at(wanted, move |_| {
        let problem = json!({ "type": format!("urn:sotto:problem:{reason}"), "title": reason, "status": status, "detail": "so it is" });
        Reply { status, ..Reply::of_json(&problem) }
    })
}

/// Answers with other bytes.
fn body(wanted: impl Fn(&Request) -> bool + Send + 'static, bytes: &'static [u8]) -> Lie {
    at(wanted, move |reply| Reply { body: bytes.to_vec(), ..reply })
}

/// Adds an item of no kind to a page.
fn with_item(mut frame: Vec<u8>) -> Vec<u8> {
    let end = frame.len() - 32;
    frame.insert(end, 200);
    let length = (end + 1 - 16) as u64;
    frame[8..16].copy_from_slice(&length.to_le_bytes());
    edited(frame, |_| {})
}

pub(super) fn all() -> Vec<Case> {
    vec![
        Case::new("an error in place of a sum", DAILY, (Refused, ""), status(is_sums, 500, "internal")),
        Case::new(
            "a window that it no longer has",
            DAILY,
            (Refused, "missing window"),
            status(is_sums, 422, "unknown-envelope"),
        ),
        Case::new(
            "a stream that it does not know",
            DAILY,
            (Refused, ""),
            status(is_sums, 404, "unknown-stream"),
        ),
        Case::new("a refusal of the token", DAILY, (Refused, ""), status(is_sums, 401, "unauthorized")),
        Case::new(
            "no content",
            DAILY,
            (Refused, ""),
            at(is_sums, |reply| Reply { status: 204, body: Vec::new(), ..reply }),
        ),
        Case::new(
            "a redirection of a sum",
            DAILY,
            (Refused, ""),
            at(is_sums, |reply| {
                let headers = vec![("Location".to_owned(), "http://127.0.0.1:9/".to_owned())];
                Reply { status: 302, headers, ..reply }
            }),
        ),
        Case::new(
            "a redirection of a log",
            DAILY,
            (Refused, ""),
            at(is_log, |reply| {
                let headers = vec![("Location".to_owned(), "http://127.0.0.1:9/".to_owned())];
                Reply { status: 307, headers, ..reply }
            }),
        ),
        Case::new("text in place of a log", DAILY, (Refused, ""), body(is_log, b"<html>welcome</html>")),
        Case::new("a list in place of a log", DAILY, (Refused, ""), body(is_log, b"[]")),
        Case::new(
            "a deep document in place of a log",
            DAILY,
            (Refused, ""),
            at(is_log, |reply| Reply { body: b"[".repeat(200_000), ..reply }),
        ),
        Case::new("no bytes in place of a log", DAILY, (Refused, ""), body(is_log, b"")),
        Case::new("an error in place of a log", DAILY, (Refused, ""), status(is_log, 500, "internal")),
        Case::new("a log that it does not know", DAILY, (Refused, ""), status(is_log, 404, "unknown-device")),
        Case::new(
            "a sum of 64 MiB",
            DAILY,
            (Refused, ""),
            at(is_sums, |reply| Reply { body: vec![0; 64 << 20], ..reply }),
        ),
        Case::new(
            "a log of 200 MiB",
            DAILY,
            (Refused, ""),
            at(is_log, |reply| Reply { body: vec![b' '; 200 << 20], ..reply }),
        ),
        Case::new(
            "a page of a log cut short",
            DAILY,
            (Refused, "a page of the log"),
            at(is_log, |reply| Reply { body: reply.body[..reply.body.len() - 20].to_vec(), ..reply }),
        ),
        Case::new(
            "a frame of another kind in place of a log",
            DAILY,
            (Refused, "a page of the log"),
            at(is_log, |reply| Reply {
                body: edited(reply.body, |frame| frame[5] = 37),
                headers: reply.headers,
                status: reply.status,
            }),
        ),
        Case::new(
            "an item of a log that is not known",
            DAILY,
            (Refused, "a page of the log"),
            at(is_log, |reply| Reply {
                body: with_item(reply.body),
                headers: reply.headers,
                status: reply.status,
            }),
        )
        .fresh(),
    ]
}
