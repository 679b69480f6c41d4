//! A device of the demo: its keys, its process, its report.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use anyhow::Context;
use serde::Deserialize;
use sotto_cloud_client::{Cloud, RegisteredKey};
use sotto_keys::{DeviceSecret, KeyFile, Protection};
use sotto_pack::{DeviceProfile, StreamProfile};
use sotto_ring::secure_rng;
use sotto_rlwe::Origin;

use super::lane::Lane;
use super::plan::Input;
use super::processes::Processes;
use crate::phases::Phases;

/// What a device encrypts with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyKind {
    /// A secret key of its own: seeded ciphertexts.
    SecretKey,
    /// Public keys: nothing on the device decrypts.
    PublicKey,
}

/// A device.
pub(super) struct Device {
    pub(super) name: String,
    pub(super) kind: KeyKind,
    /// The owner has it; the device too if it encrypts with it.
    secret: DeviceSecret,
    public_keys: Vec<PathBuf>,
}

/// What the device's process reported.
#[derive(Debug, Deserialize)]
pub(super) struct DeviceReport {
    pub(super) source: String,
    #[serde(default)]
    pub(super) fallback_reason: Option<String>,
    pub(super) streams: Vec<StreamReport>,
    phases: BTreeMap<String, Vec<f64>>,
}

#[derive(Debug, Deserialize)]
pub(super) struct StreamReport {
    pub(super) readings: u64,
    pub(super) upload_bytes: u64,
}

/// Raw readings of a stream, as the device read them.
#[derive(Debug, Deserialize)]
pub(super) struct ClearStream {
    pub(super) values: Vec<Vec<Option<f64>>>,
}

impl Device {
    pub(super) fn new(name: &str, kind: KeyKind) -> anyhow::Result<Self> {
        let secret = DeviceSecret::generate(&mut secure_rng()?);
        Ok(Self { name: name.to_owned(), kind, secret, public_keys: Vec::new() })
    }

    fn file(&self, processes: &Processes, what: &str) -> PathBuf {
        processes.folder().join(format!("{}.{what}", self.name))
    }

    /// How the noisiest of these devices encrypts: a plan for all of them counts with that.
    pub(super) fn noisiest_origin(devices: &[&Self]) -> Origin {
        let public = devices.iter().any(|device| device.kind == KeyKind::PublicKey);
        if public { Origin::PublicKey } else { Origin::SecretKey }
    }

    /// Makes keys in every lane, gives the cloud the evaluation keys and the device its own, and registers it. The evaluation
    /// keys have a transfer key from each of `sources`, devices that were enrolled before.
    pub(super) fn enrol(
        &mut self,
        sources: &[String],
        lanes: &mut [Box<dyn Lane>],
        cloud: &Cloud,
        processes: &mut Processes,
        phases: &mut Phases,
    ) -> anyhow::Result<()> {
        let mut registered = Vec::new();
        let mut evaluation_keys = Vec::new();
        for lane in lanes.iter_mut() {
            let enrolled = lane.enrol(&self.name, &self.secret, sources, phases)?;
            if self.kind == KeyKind::PublicKey {
                let path = self.file(processes, &format!("{}.public-key", lane.stream()));
                std::fs::write(&path, &enrolled.public_key)?;
                self.public_keys.push(path);
            }
            registered.push(RegisteredKey { parameter_id: enrolled.parameter_id, key_id: enrolled.key_id });
            evaluation_keys.push(enrolled.evaluation_keys);
        }
        if self.kind == KeyKind::SecretKey {
            let path = self.file(processes, "secret-key");
            let bytes = self.secret.expose_secret_bytes();
            KeyFile::Device.write(&path, bytes, &Protection::FileMode, &mut secure_rng()?)?;
        }
        cloud.put_device(&self.name, &self.verifying_key(processes)?, &registered)?;
        Ok(evaluation_keys.iter().try_for_each(|keys| cloud.put_keys(keys))?)
    }

    /// The device makes its signing key itself; the owner only sees the public half.
    fn verifying_key(&self, processes: &Processes) -> anyhow::Result<String> {
        #[derive(Deserialize)]
        struct Enrolment {
            verifying_key: String,
        }
        let signing_key = self.file(processes, "signing-key");
        let output = Command::new(processes.program("sotto-agent")?)
            .arg("enrol")
            .arg("--signing-key")
            .arg(signing_key)
            .output()?;
        let problem = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "{} cannot be enrolled: {problem}", self.name);
        Ok(serde_json::from_slice::<Enrolment>(&output.stdout)?.verifying_key)
    }

    /// Starts the device's process.
    pub(super) fn start(
        &self,
        input: &Input,
        number: usize,
        lanes: &[Box<dyn Lane>],
        processes: &mut Processes,
    ) -> anyhow::Result<()> {
        let stream = |lane: &dyn Lane| StreamProfile {
            stream: lane.stream().into(),
            parameters: hex::encode(lane.parameters_frame()),
            encoding: lane.packing(),
            ticks: input.ticks,
            period_ms: None,
            span: None,
            channels: Vec::new(),
        };
        let profile = DeviceProfile {
            device: self.name.clone(),
            zone: None,
            period_ms: input.period_ms(),
            streams: lanes.iter().map(|lane| stream(lane.as_ref())).collect(),
        };
        let profile_file = self.file(processes, "profile.json");
        std::fs::write(&profile_file, profile.to_json()?)?;
        let mut arguments: Vec<OsString> = vec!["run".into()];
        let mut option = |name: &str, value: OsString| arguments.extend([name.into(), value]);
        option("--profile", profile_file.into_os_string());
        option("--cloud", processes.cloud_url.clone().into());
        option("--signing-key", self.file(processes, "signing-key").into_os_string());
        option("--spool", self.file(processes, "spool").into_os_string());
        option("--report", self.file(processes, "report.json").into_os_string());
        option("--clear-log", self.file(processes, "clear.json").into_os_string());
        match self.kind {
            KeyKind::SecretKey => option("--secret-key", self.file(processes, "secret-key").into_os_string()),
            KeyKind::PublicKey => {
                self.public_keys
                    .iter()
                    .for_each(|path| option("--public-key", path.clone().into_os_string()));
            }
        }
        arguments.extend(["--once".into(), "--exit-with-stdin".into()]);
        arguments.extend(input.agent_arguments(number).into_iter().map(OsString::from));
        processes.start(&self.name, "sotto-agent", &arguments)
    }

    pub(super) fn report(&self, processes: &Processes) -> anyhow::Result<DeviceReport> {
        let file = self.file(processes, "report.json");
        let bytes = std::fs::read(&file).context("the device left no report")?;
        serde_json::from_slice(&bytes).context("the device's report cannot be read")
    }

    /// The raw readings of a stream, for comparison: only the demo has them.
    pub(super) fn clear_readings(&self, processes: &Processes, stream: &str) -> anyhow::Result<ClearStream> {
        let bytes =
            std::fs::read(self.file(processes, "clear.json")).context("the device left no clear readings")?;
        let mut streams: BTreeMap<String, ClearStream> = serde_json::from_slice(&bytes)?;
        streams.remove(stream).with_context(|| format!("the device read nothing for {stream}"))
    }
}

impl DeviceReport {
    /// Adds the device's times to the table.
    pub(super) fn add_to(&self, phases: &mut Phases) {
        for name in ["encode", "encrypt", "upload"] {
            for microseconds in self.phases.get(name).into_iter().flatten() {
                phases.record(name, *microseconds);
            }
        }
    }
}
