//! `sotto-agent status`: shows the state of a device's spool; works while the agent runs.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde::Serialize;
use sotto_pack::{Clock, LeftOut};

use crate::arguments::StatusArguments;
use crate::bundle::{self, Bundle};
use crate::nouns::counted;
use crate::spool::{ArchiveTotals, ChannelTotals, Inventory, RefusedMessage, StreamInventory};
use crate::summary::left_out_words;

/// Maximum number of refused messages shown to people.
const MOST_SHOWN: usize = 5;

#[derive(Serialize)]
struct Document {
    device: Option<String>,
    spool: String,
    waiting: u64,
    waiting_bytes: u64,
    refused: u64,
    refusals: Vec<RefusedMessage>,
    confirmed: Confirmed,
    streams: BTreeMap<String, StreamDocument>,
}

/// The confirmed messages that are kept.
#[derive(Serialize)]
struct Confirmed {
    windows: u64,
    bytes: u64,
    since: Option<String>,
}

#[derive(Serialize)]
struct StreamDocument {
    next_sequence: u64,
    sent_until: Option<String>,
    waiting: u64,
    windows: u64,
    readings: u64,
    left_out: LeftOut,
    channels: BTreeMap<String, ChannelTotals>,
}

/// Reads the spool and returns lines for people, or JSON.
///
/// # Errors
/// The bundle or the spool cannot be read.
pub fn run(arguments: &StatusArguments) -> Result<String> {
    #[cfg(feature = "gateway")]
    if let Some(devices) = &arguments.devices {
        return crate::gateway::show(devices, arguments.json);
    }
    let profile = arguments.bundle.as_deref().map(Bundle::read).transpose()?.map(|bundle| bundle.profile);
    let clock = profile.as_ref().map_or(Ok(Clock::utc()), |profile| profile.clock())?;
    let beside = || arguments.bundle.as_deref().map(bundle::spool_of);
    let folder = arguments.spool.clone().or_else(beside).context("give --bundle FILE or --spool DIR")?;
    let status = Inventory::read(&folder)?;
    if let (Some(found), Some(profile)) = (&status.device, &profile) {
        let expected = &profile.device;
        anyhow::ensure!(
            found == expected,
            "{} is the spool of device {found}, not of {expected}: pass its own with --spool",
            folder.display()
        );
    }
    let mut streams = BTreeMap::new();
    for stream in profile.iter().flat_map(|profile| &profile.streams) {
        streams.insert(stream.stream.clone(), StreamInventory::default());
    }
    streams.extend(status.streams);
    let ArchiveTotals { windows, bytes, since } = ArchiveTotals::read(&folder)?;
    let document = Document {
        confirmed: Confirmed { windows, bytes, since: since.map(|since| clock.rfc3339(since)) },
        device: status.device.or(profile.map(|profile| profile.device)),
        spool: folder.display().to_string(),
        waiting: status.waiting,
        waiting_bytes: status.waiting_bytes,
        refused: status.refused,
        refusals: status.refusals,
        streams: streams.into_iter().map(|(name, stream)| (name, document(stream, &clock))).collect(),
    };
    if arguments.json {
        return serde_json::to_string_pretty(&document).context("the state cannot be written as JSON");
    }
    Ok(lines(&document))
}

fn document(stream: StreamInventory, clock: &Clock) -> StreamDocument {
    let StreamInventory { next, sent, waiting, totals } = stream;
    StreamDocument {
        next_sequence: next,
        sent_until: sent.until.map(|until| clock.rfc3339(until)),
        waiting,
        windows: totals.windows,
        readings: totals.readings(),
        left_out: totals.left_out(),
        channels: totals.channels,
    }
}

fn lines(document: &Document) -> String {
    let device = document.device.as_deref().unwrap_or("no device has used it yet");
    let mut lines = vec![
        format!("{device}: spool {}", document.spool),
        format!("waiting: {}, {} bytes", counted(document.waiting, "message"), document.waiting_bytes),
    ];
    lines.push(format!("refused: {}", counted(document.refused, "message")));
    for refused in document.refusals.iter().take(MOST_SHOWN) {
        // Debug format escapes control characters in the cloud's text.
        let reason: String = refused.reason["problem"].to_string().chars().take(200).collect();
        lines.push(format!("  {} {}: {reason:?}", refused.stream, refused.sequence));
    }
    let Confirmed { windows, bytes, since } = &document.confirmed;
    if let Some(since) = since {
        let windows = counted(*windows, "window");
        lines.push(format!("confirmed and kept: {windows}, {bytes} bytes, since {since}"));
    }
    for (name, stream) in &document.streams {
        let until =
            stream.sent_until.as_ref().map_or_else(String::new, |until| format!(", sent until {until}"));
        let left_out =
            left_out_words(&stream.left_out).map_or_else(String::new, |words| format!("; left out: {words}"));
        lines.push(format!(
            "{name}: {} with {}{until}; next sequence number {}{left_out}",
            counted(stream.windows, "window"),
            counted(stream.readings, "reading"),
            stream.next_sequence
        ));
    }
    lines.join("\n")
}
