//! A recryptor process in a folder of its own.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, LazyLock, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;
use sotto_keys::partial::RecryptorSecret;
use sotto_keys::partial::paillier::Masking;
use sotto_keys::{DeviceSecret, Protection};
use sotto_partial::elgamal::{Group, GroupName};
use sotto_partial::{elgamal, paillier};
use sotto_recryptor_client::{Address, RemoteRecryptor};
use sotto_wire::ExchangeKeys;
use tempfile::TempDir;

pub(crate) const TOKEN: &str = "the-cloud-of-this-test";
/// Token of a caller with a quota of 10 numbers a day.
pub(crate) const POOR: &str = "the-poor-one-of-this-test";
/// Tokens that must appear neither in the log nor in the audit.
const SECRETS: [&str; 2] = [TOKEN, POOR];

/// The keys of a device and their public halves.
pub(crate) struct Keys {
    pub(crate) secret: RecryptorSecret,
    pub(crate) paillier: Arc<paillier::PublicKey>,
    pub(crate) elgamal: Arc<elgamal::PublicKey>,
}

impl Keys {
    fn of(device: u8) -> Self {
        let device = DeviceSecret::from_bytes(&[device; 32]);
        let group = Some(GroupName::Ffdhe2048);
        let secret = RecryptorSecret::derive(&device, 2048, Masking::HalfLength, group).unwrap();
        let paillier = Arc::new(secret.paillier.public_key().unwrap());
        let elgamal = Arc::new(secret.elgamal.as_ref().unwrap().public_key());
        Self { secret, paillier, elgamal }
    }

    pub(crate) fn exchange(&self) -> ExchangeKeys<'_> {
        ExchangeKeys { paillier: &self.paillier, elgamal: Some(&self.elgamal) }
    }

    pub(crate) fn group(&self) -> &Group {
        self.elgamal.group()
    }

    pub(crate) fn encrypt(&self, value: i128) -> paillier::Ciphertext {
        let mut rng = sotto_ring::secure_rng().unwrap();
        self.paillier.encrypt(&self.paillier.signed(value), &mut rng).unwrap()
    }
}

/// The keys of every recryptor in these tests.
pub(crate) static KEYS: LazyLock<Keys> = LazyLock::new(|| Keys::of(1));
/// The keys of another device.
pub(crate) static OTHERS: LazyLock<Keys> = LazyLock::new(|| Keys::of(2));

/// A recryptor; dropping it kills its process.
pub(crate) struct World {
    folder: TempDir,
    address: String,
    child: Mutex<Option<Child>>,
}

pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) bytes: Vec<u8>,
}

pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sotto-recryptor"));
    let set = std::env::vars_os().map(|(name, _)| name);
    set.filter(|name| name.to_string_lossy().starts_with("SOTTO_")).for_each(|name| {
        command.env_remove(name);
    });
    command
}

impl World {
    /// Creates a key file and two callers, and starts the process.
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let mut rng = sotto_ring::secure_rng().unwrap();
        KEYS.secret.write(&path("recryptor.key"), &Protection::FileMode, &mut rng).unwrap();
        sotto_service::token::write_private(&path("cloud.token"), TOKEN).unwrap();
        sotto_service::token::write_private(&path("poor.token"), POOR).unwrap();
        let caller = |name: &str, numbers: u64| {
            format!(
                "[[caller]]\nname = \"{name}\"\ntoken_file = \"{name}.token\"\nnumbers_a_day = {numbers}\n"
            )
        };
        std::fs::write(path("callers.toml"), caller("cloud", 1_000_000) + &caller("poor", 10)).unwrap();
        let mut world = Self { folder, address: "127.0.0.1:0".into(), child: Mutex::default() };
        world.resume();
        world.address = std::fs::read_to_string(world.folder.path().join("address")).unwrap();
        world
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Returns the address for the client.
    pub(crate) fn address(&self) -> Address {
        Address::new(&self.url()).unwrap()
    }

    /// Returns the command that starts the recryptor at its address.
    pub(crate) fn command(&self) -> Command {
        let path = |name: &str| self.folder.path().join(name);
        let mut command = program();
        command.args(["run", "--listen", &self.address, "--data"]).arg(path("data"));
        command.arg("--key-file").arg(path("recryptor.key"));
        command.arg("--callers-file").arg(path("callers.toml"));
        command.arg("--address-file").arg(path("address"));
        // The process ends with this one, however this one ends.
        command.arg("--exit-with-stdin").stdin(Stdio::piped());
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command
    }

    /// Starts the process and waits until it listens.
    pub(crate) fn resume(&self) {
        self.resume_with(|_| {});
    }

    /// Like `resume`, with a changed command.
    pub(crate) fn resume_with(&self, change: impl FnOnce(&mut Command)) {
        let file = self.folder.path().join("address");
        let _ = std::fs::remove_file(&file);
        let log = std::fs::OpenOptions::new().create(true).append(true).open(self.folder.path().join("log"));
        let mut command = self.command();
        change(&mut command);
        let child = command.stderr(log.unwrap()).spawn().unwrap();
        *self.child.lock().unwrap() = Some(child);
        let start = Instant::now();
        while !file.exists() {
            assert!(start.elapsed() < Duration::from_secs(30), "{}", self.log());
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills the process as `kill -9` does.
    pub(crate) fn kill(&self) {
        if let Some(mut child) = self.child.lock().unwrap().take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    /// Stops the process with SIGTERM.
    pub(crate) fn stop(&self) {
        let child = self.child.lock().unwrap().take().unwrap();
        let sent = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
        assert!(sent.success());
        assert!(child.wait_with_output().unwrap().status.success(), "{}", self.log());
    }

    pub(crate) fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    pub(crate) fn client(&self, token: &str) -> RemoteRecryptor {
        RemoteRecryptor::connect(&self.address(), token).unwrap()
    }

    pub(crate) fn audit(&self, more: &[&str]) -> Output {
        program().args(["audit", "--data"]).arg(self.folder.path().join("data")).args(more).output().unwrap()
    }

    /// Returns the audit's counts for a caller and an event: batches, products, conversions to ElGamal and to Paillier,
    /// numbers.
    pub(crate) fn counted(&self, caller: &str, event: &str) -> [u64; 5] {
        let output = self.audit(&["--json"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let rows: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
        // Midnight may be between two of the counts: add the days.
        let of = |field: &str| {
            let chosen = rows.iter().filter(|row| row["caller"] == caller && row["event"] == event);
            chosen.map(|row| row[field].as_u64().unwrap()).sum()
        };
        ["batches", "products", "to_elgamal", "to_paillier", "numbers"].map(of)
    }

    pub(crate) fn post(&self, token: Option<&str>, body: &[u8]) -> Answer {
        post(&self.url(), token, body)
    }

    pub(crate) fn ask(&self, token: Option<&str>, path: &str) -> Answer {
        let mut request = agent().get(format!("{}{path}", self.url()));
        if let Some(token) = token {
            request = request.header("Authorization", format!("Bearer {token}"));
        }
        read(request.call().unwrap())
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.kill();
        let log = self.log();
        assert!(std::thread::panicking() || !SECRETS.iter().any(|secret| log.contains(secret)), "{log}");
    }
}

impl Answer {
    /// Asserts a problem document with this status and reason.
    pub(crate) fn refused(&self, status: u16, reason: &str) {
        let text = String::from_utf8_lossy(&self.bytes);
        assert_eq!(self.status, status, "{text}");
        let problem: Value = serde_json::from_slice(&self.bytes).unwrap();
        assert_eq!(problem["reason"], reason, "{text}");
        assert!(problem["detail"].as_str().is_some_and(|detail| !detail.is_empty()), "{text}");
    }

    pub(crate) fn json(&self) -> Value {
        assert_eq!(self.status, 200);
        serde_json::from_slice(&self.bytes).unwrap()
    }
}

/// Sends a batch to the recryptor at this address.
pub(crate) fn post(url: &str, token: Option<&str>, body: &[u8]) -> Answer {
    let mut request = agent().post(format!("{url}/v1/exchange"));
    if let Some(token) = token {
        request = request.header("Authorization", format!("Bearer {token}"));
    }
    read(request.send(body).unwrap())
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(60)))
        .build();
    config.into()
}

fn read(mut answer: ureq::http::Response<ureq::Body>) -> Answer {
    let bytes = answer.body_mut().with_config().limit(4 << 20).read_to_vec().unwrap();
    Answer { status: answer.status().as_u16(), bytes }
}
