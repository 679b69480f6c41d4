//! A device of the demo: the plant enrols it, a process runs it, its report and its log are read afterwards.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::{Context, bail};
use serde::Deserialize;
use sotto_owner::Plant;

use super::clear::ClearLog;
use super::input::Input;
use super::processes::Processes;

pub(super) const NAMES: [&str; 2] = ["device-1", "device-2"];

/// The report that an agent writes at its end.
#[derive(Debug, Deserialize)]
pub(super) struct Report {
    source: String,
    pub(super) streams: Vec<WindowForm>,
    /// Microseconds by phase, one number for each window.
    pub(super) phases: BTreeMap<String, Vec<f64>>,
}

/// A window that was sent.
#[derive(Debug, Deserialize)]
pub(super) struct WindowForm {
    stream: String,
    readings: u64,
    upload_bytes: u64,
}

fn file(name: &str, kind: &str, processes: &Processes) -> PathBuf {
    processes.folder().join(format!("{name}.{kind}"))
}

/// Makes the device's secrets and its bundle, and registers it with the cloud.
pub(super) fn enrol(name: &str, plant: &Plant, processes: &Processes) -> anyhow::Result<()> {
    let enrolled = processes.uninterrupted(|| plant.enrol(name, &file(name, "bundle", processes)))?;
    match &enrolled.not_registered {
        Some(reason) => bail!("{name} is not registered: {reason}"),
        None => Ok(()),
    }
}

/// Starts `sotto-agent run`.
pub(super) fn start(name: &str, options: &[OsString], processes: &mut Processes) -> anyhow::Result<()> {
    let mut arguments: Vec<OsString> = vec!["run".into()];
    for (option, kind) in [("--bundle", "bundle"), ("--report", "report.json"), ("--clear-log", "clear.json")]
    {
        arguments.extend([option.into(), file(name, kind, processes).into_os_string()]);
    }
    arguments.push("--exit-with-stdin".into());
    arguments.extend(options.iter().cloned());
    processes.start(name, "sotto-agent", &arguments)
}

impl Report {
    pub(super) fn read(name: &str, input: &Input, processes: &Processes) -> anyhow::Result<Self> {
        let report: Self = json(name, "report.json", processes)?;
        anyhow::ensure!(report.source == input.source, "{name} read {}, not {}", report.source, input.source);
        Ok(report)
    }

    /// Returns the number of readings. A reading that two streams sent counts once.
    pub(super) fn readings(&self) -> u64 {
        let mut streams: BTreeMap<&str, u64> = BTreeMap::new();
        for window in &self.streams {
            *streams.entry(&window.stream).or_default() += window.readings;
        }
        streams.into_values().max().unwrap_or_default()
    }

    pub(super) fn bytes(&self) -> u64 {
        self.streams.iter().map(|window| window.upload_bytes).sum()
    }
}

/// Reads the device's log of readings in the clear, which only the demo makes agents write.
pub(super) fn clear_log(name: &str, processes: &Processes) -> anyhow::Result<ClearLog> {
    json(name, "clear.json", processes)
}

fn json<T: serde::de::DeserializeOwned>(name: &str, kind: &str, processes: &Processes) -> anyhow::Result<T> {
    let path = file(name, kind, processes);
    let bytes = std::fs::read(&path).with_context(|| format!("{name} left no {}", path.display()))?;
    serde_json::from_slice(&bytes).with_context(|| path.display().to_string())
}
