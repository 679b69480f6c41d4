//! The state of a gateway, for people: written by the process that runs, read by `sotto-agent status`.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use sotto_pack::Clock;

use super::folder::{bundles, own_folder};
use super::member::{Member, lock};
use crate::bundle::spool_of;
use crate::nouns::counted;
use crate::source::now;
use crate::spool::Inventory;
use crate::spool::durable::{self, Audience};

const FILE: &str = "status.json";
/// Maximum bytes of the file.
const LARGEST: u64 = 16 << 20;
/// A state that is older than this, in milliseconds, is that of a process that ended.
const OLD: i64 = 15_000;

/// The state of a gateway. Has counts and names, no reading.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Snapshot {
    /// Milliseconds since 1970.
    at: i64,
    /// True once the gateway has ended by itself.
    #[serde(default)]
    ended: bool,
    process: u32,
    journal_bytes: u64,
    journal_limit: u64,
    /// By the name of the bundle's file.
    devices: BTreeMap<String, DeviceSnapshot>,
    /// Fields that no channel takes, with their counts: the first 50 names.
    unclaimed: BTreeMap<String, u64>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
struct DeviceSnapshot {
    device: String,
    /// Since the start of the gateway.
    readings: u64,
    windows: u64,
    senders: BTreeMap<String, u64>,
    last: Option<i64>,
    fault: Option<String>,
}

impl Snapshot {
    /// Takes the state of devices, and of bundles that cannot be used with the reasons; of the journal its bytes and its limit.
    pub(super) fn of<'f>(
        members: &[Arc<Member>],
        faults: impl IntoIterator<Item = (&'f Path, &'f str)>,
        (journal_bytes, journal_limit): (u64, u64),
        unclaimed: BTreeMap<String, u64>,
    ) -> Self {
        let file = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut devices = BTreeMap::new();
        for member in members {
            let counts = lock(&member.counts).clone();
            let senders = counts.senders.iter().map(|(name, count)| (name.to_string(), *count)).collect();
            let snapshot = DeviceSnapshot {
                device: member.name.to_string(),
                readings: counts.readings,
                windows: counts.windows,
                senders,
                last: counts.last,
                fault: counts.fault,
            };
            devices.insert(file(&member.bundle), snapshot);
        }
        for (path, fault) in faults {
            let snapshot = DeviceSnapshot { fault: Some(fault.to_owned()), ..DeviceSnapshot::default() };
            devices.insert(file(path), snapshot);
        }
        let process = std::process::id();
        Self { at: now(), ended: false, process, journal_bytes, journal_limit, devices, unclaimed }
    }

    /// Returns the state of a gateway that ends.
    pub(super) fn ended(self) -> Self {
        Self { ended: true, ..self }
    }

    pub(super) fn write(&self, own: &Path) -> io::Result<()> {
        durable::write(&own.join(FILE), &serde_json::to_vec(self)?, Audience::Owner)
    }

    fn read(devices: &Path) -> Self {
        let path = own_folder(devices).join(FILE);
        let is_short = fs::metadata(&path).is_ok_and(|metadata| metadata.len() <= LARGEST);
        let bytes = if is_short { fs::read(&path).unwrap_or_default() } else { Vec::new() };
        serde_json::from_slice(&bytes).unwrap_or_default()
    }
}

/// The state of a device: of its spool, and of the gateway that runs it.
#[derive(Serialize)]
struct Line {
    device: String,
    waiting: u64,
    refused: u64,
    windows: u64,
    readings: u64,
    sent_until: Option<String>,
    /// Since the start of the gateway.
    accepted: u64,
    senders: BTreeMap<String, u64>,
    last: Option<String>,
    fault: Option<String>,
}

#[derive(Serialize)]
struct Document {
    running: bool,
    journal_bytes: u64,
    journal_limit: u64,
    devices: Vec<Line>,
    unclaimed: BTreeMap<String, u64>,
}

/// Returns the devices of a folder as a table, or as JSON. Works while a gateway runs.
///
/// # Errors
/// The folder cannot be read.
pub(crate) fn show(folder: &Path, json: bool) -> Result<String> {
    let mut snapshot = Snapshot::read(folder);
    let found = bundles(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    let mut devices = Vec::new();
    for path in found.keys() {
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let known = snapshot.devices.remove(&file).unwrap_or_default();
        devices.push(line(path, known));
    }
    let document = Document {
        running: !snapshot.ended && now().saturating_sub(snapshot.at) < OLD,
        journal_bytes: snapshot.journal_bytes,
        journal_limit: snapshot.journal_limit,
        devices,
        unclaimed: snapshot.unclaimed,
    };
    match json {
        true => serde_json::to_string_pretty(&document).context("the state cannot be written as JSON"),
        false => Ok(lines(&document)),
    }
}

fn line(bundle: &Path, known: DeviceSnapshot) -> Line {
    let clock = Clock::utc();
    let stem = || bundle.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let (spool, fault) = match Inventory::read(&spool_of(bundle)) {
        Ok(inventory) => (Some(inventory), known.fault),
        Err(error) => (None, known.fault.or_else(|| Some(error.to_string()))),
    };
    let streams = || spool.iter().flat_map(|spool| spool.streams.values());
    let name = Some(known.device).filter(|name| !name.is_empty());
    Line {
        device: name.or_else(|| spool.as_ref()?.device.clone()).unwrap_or_else(stem),
        waiting: spool.as_ref().map_or(0, |spool| spool.waiting),
        refused: spool.as_ref().map_or(0, |spool| spool.refused),
        windows: streams().map(|stream| stream.totals.windows).sum(),
        readings: streams().map(|stream| stream.totals.readings()).sum(),
        sent_until: streams().filter_map(|stream| stream.sent.until).max().map(|until| clock.rfc3339(until)),
        accepted: known.readings,
        senders: known.senders,
        last: known.last.map(|last| clock.rfc3339(last)),
        fault,
    }
}

fn lines(document: &Document) -> String {
    let columns =
        ["device", "accepted", "last", "windows", "readings", "sent until", "waiting", "refused", "senders"];
    let mut rows = vec![columns.map(str::to_owned)];
    let or_none = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".to_owned());
    for line in &document.devices {
        let senders: Vec<&str> = line.senders.keys().map(String::as_str).collect();
        rows.push([
            line.device.clone(),
            line.accepted.to_string(),
            or_none(&line.last),
            line.windows.to_string(),
            line.readings.to_string(),
            or_none(&line.sent_until),
            line.waiting.to_string(),
            line.refused.to_string(),
            senders.join(", "),
        ]);
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let padded = |row: &[String; 9]| {
        let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut lines: Vec<String> = rows.iter().map(padded).collect();
    let faults = document.devices.iter().filter_map(|line| Some((&line.device, line.fault.as_ref()?)));
    lines.extend(faults.map(|(device, fault)| format!("{device} does not work: {fault}")));
    let state = if document.running { "runs" } else { "does not run" };
    lines.push(format!(
        "the gateway {state}: {}, {} of {} bytes of accepted readings wait for their windows",
        counted(document.devices.len() as u64, "device"),
        document.journal_bytes,
        document.journal_limit
    ));
    if !document.unclaimed.is_empty() {
        let names: Vec<String> =
            document.unclaimed.iter().map(|(name, count)| format!("{name} ({count})")).collect();
        lines.push(format!("fields that no channel takes: {}", names.join(", ")));
    }
    lines.join("\n")
}
