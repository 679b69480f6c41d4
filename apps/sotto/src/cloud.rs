//! The owner's side of the cloud's interface.

use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

/// Most bytes taken from the cloud at once: 64 MiB.
const LARGEST_ANSWER: u64 = 64 << 20;
const TIME_OUT: Duration = Duration::from_secs(60);

/// A cloud, and the token with which its owner speaks to it.
pub(crate) struct Cloud {
    url: String,
    token: String,
    agent: ureq::Agent,
}

/// What the cloud tells of a stored window.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Envelope {
    pub(crate) id: String,
    pub(crate) device: String,
    pub(crate) stream: String,
    pub(crate) readings: u32,
    pub(crate) layout: Value,
}

#[derive(Debug, Deserialize)]
struct JobState {
    state: String,
    #[serde(default)]
    error: Option<Value>,
    #[serde(default)]
    evaluate_us: Option<f64>,
}

impl Cloud {
    /// At this address.
    pub(crate) fn new(url: String, token: String) -> Self {
        // Problem documents are read whatever the status is.
        // A proxy is another machine, and the token is for this cloud alone.
        let config = ureq::Agent::config_builder().proxy(None).max_redirects(0);
        let config = config.http_status_as_error(false).timeout_global(Some(TIME_OUT));
        Self { url, token, agent: config.build().into() }
    }

    fn answer<T>(
        &self,
        what: &str,
        response: Result<ureq::http::Response<ureq::Body>, ureq::Error>,
        read: impl FnOnce(&[u8]) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let mut response = response.with_context(|| format!("the cloud at {} does not answer", self.url))?;
        let status = response.status();
        let bytes = response.body_mut().with_config().limit(LARGEST_ANSWER).read_to_vec()?;
        if status.is_success() {
            return read(&bytes);
        }
        let problem: Value = serde_json::from_slice(&bytes).unwrap_or_default();
        let detail = problem["detail"].as_str().or(problem["title"].as_str()).unwrap_or("no reason given");
        // It is shown in a terminal: without the other end's control characters, and no more than the beginning.
        let detail: String = detail.chars().filter(|c| !c.is_control()).take(400).collect();
        bail!("the cloud refused {what} ({}): {detail}", status.as_u16())
    }

    fn put(&self, what: &str, path: &str, body: &[u8], kind: &str) -> anyhow::Result<Value> {
        let request = self.agent.put(format!("{}{path}", self.url)).header("Authorization", self.bearer());
        self.answer(what, request.content_type(kind).send(body), as_json)
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    fn fetch<T>(
        &self,
        what: &str,
        path: &str,
        read: impl FnOnce(&[u8]) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let request = self.agent.get(format!("{}{path}", self.url)).header("Authorization", self.bearer());
        self.answer(what, request.call(), read)
    }

    /// Makes parameters known.
    pub(crate) fn put_parameters(&self, frame: &[u8]) -> anyhow::Result<()> {
        self.put("the parameters", "/v1/parameters", frame, FRAME).map(drop)
    }

    /// Registers a device: its verifying key, and the parameters and keys that it may send under.
    pub(crate) fn put_device(
        &self,
        name: &str,
        verifying_key: &str,
        keys: &[(String, String)],
    ) -> anyhow::Result<()> {
        let key = |(parameter_id, key_id): &(String, String)| json!({"parameter_id": parameter_id, "key_id": key_id});
        let body = json!({"verifying_key": verifying_key, "keys": keys.iter().map(key).collect::<Vec<_>>()});
        self.put(
            "the device",
            &format!("/v1/devices/{name}"),
            body.to_string().as_bytes(),
            "application/json",
        )
        .map(drop)
    }

    /// Uploads evaluation keys.
    pub(crate) fn put_keys(&self, frame: &[u8]) -> anyhow::Result<()> {
        self.put("the evaluation keys", "/v1/keys", frame, FRAME).map(drop)
    }

    /// Submits a plan; gives its name.
    pub(crate) fn put_plan(&self, frame: &[u8]) -> anyhow::Result<String> {
        let answer = self.put("the plan", "/v1/plans", frame, FRAME)?;
        answer["plan_id"].as_str().map(str::to_owned).context("the cloud gave the plan no name")
    }

    /// The windows of a device.
    pub(crate) fn envelopes(&self, device: &str) -> anyhow::Result<Vec<Envelope>> {
        self.fetch("the list of windows", &format!("/v1/envelopes?device={device}"), as_json)
    }

    /// A window's ciphertext as the cloud has it.
    pub(crate) fn body(&self, id: &str) -> anyhow::Result<Vec<u8>> {
        self.fetch("a window", &format!("/v1/envelopes/{id}/body"), |bytes| Ok(bytes.to_vec()))
    }

    /// Runs a plan on windows and waits for it; gives the job's name and how long the evaluation took in microseconds.
    pub(crate) fn run(&self, plan: &str, inputs: &[&str]) -> anyhow::Result<(String, f64)> {
        let body = json!({"plan": plan, "inputs": inputs}).to_string();
        let request = self.agent.post(format!("{}/v1/jobs", self.url)).header("Authorization", self.bearer());
        let answer: Value =
            self.answer("the job", request.content_type("application/json").send(body.as_bytes()), as_json)?;
        let job = answer["job"].as_str().context("the cloud gave the job no name")?.to_owned();
        let deadline = Instant::now() + TIME_OUT;
        let mut pause = Duration::from_millis(2);
        loop {
            let state: JobState = self.fetch("the job's state", &format!("/v1/jobs/{job}"), as_json)?;
            match state.state.as_str() {
                "done" => return Ok((job, state.evaluate_us.unwrap_or_default())),
                "failed" => bail!("the job failed: {}", state.error.unwrap_or_default()),
                _ if Instant::now() > deadline => bail!("the job {job} takes longer than a minute"),
                _ => std::thread::sleep(pause),
            }
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    /// An output of a job: a ciphertext's frame.
    pub(crate) fn output(&self, job: &str, index: usize) -> anyhow::Result<Vec<u8>> {
        self.fetch("an answer", &format!("/v1/jobs/{job}/outputs/{index}"), |bytes| Ok(bytes.to_vec()))
    }
}

const FRAME: &str = "application/octet-stream";

fn as_json<T: DeserializeOwned>(bytes: &[u8]) -> anyhow::Result<T> {
    serde_json::from_slice(bytes).context("the cloud's answer cannot be read")
}
