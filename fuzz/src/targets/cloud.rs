//! The cloud's interface: requests as bytes on a connection, and bodies behind a right head. It never fails: what it cannot
//! take it refuses, so an answer of 5xx other than "busy" is a finding, and so is a panic, which is answered by 500.

use std::path::PathBuf;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use sotto_cloud::config::{Config, Settings};
use sotto_cloud::server::Server;
use sotto_conformance::golden;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio::runtime::Runtime;

use super::{Inputs, Target, once};

const TOKEN: &str = "the-owner-of-this-test";

/// What other threads hold is not counted, and that is most of it: its bounds are the cloud's own, and its tests'.
fn uncounted(_: usize) -> usize {
    usize::MAX
}

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "cloud-http", run: |bytes| drop(exchange(bytes)), inputs: Inputs::Kept(requests), memory: uncounted },
    Target { name: "cloud-registration", run: |bytes| owner("PUT", "/v1/devices/kitchen", bytes), inputs: Inputs::Kept(registrations), memory: uncounted },
    Target { name: "cloud-submission", run: |bytes| owner("POST", "/v1/jobs", bytes), inputs: Inputs::Kept(submissions), memory: uncounted },
    Target { name: "cloud-query", run: query, inputs: Inputs::Kept(queries), memory: uncounted },
    Target { name: "cloud-upload", run: |bytes| owner("POST", "/v1/envelopes", bytes), inputs: Inputs::Kept(|| vec![golden::read("envelope.bin")]), memory: uncounted },
    Target { name: "cloud-configuration", run: configuration, inputs: Inputs::Kept(configurations), memory: |bytes| 512 * bytes + (256 << 10) },
];

/// A cloud without a socket.
struct Site {
    runtime: Runtime,
    router: axum::Router,
    /// Dropped last: the store is in it.
    _folder: TempDir,
}

fn open() -> Site {
    let folder = tempfile::tempdir().expect("a folder");
    let token = folder.path().join("token");
    std::fs::write(&token, TOKEN).expect("a token");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).expect("a mode");
    }
    let settings = Settings {
        listen: Some(([127, 0, 0, 1], 0).into()),
        data: Some(folder.path().join("data")),
        owner_token_file: Some(token),
        workers: Some(1),
        ..Settings::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let config = Config::new(settings).expect("a configuration");
    let server = runtime.block_on(Server::open(&config)).expect("a cloud");
    Site { runtime, router: server.router(), _folder: folder }
}

/// Sends bytes on a new connection, and reads until its end.
fn exchange(bytes: &[u8]) -> Vec<u8> {
    let site = once!(std::sync::Mutex<Site>, std::sync::Mutex::new(open()));
    let site = site.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let answer = site.runtime.block_on(async {
        // As large as all of it, so that whoever writes does not wait for whoever reads.
        let (mut here, there) = duplex(bytes.len() + (1 << 20));
        let service = TowerToHyperService::new(site.router.clone());
        let connection =
            http1::Builder::new().half_close(true).serve_connection(TokioIo::new(there), service);
        here.write_all(bytes).await.expect("it fits");
        here.shutdown().await.expect("it ends");
        let mut answer = Vec::new();
        let (_, read) = tokio::join!(connection, here.read_to_end(&mut answer));
        read.expect("it is read");
        answer
    });
    let status = answer.get(9..12).unwrap_or(b"");
    assert!(!status.starts_with(b"5") || status == b"503", "{}", String::from_utf8_lossy(&answer));
    answer
}

/// A body behind a right head. The connection ends with the answer.
fn owner(method: &str, path: &str, body: &[u8]) {
    let head = format!(
        "{method} {path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\nidempotency-key: k\r\n\
         connection: close\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    let answer = exchange(&[head.as_bytes(), body].concat());
    assert!(answer.starts_with(b"HTTP/1.1 "), "a request is answered");
}

fn request(line: &str, body: &str) -> Vec<u8> {
    let head =
        format!("{line} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\nidempotency-key: k\r\n");
    format!("{head}content-length: {}\r\nconnection: close\r\n\r\n{body}", body.len()).into_bytes()
}

fn requests() -> Vec<Vec<u8>> {
    let id = "0a".repeat(16);
    vec![
        request("GET /v1/envelopes?device=kitchen&limit=3", ""),
        request(&format!("GET /v1/envelopes/{id}/body"), ""),
        request(&format!("DELETE /v1/keys/{}/{id}/transfers/{id}", "0b".repeat(32)), ""),
        request(&format!("GET /v1/jobs/{id}/outputs/0"), ""),
        request("PUT /v1/devices/kitchen", r#"{"verifying_key":"00","keys":[]}"#),
        b"POST /v1/envelopes HTTP/1.1\r\nhost: x\r\nidempotency-key: k\r\ntransfer-encoding: chunked\r\n\r\n4\r\nsott\r\n0\r\n\r\n"
            .to_vec(),
        b"GET /healthz HTTP/1.0\r\n\r\nGET /readyz HTTP/1.1\r\nhost: x\r\n\r\n".to_vec(),
    ]
}

fn registrations() -> Vec<Vec<u8>> {
    let (id, key) = ("0b".repeat(32), "0a".repeat(16));
    let named = format!(r#"{{"verifying_key":"{id}","keys":[{{"parameter_id":"{id}","key_id":"{key}"}}]}}"#);
    vec![named.into_bytes(), format!(r#"{{"verifying_key":"{id}","keys":[]}}"#).into_bytes()]
}

fn submissions() -> Vec<Vec<u8>> {
    let (plan, id) = ("0b".repeat(32), "0a".repeat(16));
    vec![format!(r#"{{"plan":"{plan}","inputs":["{id}","{id}"],"key":"{id}"}}"#).into_bytes()]
}

fn queries() -> Vec<Vec<u8>> {
    ["device=kitchen&stream=load&after_sequence=6&limit=5", "limit=4294967295&stream=%C3%A9", ""]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}

/// What can stand in a request's line after the question mark.
fn query(bytes: &[u8]) {
    let visible: String =
        bytes.iter().filter(|byte| byte.is_ascii_graphic()).map(|byte| char::from(*byte)).collect();
    drop(exchange(&request(&format!("GET /v1/envelopes?{visible}"), "")));
}

fn configurations() -> Vec<Vec<u8>> {
    let all = include_str!("../../../apps/cloud/default.toml");
    vec![all.as_bytes().to_vec(), all.replace("#: ", "").into_bytes()]
}

fn configuration(bytes: &[u8]) {
    if let Ok(settings) = Settings::parse(&String::from_utf8_lossy(bytes)) {
        let required = Settings {
            data: Some(PathBuf::from("data")),
            owner_token_file: Some(PathBuf::from("token")),
            ..Settings::default()
        };
        let _ = Config::new(settings.or(required));
    }
}
