//! The recryptor's interface: batches behind a right head, as they are and with a right digest; its configuration and its
//! callers. It never fails: what it cannot take it refuses, so an answer of 5xx other than "busy" is a finding.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use sotto_conformance::golden;
use sotto_recryptor::callers::Callers;
use sotto_recryptor::config::{Config, Settings};
use sotto_recryptor::server::Server;
use tempfile::TempDir;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio::runtime::Runtime;

use super::{Inputs, Target, once};

const TOKEN: &str = "the-caller-of-this-test";
const CALLERS: &str = "[[caller]]\nname = \"cloud\"\ntoken_file = \"token\"\nnumbers_a_day = 1000000000\n";

/// What other threads hold is not counted, and that is most of it: its bounds are the service's own, and its tests'.
fn uncounted(_: usize) -> usize {
    usize::MAX
}

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "recryptor-exchange", run: exchange, inputs: Inputs::Kept(|| vec![golden::read("exchange-request.bin")]), memory: uncounted },
    Target { name: "recryptor-configuration", run: configuration, inputs: Inputs::Kept(configurations), memory: |bytes| 512 * bytes + (256 << 10) },
    Target { name: "recryptor-callers", run: callers, inputs: Inputs::Kept(|| vec![CALLERS.into(), [CALLERS, CALLERS].concat().into()]), memory: |bytes| 512 * bytes + (256 << 10) },
];

/// A recryptor without a socket.
struct Site {
    runtime: Runtime,
    router: axum::Router,
    /// Dropped last: the ledger is in it.
    _folder: TempDir,
}

fn open() -> Site {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("token"), TOKEN).expect("a token");
    std::fs::write(path("callers.toml"), CALLERS).expect("callers");
    std::fs::write(path("recryptor.key"), golden::read("recryptor.key")).expect("a key file");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(path("recryptor.key"), private.clone()).expect("a mode");
        std::fs::set_permissions(path("token"), private).expect("a mode");
    }
    let settings = Settings {
        listen: Some(([127, 0, 0, 1], 0).into()),
        data: Some(path("data")),
        key_file: Some(path("recryptor.key")),
        callers_file: Some(path("callers.toml")),
        ..Settings::default()
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let config = Config::new(settings).expect("a configuration");
    let server = runtime.block_on(Server::open(&config)).expect("a recryptor");
    Site { runtime, router: server.router(), _folder: folder }
}

fn exchange(bytes: &[u8]) {
    super::as_frame(bytes, |body| {
        let head = format!(
            "POST /v1/exchange HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {TOKEN}\r\nconnection: close\r\n\
             content-length: {}\r\n\r\n",
            body.len()
        );
        let request = [head.as_bytes(), body].concat();
        let site = once!(Mutex<Site>, Mutex::new(open())).lock().unwrap_or_else(PoisonError::into_inner);
        let answer = site.runtime.block_on(async {
            // As large as all of it, so that whoever writes does not wait for whoever reads.
            let (mut here, there) = duplex(request.len() + (1 << 20));
            let service = TowerToHyperService::new(site.router.clone());
            let connection =
                http1::Builder::new().half_close(true).serve_connection(TokioIo::new(there), service);
            here.write_all(&request).await.expect("it fits");
            here.shutdown().await.expect("it ends");
            let mut answer = Vec::new();
            let (_, read) = tokio::join!(connection, here.read_to_end(&mut answer));
            read.expect("it is read");
            answer
        });
        let status = answer.get(9..12).unwrap_or(b"");
        let fails = status.is_empty() || (status.starts_with(b"5") && status != b"503");
        assert!(!fails, "{}", String::from_utf8_lossy(&answer));
    });
}

fn configurations() -> Vec<Vec<u8>> {
    let all = include_str!("../../../apps/recryptor/default.toml");
    vec![all.as_bytes().to_vec(), all.replace("#: ", "").into_bytes()]
}

fn configuration(bytes: &[u8]) {
    if let Ok(settings) = Settings::parse(&String::from_utf8_lossy(bytes)) {
        let some = |name: &str| Some(PathBuf::from(name));
        let required = Settings {
            data: some("data"),
            key_file: some("key"),
            callers_file: some("callers"),
            ..Settings::default()
        };
        let _ = Config::new(settings.or(required));
    }
}

/// Token files are looked for where none are: a path is a path.
fn callers(bytes: &[u8]) {
    let _ = Callers::parse(&String::from_utf8_lossy(bytes), Path::new("/nowhere"));
}
