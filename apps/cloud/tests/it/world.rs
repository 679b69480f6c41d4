//! A cloud in this process, and requests of its owner.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sotto_cloud::config::{Config, Settings};
use sotto_cloud::server::Server;
use sotto_keys::SigningIdentity;
use sotto_program::Plan;
use sotto_rlwe::{Bfv, EvaluationKeys, Params, Scheme};
use sotto_wire::{Forget, Order, OrderParts, Ordered};
use tempfile::TempDir;
use tokio::sync::oneshot;

use crate::conforms;
use crate::device::Device;

pub(crate) const TOKEN: &str = "the-owner-of-this-test";
/// Large enough for an envelope at n = 4096, small enough to exceed quickly.
pub(crate) const LARGEST_UPLOAD: u64 = 200_000;

/// Returns an order of the owner, given at a fixed time.
pub(crate) fn order(device: &str, what: Ordered) -> Order {
    let owner = SigningIdentity::from_bytes(&[77; 32]);
    let (given_at, device) = (1_700_000_000_000, device.to_owned());
    let parts = OrderParts { given_at, owner: owner.verifying_key(), device, what };
    Order::sign(parts, |message| owner.sign(message)).unwrap()
}

/// BFV with slots at n = 4096.
pub(crate) fn bfv() -> Params<Bfv> {
    Params::default_chain(4096, 40_961).unwrap()
}

/// A running cloud; dropping it stops the cloud and removes its folder.
pub(crate) struct World {
    folder: TempDir,
    change: fn(Settings) -> Settings,
    running: Option<Running>,
}

struct Running {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    thread: JoinHandle<anyhow::Result<()>>,
}

/// An HTTP answer.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) kind: String,
    /// The header `Link`; empty if absent.
    pub(crate) link: String,
    headers: ureq::http::HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl World {
    pub(crate) fn start() -> Self {
        Self::start_with(|settings| settings)
    }

    /// Starts a cloud with changed settings.
    pub(crate) fn start_with(change: fn(Settings) -> Settings) -> Self {
        let folder = tempfile::tempdir().unwrap();
        sotto_service::token::write_private(&folder.path().join("token"), &format!("{TOKEN}\n")).unwrap();
        let mut world = Self { folder, change, running: None };
        world.resume();
        world
    }

    /// Starts a cloud with parameters and a registered device.
    pub(crate) fn with_device() -> (Self, Params<Bfv>, Device<Bfv>) {
        let (world, device) = Self::with_device_in(Self::start());
        (world, bfv(), device)
    }

    pub(crate) fn with_device_in(world: Self) -> (Self, Device<Bfv>) {
        let params = bfv();
        let device = Device::new("kitchen", &params, 1);
        world.put_parameters(&params);
        world.register(&device);
        (world, device)
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    pub(crate) fn config(&self) -> Config {
        let settings = Settings {
            listen: Some("127.0.0.1:0".parse().unwrap()),
            data: Some(self.data()),
            owner_token_file: Some(self.folder.path().join("token")),
            largest_upload: Some(LARGEST_UPLOAD),
            // The demo runs with the default, one.
            threads: Some(2),
            ..Settings::default()
        };
        Config::new((self.change)(settings)).unwrap()
    }

    pub(crate) fn resume(&mut self) {
        let config = self.config();
        let (stop, stopped) = oneshot::channel::<()>();
        let (tell, address) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Runtime::new()?;
            runtime.block_on(async {
                let server = Server::open(&config).await?;
                tell.send(server.address())?;
                server.serve(async { drop(stopped.await) }).await
            })
        });
        let address = address.recv().expect("the cloud starts");
        self.running = Some(Running { address, stop, thread });
    }

    pub(crate) fn stop(&mut self) {
        if let Some(running) = self.running.take() {
            let _ = running.stop.send(());
            running.thread.join().unwrap().unwrap();
        }
    }

    /// Stops the cloud and puts its store back as it was before: as if the process had been killed.
    pub(crate) fn kill(&mut self) {
        let (data, copy) = (self.data(), self.folder.path().join("killed"));
        copied(&data, &copy);
        self.stop();
        std::fs::remove_dir_all(&data).unwrap();
        std::fs::rename(&copy, &data).unwrap();
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address())
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.running.as_ref().unwrap().address
    }

    /// Returns the owner's client.
    pub(crate) fn client(&self) -> sotto_cloud_client::Cloud {
        sotto_cloud_client::Cloud::new(&self.url(""), TOKEN).unwrap()
    }

    /// Sends a request of the owner. A write of a registration replaces the one that is there.
    pub(crate) fn owner(&self, method: &str, path: &str, body: &[u8]) -> Answer {
        let is_write = path.starts_with("/v1/devices/") && method != "GET";
        if !is_write {
            return self.owner_with(method, path, &[], body);
        }
        let replaced = self.owner_with(method, path, &[("if-match", "*")], body);
        match (method, replaced.status) {
            ("PUT", 412) => self.owner_with(method, path, &[("if-none-match", "*")], body),
            _ => replaced,
        }
    }

    /// Sends a request of the owner with these headers.
    pub(crate) fn owner_with(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let authorization = format!("Bearer {TOKEN}");
        let headers = [&[("authorization", authorization.as_str())], headers].concat();
        send(method, &self.url(path), &headers, body)
    }

    /// Gives an order to delete windows that ended before a time.
    pub(crate) fn forget(&self, device: &str, stream: Option<&str>, until: i64) -> Answer {
        let forget = Forget { stream: stream.map(str::to_owned), until, next: 0, from_log: None };
        self.order(device, Ordered::Forget(forget))
    }

    /// Gives an order of the owner.
    pub(crate) fn order(&self, device: &str, what: Ordered) -> Answer {
        self.owner("POST", "/v1/orders", &order(device, what).write().unwrap())
    }

    /// Returns the JSON answer to a GET of the owner, which must succeed.
    pub(crate) fn ask(&self, path: &str) -> Value {
        self.owner("GET", path, &[]).expect(200)
    }

    /// Returns a log as a document: its head, and of each window its number, leaf, id, signed header and bytes on the way.
    pub(crate) fn log(&self, device: &str, stream: &str) -> Value {
        log_page(&self.owner("GET", &format!("/v1/log?device={device}&stream={stream}"), &[]))
    }

    /// Returns the windows of a whole log, read in pages of 100.
    pub(crate) fn whole_log(&self, device: &str, stream: &str) -> Vec<Value> {
        let mut windows = Vec::new();
        loop {
            let from = windows.len();
            let path = format!("/v1/log?device={device}&stream={stream}&from={from}&limit=100");
            let mut page = log_page(&self.owner("GET", &path, &[]));
            match page["windows"].as_array_mut() {
                Some(more) if !more.is_empty() => windows.append(more),
                _ => return windows,
            }
        }
    }

    pub(crate) fn put_parameters<S: Scheme>(&self, params: &Params<S>) -> Value {
        self.owner("PUT", "/v1/parameters", &sotto_wire::write_parameters(params.spec())).expect(200)
    }

    pub(crate) fn register<S: Scheme>(&self, device: &Device<S>) -> Value {
        let path = format!("/v1/devices/{}", device.name);
        self.owner("PUT", &path, device.registration().to_string().as_bytes()).expect(200)
    }

    pub(crate) fn put_keys<S: Scheme>(&self, keys: &EvaluationKeys<S>) -> Value {
        self.owner("PUT", "/v1/keys", &sotto_wire::write_evaluation_keys(keys)).expect(200)
    }

    pub(crate) fn put_plan(&self, plan: &Plan) -> String {
        let answer = self.owner("PUT", "/v1/plans", &sotto_wire::write_plan(plan).unwrap()).expect(200);
        assert_eq!(answer["steps"], plan.steps.len());
        answer["plan_id"].as_str().unwrap().to_owned()
    }

    /// Uploads under the envelope's own idempotency key; bytes that are no envelope, under `otherwise`.
    pub(crate) fn upload(&self, otherwise: &str, body: &[u8]) -> Answer {
        self.upload_as(&name_of(otherwise, body), body)
    }

    pub(crate) fn upload_as(&self, idempotency_key: &str, body: &[u8]) -> Answer {
        send("POST", &self.url("/v1/envelopes"), &[("idempotency-key", idempotency_key)], body)
    }

    /// Uploads an envelope that must be accepted; returns its id.
    pub(crate) fn keep(&self, body: &[u8]) -> String {
        let receipt = self.upload(&blake3::hash(body).to_hex(), body).expect(201);
        receipt["id"].as_str().unwrap().to_owned()
    }

    pub(crate) fn delete_transfer<S: Scheme>(&self, to: &Device<S>, from: &Device<S>) -> Answer {
        let (parameters, to, from) = (to.secret.params().id(), to.secret.id(), from.secret.id());
        self.owner("DELETE", &format!("/v1/keys/{parameters}/{to}/transfers/{from}"), &[])
    }

    pub(crate) fn submit(&self, plan: &str, inputs: &[&str]) -> Answer {
        self.owner("POST", "/v1/jobs", json!({ "plan": plan, "inputs": inputs }).to_string().as_bytes())
    }

    /// Waits until a job has ended; returns its state.
    pub(crate) fn ended(&self, job: &str) -> Value {
        let start = Instant::now();
        loop {
            let state = self.ask(&format!("/v1/jobs/{job}"));
            if state["state"] == "done" || state["state"] == "failed" {
                return state;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "{state}");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        self.stop();
    }
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("{self}"))
    }

    /// Asserts the status and returns the JSON.
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{self}");
        self.json()
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(|value| value.to_str().unwrap())
    }

    /// Asserts a problem document with this status and reason.
    pub(crate) fn refused(&self, status: u16, reason: &str) {
        assert_eq!(self.status, status, "{self}");
        assert_eq!(self.kind, "application/problem+json", "{self}");
        let problem = self.json();
        assert_eq!(problem["reason"], reason, "{self}");
        assert_eq!(problem["status"], status, "{self}");
        assert_eq!(problem["type"], format!("urn:sotto:problem:{reason}"), "{self}");
        assert!(problem["title"].is_string() && problem["detail"].is_string(), "{self}");
        assert!(!self.to_string().contains(TOKEN));
    }
}

impl std::fmt::Display for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {} {}", self.status, self.kind, String::from_utf8_lossy(&self.bytes))
    }
}

/// Returns the idempotency key of an envelope.
pub(crate) fn name_of(otherwise: &str, body: &[u8]) -> String {
    let envelope = sotto_wire::Envelope::read(body, u64::MAX);
    envelope.map_or_else(|_| otherwise.to_owned(), |envelope| envelope.header().upload_key())
}

pub(crate) fn send(method: &str, url: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
    try_send(method, url, headers, body).expect("an answer")
}

/// Sends a request; returns `None` if the other end closes. Compares every answer with the document of the interface.
pub(crate) fn try_send(method: &str, url: &str, headers: &[(&str, &str)], body: &[u8]) -> Option<Answer> {
    let mut request = ureq::http::Request::builder().method(method).uri(url);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let answer = match method {
        "GET" | "DELETE" => agent().run(request.body(()).unwrap()),
        _ => agent().run(request.body(body).unwrap()),
    };
    let answer = answer.ok().map(read)?;
    conforms::check(method, url, &answer);
    Some(answer)
}

/// Uploads with chunked transfer, so that no length is announced.
pub(crate) fn upload_unannounced(world: &World, idempotency_key: &str, mut body: &[u8]) -> Answer {
    let request =
        agent().post(world.url("/v1/envelopes")).header("idempotency-key", name_of(idempotency_key, body));
    read(request.send(ureq::SendBody::from_reader(&mut body)).unwrap())
}

fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(60)))
        .build();
    config.into()
}

fn read(mut answer: ureq::http::Response<ureq::Body>) -> Answer {
    let header = |name| answer.headers().get(name).map_or("", |value| value.to_str().unwrap()).to_owned();
    let (kind, link) = (header("content-type"), header("link"));
    let bytes = answer.body_mut().with_config().limit(64 << 20).read_to_vec().unwrap();
    let (status, headers) = (answer.status().as_u16(), answer.headers().clone());
    Answer { status, kind, link, headers, bytes }
}

/// Copies a folder with all that is in it.
fn copied(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copied(&entry.path(), &target);
        } else {
            std::fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// Returns a page of a log as a document.
pub(crate) fn log_page(answer: &Answer) -> Value {
    assert_eq!(answer.status, 200, "{answer}");
    let page = sotto_wire::LogPage::read(&answer.bytes).unwrap();
    let window = |entry: sotto_wire::LogEntry| {
        let mut window =
            json!({ "sequence": entry.sequence, "leaf": hex::encode(entry.leaf), "bytes": entry.bytes });
        if let Some(id) = entry.id {
            window["id"] = json!(hex::encode(id));
        }
        if let Some(signed) = entry.signed {
            window["signed"] = json!(hex::encode(signed.write()));
        }
        window
    };
    let windows: Vec<Value> = page.entries().unwrap().into_iter().map(window).collect();
    json!({ "head": hex::encode(page.head), "windows": windows })
}
