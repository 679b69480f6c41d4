//! A cloud without a socket. It knows parameters, a device, its keys and a plan, holds two envelopes, and has run a job
//! on them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use chacha20::ChaCha20Rng;
use rand_core::SeedableRng as _;
use serde_json::{Value, json};
use sotto_cloud::config::{Config, Settings};
use sotto_cloud::server::Server;
use sotto_conformance::golden;
use sotto_keys::{SecretKey, SigningIdentity};
use sotto_pack::{Channel, Period, WindowDescription};
use sotto_program::{InputDeclaration, ParseOptions, Plan, parse};
use sotto_rlwe::{Bfv, Kept, KeyId, Origin, ParameterSpec, Params, Scheme as _, SchemeId};
use sotto_runtime::{Encoding, RlweTarget};
use sotto_wire::{
    AnyCiphertext, Envelope, EnvelopeHeader, MaskName, SlotsWindow, StreamHeader, StreamParts, WindowGroup,
    WindowValues, mask_seed, write_parameters, write_plan,
};
use tempfile::TempDir;
use tokio::runtime::Runtime;

use super::connection::{self, body, is_accepted, key_of};
use super::once;

pub(super) const TOKEN: &str = "the-owner-of-this-test";
pub(super) const DEVICE: &str = "device-1";
/// Placeholders in inputs for names that each site draws anew; of the same length as the names.
const FIRST: &str = "0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a";
const SECOND: &str = "0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c";
const JOB: &str = "0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d0d";
/// A site that has accepted this many requests is replaced, so that its store does not grow without limit.
const MOST_TAKEN: usize = 2000;

/// Secure parameters with a special prime, and small: n = 2048.
pub(super) fn params() -> &'static Params<Bfv> {
    once!(Params<Bfv>, {
        let primes: Vec<u64> = sotto_ring::primes::below(1 << 26, 2048).take(2).collect();
        let (special, data) = (primes[..1].to_vec(), primes[1..].to_vec());
        let spec =
            ParameterSpec { scheme: SchemeId::Bfv, degree: 2048, special, data, digit_primes: 1, plain: 17 };
        Params::new(spec).expect("secure parameters")
    })
}

pub(super) fn secret() -> &'static SecretKey<Bfv> {
    once!(SecretKey<Bfv>, golden::secret(params()))
}

/// Returns another key of the device: the source of a transfer key must be a registered key.
pub(super) fn other_secret() -> SecretKey<Bfv> {
    golden::secret_from([3; 32], params())
}

pub(super) fn identity() -> SigningIdentity {
    SigningIdentity::from_bytes(&golden::SIGNING_KEY)
}

pub(super) fn registration() -> Vec<u8> {
    let parameters = params().id().to_string();
    let named = |key: KeyId| json!({ "parameter_id": parameters, "key_id": key.to_string() });
    let verifying: String = identity().verifying_key().iter().map(|byte| format!("{byte:02x}")).collect();
    json!({ "verifying_key": verifying, "keys": [named(secret().id()), named(other_secret().id())] })
        .to_string()
        .into_bytes()
}

/// Returns the frame of a signed envelope.
pub(super) fn envelope(sequence: u64) -> Vec<u8> {
    let params = params();
    let plain = Bfv::encode_scalar(params, 3, params.top_level()).expect("encodes");
    let mut rng = ChaCha20Rng::seed_from_u64(sequence);
    let body = AnyCiphertext::Seeded(secret().encrypt(&plain, &mut rng).expect("encrypts")).write();
    let (parameters, key) = (params.id(), secret().id());
    signed(EnvelopeHeader { sequence, parameters, key, ..golden::envelope_header() }, body).expect("a frame")
}

/// Slots of the windows of [`stream`].
const SLOTS: u32 = 4;

/// Returns the header of a stream of windows of slots.
pub(super) fn stream() -> &'static Arc<StreamHeader> {
    once!(Arc<StreamHeader>, {
        let channel = Channel {
            name: "level".into(),
            unit: String::new(),
            minimum: 0.0,
            maximum: 4.0,
            resolution: Some(1.0),
            ..Channel::default()
        };
        let parts = StreamParts {
            device: DEVICE.into(),
            stream: "steps".into(),
            parameters: params().id(),
            key: secret().id(),
            period: 60_000,
            ticks: 4,
            channels: vec![channel],
            values: WindowValues::Steps(SLOTS),
        };
        Arc::new(StreamHeader::new(parts).expect("a stream"))
    })
}

/// Returns a group of four windows of [`stream`].
pub(super) fn group() -> Vec<u8> {
    let windows = (0..4_u64).map(|sequence| {
        let description = WindowDescription {
            layout: stream().layout().clone(),
            present: vec![4],
            start: 240_000 * sequence.cast_signed(),
            period: Period::from_milliseconds(60_000),
            length: 4,
            presence: Vec::new(),
            left_out: Vec::new(),
            rounded: None,
            generated: false,
            replaces: None,
            provisional: false,
        };
        let (mask, kept) = (MaskName { salt: [5; 12], sequence }, Kept::Folded(SLOTS as usize));
        let (parameters, key) = (params().id(), secret().id());
        let seed = mask_seed(key, stream().stream(), &mask);
        // Any residues are those of a ciphertext.
        let body = vec![sequence as u8; SlotsWindow::body_bytes(params(), kept)];
        let body = SlotsWindow { parameters, key, kept, mask, seed, body }.write();
        Envelope::sign_window(stream(), sequence, description, &body, |message| identity().sign(message))
    });
    let windows = windows.collect::<Result<_, _>>();
    grouped(windows.expect("windows")).expect("a group")
}

/// Signs a group. None if the windows form no group.
pub(super) fn grouped(windows: Vec<Envelope>) -> Option<Vec<u8>> {
    WindowGroup::sign(windows, |message| identity().sign(message)).map(|group| group.write()).ok()
}

/// Signs an envelope. None if it cannot be written.
pub(super) fn signed(header: EnvelopeHeader, body: Vec<u8>) -> Option<Vec<u8>> {
    Envelope::sign(header, body, |message| identity().sign(message)).map(|e| e.write()).ok()
}

pub(super) fn plan() -> Plan {
    let inputs = ["x", "y"].map(|name| InputDeclaration::new(name, 3.0)).to_vec();
    let options = ParseOptions { inputs, ..ParseOptions::default() };
    let program = parse("2*x - y + 1", &options).expect("an expression").program;
    let (params, origin) = (params().clone(), Origin::SecretKey);
    let target = RlweTarget { params, encoding: Encoding::Scalar, origin, kept: None, may_wrap: true };
    target.lower_with_shapes(&program).expect("a plan").plan
}

/// Returns the body that submits a job.
pub(super) fn submission() -> Vec<u8> {
    let plan = sotto_wire::frame_digest(&write_plan(&plan()).expect("a frame")).expect("a frame");
    let plan: String = plan.iter().map(|byte| format!("{byte:02x}")).collect();
    json!({ "plan": plan, "inputs": [FIRST, SECOND], "key": secret().id().to_string() })
        .to_string()
        .into_bytes()
}

pub(super) fn placeholders() -> [&'static str; 3] {
    [FIRST, SECOND, JOB]
}

/// Returns the owner's request with a body. An envelope or a group determines its idempotency key.
pub(super) fn request(line: &str, body: &[u8]) -> Vec<u8> {
    let envelope = Envelope::read(body, sotto_wire::LARGEST_ENVELOPE);
    let group = WindowGroup::read(body, stream());
    let key = match (envelope, group) {
        (Ok(envelope), _) => envelope.header().upload_key(),
        (_, Ok(group)) => group.upload_key(),
        _ => key_of(body),
    };
    let request = connection::request(line, TOKEN, &key, body);
    // A registration replaces the one of the site.
    if line.starts_with("PUT /v1/devices/") { on_condition(&request, "if-match: *") } else { request }
}

/// Adds the header of a condition.
fn on_condition(request: &[u8], condition: &str) -> Vec<u8> {
    let (line, rest) =
        request.split_at(request.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1));
    [line, condition.as_bytes(), b"\r\n", rest].concat()
}

/// A running cloud.
struct Site {
    runtime: Runtime,
    router: axum::Router,
    server: Server,
    /// The site's names, in the order of the placeholders.
    names: [String; 3],
    taken: usize,
    /// Dropped last: the store is in it.
    _folder: TempDir,
}

impl Site {
    fn open() -> Self {
        let folder = super::quick_folder();
        let token = folder.path().join("token");
        super::write_private(&token, TOKEN.as_bytes());
        let settings = Settings {
            listen: Some(([127, 0, 0, 1], 0).into()),
            data: Some(folder.path().join("data")),
            owner_token_file: Some(token),
            workers: Some(1),
            ..Settings::default()
        };
        let runtime = connection::runtime();
        let config = Config::new(settings).expect("a configuration");
        let server = runtime.block_on(Server::open(&config)).expect("a cloud");
        let names = placeholders().map(str::to_owned);
        let mut site = Self { runtime, router: server.router(), server, names, taken: 0, _folder: folder };
        site.fill();
        site
    }

    fn fill(&mut self) {
        self.ask("PUT /v1/parameters", &write_parameters(params().spec()));
        let mut device: Value = serde_json::from_slice(&registration()).expect("JSON");
        let header = stream().write();
        device["streams"] = json!([header.iter().map(|byte| format!("{byte:02x}")).collect::<String>()]);
        for name in [DEVICE, "kitchen"] {
            let registration = if name == DEVICE { device.to_string().into_bytes() } else { registration() };
            let put = connection::request(&format!("PUT /v1/devices/{name}"), TOKEN, "k", &registration);
            let answer = self.exchange(&on_condition(&put, "if-none-match: *"));
            assert!(is_accepted(&answer), "{name}: {}", String::from_utf8_lossy(&answer));
        }
        self.ask("PUT /v1/plans", &write_plan(&plan()).expect("a frame"));
        for number in 0..2 {
            let receipt = self.ask("POST /v1/envelopes", &envelope(number));
            self.names[number as usize] = receipt["id"].as_str().expect("a name").to_owned();
        }
        let job = self.ask("POST /v1/jobs", &submission());
        self.names[2] = job["job"].as_str().expect("a name").to_owned();
        let (start, line) = (Instant::now(), format!("GET /v1/jobs/{}", self.names[2]));
        while self.ask(&line, b"")["state"] != "done" {
            assert!(start.elapsed() < Duration::from_secs(60), "the job ends");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Sends a request that must succeed.
    fn ask(&mut self, line: &str, body_sent: &[u8]) -> Value {
        let answer = self.exchange(&request(line, body_sent));
        assert!(is_accepted(&answer), "{line}: {}", String::from_utf8_lossy(&answer));
        serde_json::from_slice(body(&answer)).expect("JSON")
    }

    fn exchange(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut named = bytes.to_vec();
        for (placeholder, name) in placeholders().into_iter().zip(&self.names) {
            replace(&mut named, placeholder.as_bytes(), name.as_bytes());
        }
        let answer = connection::exchange(&self.runtime, &self.router, &named);
        self.taken += usize::from(is_accepted(&answer));
        answer
    }

    /// Stops the cloud and its workers.
    fn close(self) {
        self.runtime.block_on(self.server.serve(std::future::ready(()))).expect("it stops");
    }
}

/// Replaces each occurrence of a name by another one of the same length.
fn replace(bytes: &mut [u8], from: &[u8], to: &[u8]) {
    let places: Vec<usize> = memchr::memmem::find_iter(bytes, from).collect();
    for at in places {
        bytes[at..at + to.len()].copy_from_slice(to);
    }
}

/// Sends bytes to the target's own cloud, so that no target sees the state of another.
pub(super) fn exchange(target: &'static str, bytes: &[u8]) -> Vec<u8> {
    type Sites = Mutex<BTreeMap<&'static str, Arc<Mutex<Option<Site>>>>>;
    let sites = once!(Sites, Sites::default());
    let site = Arc::clone(sites.lock().unwrap_or_else(PoisonError::into_inner).entry(target).or_default());
    let mut site = site.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(full) = site.take_if(|site| site.taken > MOST_TAKEN) {
        // On a thread of its own, like its opening: a site's memory is not that of a request.
        std::thread::spawn(move || full.close()).join().expect("a closed site");
    }
    let open = || std::thread::spawn(Site::open).join().expect("a site");
    site.get_or_insert_with(open).exchange(bytes)
}
