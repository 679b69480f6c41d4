//! Sends requests as bytes, each on its own connection, to a service that must not fail: a status of 5xx other than
//! "busy" is a finding, and so is a panic, which is answered by 500.

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio::runtime::Runtime;

/// Makes the runtime of a service without a socket: the requesting thread also serves, except for computations.
pub(super) fn runtime() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// Returns the most bytes that this thread may hold: the request and its buffers, the body read from it, and the
/// answer. Computations run on other threads and do not count; the service's own limits and tests cover them.
pub(super) fn held(bytes: &[u8]) -> usize {
    12 * bytes.len() + (96 << 10)
}

/// Sends bytes on a new connection, and reads until the connection ends.
pub(super) fn exchange(runtime: &Runtime, router: &axum::Router, bytes: &[u8]) -> Vec<u8> {
    let answer = runtime.block_on(async {
        // A buffer for everything, so that the writer never waits for the reader.
        let (mut here, there) = duplex(bytes.len() + (1 << 20));
        let service = TowerToHyperService::new(router.clone());
        let connection =
            http1::Builder::new().half_close(true).serve_connection(TokioIo::new(there), service);
        here.write_all(bytes).await.expect("it fits");
        here.shutdown().await.expect("it ends");
        let mut answer = Vec::new();
        let (_, read) = tokio::join!(connection, here.read_to_end(&mut answer));
        read.expect("it is read");
        answer
    });
    let fails = status(&answer).is_some_and(|status| status >= 500 && status != 503);
    assert!(!fails, "{}", String::from_utf8_lossy(&answer));
    answer
}

/// Returns the status of an answer. None if the request was not HTTP.
pub(super) fn status(answer: &[u8]) -> Option<u16> {
    std::str::from_utf8(answer.get(9..12)?).ok()?.parse().ok()
}

pub(super) fn is_accepted(answer: &[u8]) -> bool {
    status(answer).is_some_and(|status| (200..300).contains(&status))
}

pub(super) fn body(answer: &[u8]) -> &[u8] {
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n");
    end.map_or(&[], |end| &answer[end + 4..])
}

/// Returns a request with a body and an idempotency key, after which the connection ends.
pub(super) fn request(line: &str, token: &str, key: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "{line} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\nidempotency-key: {key}\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// Returns an idempotency key that follows from a body.
pub(super) fn key_of(body: &[u8]) -> String {
    blake3::hash(body).to_hex().to_string()
}
