//! The recryptor's interface: batches behind a valid head, unchanged and with a correct digest; its configuration and
//! its list of callers.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use sotto_conformance::golden;
use sotto_recryptor::callers::Callers;
use sotto_recryptor::config::{Config, Settings};
use sotto_recryptor::server::Server;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::connection::{self, held, is_accepted, key_of, request};
use super::{Inputs, Target, once};

const TOKEN: &str = "the-caller-of-this-test";
const CALLERS: &str = "[[caller]]\nname = \"cloud\"\ntoken_file = \"token\"\nnumbers_a_day = 1000000000\n";

#[rustfmt::skip]
pub(super) const TARGETS: &[Target] = &[
    Target { name: "recryptor-exchange", run: exchange, inputs: Inputs::Kept(|| vec![golden::read("exchange-request.bin")]), memory: held },
    Target { name: "recryptor-configuration", run: configuration, inputs: Inputs::Kept(configurations), memory: |bytes| 512 * bytes.len() + (256 << 10) },
    Target { name: "recryptor-callers", run: callers, inputs: Inputs::Kept(|| vec![CALLERS.into(), [CALLERS, CALLERS].concat().into()]), memory: |bytes| 512 * bytes.len() + (256 << 10) },
];

/// A recryptor without a socket.
struct Site {
    runtime: Runtime,
    router: axum::Router,
    /// Dropped last: the ledger is in it.
    _folder: TempDir,
}

fn open() -> Site {
    let folder = super::quick_folder();
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
    let runtime = connection::runtime();
    let config = Config::new(settings).expect("a configuration");
    let server = runtime.block_on(Server::open(&config)).expect("a recryptor");
    Site { runtime, router: server.router(), _folder: folder }
}

fn exchange(bytes: &[u8]) -> bool {
    super::as_frame(bytes, |body| {
        let site = once!(Mutex<Site>, Mutex::new(open())).lock().unwrap_or_else(PoisonError::into_inner);
        let sent = request("POST /v1/exchange", TOKEN, &key_of(body), body);
        let answer = connection::exchange(&site.runtime, &site.router, &sent);
        assert!(answer.starts_with(b"HTTP/1.1 "), "a request is answered");
        is_accepted(&answer)
    })
}

fn configurations() -> Vec<Vec<u8>> {
    let all = include_str!("../../../apps/recryptor/default.toml");
    vec![all.as_bytes().to_vec(), all.replace("#: ", "").into_bytes()]
}

fn configuration(bytes: &[u8]) -> bool {
    let Ok(settings) = Settings::parse(&String::from_utf8_lossy(bytes)) else { return false };
    let some = |name: &str| Some(PathBuf::from(name));
    let required = Settings {
        data: some("data"),
        key_file: some("key"),
        callers_file: some("callers"),
        ..Settings::default()
    };
    Config::new(settings.or(required)).is_ok()
}

/// Returns the folder with the token that the list of callers names.
fn callers_folder() -> &'static Path {
    once!(TempDir, {
        let folder = super::quick_folder();
        super::write_private(&folder.path().join("token"), TOKEN.as_bytes());
        folder
    })
    .path()
}

fn callers(bytes: &[u8]) -> bool {
    Callers::parse(&String::from_utf8_lossy(bytes), callers_folder()).is_ok()
}
