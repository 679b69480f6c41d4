//! Surroundings of a device under test: a cloud that follows a script, and a folder with a bundle.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Arc, Mutex};
use std::thread;

use sotto_agent::source::{Generator, Sensors, Source};
use sotto_agent::stop::Stop;
use sotto_keys::{DeviceBundle, DeviceKeys, DeviceSecret, Protection, SecretKey, SigningIdentity};
use sotto_pack::{Channel, DeviceProfile, Encoding, Period, Span, StreamProfile};
use sotto_ring::secure_rng;
use sotto_rlwe::{Bfv, Bgv, Ckks, Params, Scheme};
use sotto_wire::{
    Envelope, Heads, SignedHeader, StreamHeader, WindowGroup, is_group, message_digest, write_parameters,
    write_public_key,
};
use tempfile::TempDir;

/// The cloud's reaction to one upload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Act {
    /// Closes the connection without an answer.
    Drop,
    /// Answers with a status and a problem document of another service.
    Status(u16),
    /// Refuses for good.
    Refuse(u16),
    /// Answers that it has another message with this number.
    Taken,
    /// Answers that it has another message with number 0, and stores what has other numbers.
    FirstTaken,
    /// Answers that another window has a tick of this one.
    TickTaken,
    /// Refuses the message as too large.
    TooLarge,
    /// Gives a receipt for another message.
    OtherReceipt,
    /// Gives an empty list of receipts.
    FewReceipts,
    /// Stores it and gives a receipt.
    Store,
    /// Answers that it already has the message.
    Duplicate,
}

/// An upload that arrived.
#[derive(Clone, Debug)]
pub struct Upload {
    pub key: String,
    pub body: Vec<u8>,
}

/// A cloud on loopback. After the end of the script it repeats the last act.
pub struct Cloud {
    pub address: SocketAddr,
    uploads: Arc<Mutex<Vec<Upload>>>,
    told: Arc<Mutex<Told>>,
}

/// The heads that a cloud tells, of one stream, and the time before which the owner has deleted windows.
#[derive(Clone, Default)]
struct Told {
    heads: Vec<SignedHeader>,
    forgotten_until: Option<i64>,
}

impl Cloud {
    /// Starts a cloud that does not know groups.
    pub fn start(script: &[Act]) -> Self {
        Self::start_with(script, None)
    }

    /// Starts a cloud that takes groups of windows of this stream.
    pub fn start_with(script: &[Act], stream: Option<Arc<StreamHeader>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let uploads = Arc::new(Mutex::new(Vec::new()));
        let (mut script, arrived) = (VecDeque::from(script.to_vec()), Arc::clone(&uploads));
        let told = Arc::new(Mutex::new(Told::default()));
        let tells = Arc::clone(&told);
        // The thread ends with the process.
        thread::spawn(move || {
            for connection in listener.incoming() {
                let mut next = || if script.len() > 1 { script.pop_front() } else { script.front().copied() };
                let act = || next().unwrap();
                if let Some(upload) = serve(connection.unwrap(), stream.as_ref(), &tells, act) {
                    arrived.lock().unwrap().push(upload);
                }
            }
        });
        Self { address, uploads, told }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Answers questions for a position or for heads with these, from now on.
    pub fn tell(&self, heads: Vec<SignedHeader>) {
        self.told.lock().unwrap().heads = heads;
    }

    /// Says that the owner has deleted the windows before this time, from now on.
    pub fn forget(&self, until: i64) {
        self.told.lock().unwrap().forgotten_until = Some(until);
    }

    /// Returns all uploads, refused or not.
    pub fn uploads(&self) -> Vec<Upload> {
        self.uploads.lock().unwrap().clone()
    }
}

/// Answers an upload by the script, and every question about a position with the last head.
fn serve(
    connection: TcpStream,
    stream: Option<&Arc<StreamHeader>>,
    told: &Mutex<Told>,
    act: impl FnOnce() -> Act,
) -> Option<Upload> {
    let mut reader = BufReader::new(connection);
    let (mut key, mut length, mut line) = (String::new(), 0, String::new());
    reader.read_line(&mut line).ok()?;
    let is_position = line.starts_with("POST /v1/position");
    let asks_heads = line.starts_with("POST /v1/heads ");
    loop {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let lower = line.trim_end().to_ascii_lowercase();
        if lower.is_empty() {
            break;
        }
        if let Some(value) = lower.strip_prefix("idempotency-key: ") {
            value.clone_into(&mut key);
        }
        if let Some(value) = lower.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    if is_position || asks_heads {
        let Told { heads, forgotten_until } = told.lock().unwrap().clone();
        let answer = match heads.last() {
            Some(_) if asks_heads => Heads { heads, more: false }.write(),
            Some(last) => {
                let (next, frame) = (last.header().sequence + 1, hex::encode(last.write()));
                let until = forgotten_until.map(|until| format!(",\"forgotten_until\":{until}"));
                let until = until.unwrap_or_default();
                format!("{{\"next\":{next},\"signed_header\":\"{frame}\"{until}}}").into_bytes()
            }
            None if asks_heads => Heads { heads, more: false }.write(),
            None => match forgotten_until {
                Some(until) => format!("{{\"next\":1,\"forgotten_until\":{until}}}").into_bytes(),
                None => b"{\"next\":0}".to_vec(),
            },
        };
        let head = format!("HTTP/1.1 200 X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", answer.len());
        reader.into_inner().write_all(&[head.into_bytes(), answer].concat()).ok()?;
        return None;
    }
    let windows = match (is_group(&body), stream) {
        (false, _) => Vec::new(),
        (true, Some(stream)) => WindowGroup::read(&body, stream).unwrap().windows().to_vec(),
        // A cloud without groups expects a frame.
        (true, None) => {
            let answer = "{\"type\":\"urn:sotto:problem:not-a-frame\"}";
            let length = answer.len();
            let head = format!(
                "HTTP/1.1 400 X\r\nContent-Type: application/problem+json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
            );
            reader.into_inner().write_all(format!("{head}{answer}").as_bytes()).ok()?;
            return None;
        }
    };
    let has_first = windows.iter().any(|window| window.header().sequence == 0) || key.ends_with(".0");
    let act = match act() {
        Act::FirstTaken if has_first => Act::Taken,
        Act::FirstTaken => Act::Store,
        act => act,
    };
    let receipt = |digest: Option<[u8; 32]>, duplicate: bool| {
        let one = |key: &str, stored: [u8; 32]| {
            let digest = hex::encode(digest.unwrap_or(stored));
            format!(
                "{{\"id\":\"envelope of {key}\",\"digest\":\"{digest}\",\"stored_at\":1,\"duplicate\":{duplicate}}}"
            )
        };
        if windows.is_empty() {
            return one(&key, message_digest(&body).unwrap());
        }
        let of = |window: &Envelope| one(&window.header().upload_key(), window.window_digest().unwrap());
        format!("[{}]", windows.iter().map(of).collect::<Vec<_>>().join(","))
    };
    let (status, answer) = match act {
        Act::Drop => return Some(Upload { key, body }),
        Act::Status(status) => (status, format!("{{\"type\":\"tag:test\",\"title\":\"status {status}\"}}")),
        Act::Refuse(status) => (
            status,
            format!("{{\"type\":\"urn:sotto:problem:invalid-value\",\"title\":\"status {status}\"}}"),
        ),
        Act::Taken | Act::FirstTaken => (409, "{\"type\":\"urn:sotto:problem:sequence-taken\"}".to_owned()),
        Act::TickTaken => (409, "{\"type\":\"urn:sotto:problem:tick-taken\"}".to_owned()),
        Act::TooLarge => (413, "{\"type\":\"urn:sotto:problem:too-large\"}".to_owned()),
        Act::OtherReceipt => (201, receipt(Some([0; 32]), false)),
        Act::FewReceipts => (201, "[]".to_owned()),
        Act::Store => (201, receipt(None, false)),
        Act::Duplicate => (200, receipt(None, true)),
    };
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/problem+json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        answer.len()
    );
    let mut stream = reader.into_inner();
    stream.write_all(format!("{head}{answer}").as_bytes()).ok()?;
    Some(Upload { key, body })
}

/// A folder with the bundle of a device that has one stream per scheme.
pub struct Site {
    pub folder: TempDir,
    pub secret: DeviceSecret,
    pub identity: SigningIdentity,
    pub profile: DeviceProfile,
}

pub const BITS: u32 = 12;

pub fn params<S: Scheme>() -> Params<S> {
    Params::default_chain(4096, 65537).unwrap()
}

/// Returns the channels of the generator.
pub fn generated() -> Vec<Channel> {
    Generator::new(1, Period::from_milliseconds(1)).channels().to_vec()
}

/// Returns the channels of this machine's sensors; `None`, and says why, if it has none.
pub fn sensed() -> Option<Vec<Channel>> {
    Sensors::open(Period::from_milliseconds(1), Stop::new())
        .inspect_err(|why| eprintln!("skipped: {why}"))
        .ok()
        .map(|sensors| sensors.channels().to_vec())
}

impl Site {
    /// Creates a device with windows of `ticks` ticks, for the generator.
    pub fn new(ticks: u32, period_ms: u32) -> Self {
        Self::with(ticks, period_ms, &generated())
    }

    /// Creates a device with windows of `ticks` ticks of these channels.
    pub fn with(ticks: u32, period_ms: u32, channels: &[Channel]) -> Self {
        let (folder, mut rng) = (tempfile::tempdir().unwrap(), secure_rng().unwrap());
        let (secret, identity) = (DeviceSecret::generate(&mut rng), SigningIdentity::generate(&mut rng));
        let integers = Encoding::Integer { bits: BITS };
        let profile = DeviceProfile {
            device: "device-1".into(),
            zone: None,
            period_ms: Period::from_milliseconds(period_ms),
            cloud_keys: Vec::new(),
            owner_key: None,
            streams: vec![
                stream::<Bfv>("bfv", integers, ticks, channels),
                stream::<Bgv>("bgv", integers, ticks, channels),
                stream::<Ckks>("ckks", Encoding::Real, ticks, channels),
            ],
            derived: Vec::new(),
            record: None,
        };
        let site = Self { folder, secret, identity, profile };
        site.write("device.bundle", site.secret_keys(), site.profile.to_json().unwrap());
        site
    }

    /// Returns the keys of a bundle that holds the device's secret.
    pub fn secret_keys(&self) -> DeviceKeys {
        DeviceKeys::Secret(DeviceSecret::from_bytes(self.secret.expose_secret_bytes()))
    }

    /// Returns the frames of the device's public keys, in another order than the streams.
    pub fn public_keys(&self) -> [Vec<u8>; 3] {
        [public_key::<Ckks>(&self.secret), public_key::<Bfv>(&self.secret), public_key::<Bgv>(&self.secret)]
    }

    /// Returns the profile of a device that holds public keys.
    pub fn public_profile(&self) -> Vec<u8> {
        let mut profile = self.profile.clone();
        profile.streams.iter_mut().for_each(|stream| stream.public = true);
        profile.to_json().unwrap()
    }

    /// Writes a bundle with these keys and this profile.
    pub fn write(&self, name: &str, keys: DeviceKeys, profile: Vec<u8>) {
        let bundle = DeviceBundle {
            keys,
            identity: SigningIdentity::from_bytes(self.identity.expose_secret_bytes()),
            cloud: "http://127.0.0.1:9".into(),
            authority: None,
            profile,
        };
        let _ = std::fs::remove_file(self.path(name));
        bundle.write(&self.path(name), &Protection::FileMode, &mut secure_rng().unwrap()).unwrap();
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn spool(&self) -> PathBuf {
        self.path("spool")
    }

    /// Returns `sotto-agent run` with the device's bundle.
    pub fn run(&self, cloud: &str) -> Command {
        self.run_with("device.bundle", cloud)
    }

    /// Returns `sotto-agent run` with this bundle.
    pub fn run_with(&self, bundle: &str, cloud: &str) -> Command {
        let mut command = agent();
        command.args(["run", "--cloud", cloud]);
        for (argument, name) in [
            ("--bundle", bundle),
            ("--spool", "spool"),
            ("--report", "report.json"),
            ("--clear-log", "clear.json"),
        ] {
            command.arg(argument).arg(self.path(name));
        }
        command
    }

    pub fn json(&self, name: &str) -> serde_json::Value {
        serde_json::from_slice(&std::fs::read(self.path(name)).unwrap()).unwrap()
    }
}

fn stream<S: Scheme>(name: &str, encoding: Encoding, ticks: u32, channels: &[Channel]) -> StreamProfile {
    StreamProfile {
        stream: name.into(),
        parameters: hex::encode(write_parameters(params::<S>().spec())),
        encoding,
        ticks,
        period_ms: None,
        span: Some(Span::Hour),
        channels: channels.to_vec(),
        sums: Vec::new(),
        rounded: false,
        compact: None,
        slots: None,
        envelope: 1,
        public: false,
        absolute: false,
    }
}

fn public_key<S: Scheme>(secret: &DeviceSecret) -> Vec<u8> {
    write_public_key(&SecretKey::derive(secret, &params::<S>()).public_key(&mut secure_rng().unwrap()))
}

pub fn agent() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sotto-agent"));
    command.env_remove("RUST_LOG").stdin(std::process::Stdio::null());
    command
}

/// Returns the names of the files in a folder that end in `end`; none if a process was killed before it made the folder.
pub fn files(folder: &Path, end: &str) -> Vec<String> {
    let entries = match std::fs::read_dir(folder) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Vec::new(),
        entries => entries.unwrap(),
    };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(end)).collect();
    names.sort();
    names
}
