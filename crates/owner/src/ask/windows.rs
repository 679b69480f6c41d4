//! The stored windows that a question is about.

use std::collections::{BTreeMap, BTreeSet};

use sotto_cloud_client::{Cloud, EnvelopeQuery};
use sotto_pack::{Encoding, Layout, LeftOut, WindowDescription};
use sotto_rlwe::ParameterSpec;

use crate::device::{DeviceRecord, parameter_spec};
use crate::error::OwnerError;
use crate::needs::Kind;

/// A stored window of a device.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) id: String,
    pub(crate) stream: String,
    pub(crate) parameter_id: String,
    pub(crate) bytes: u64,
    pub(crate) description: WindowDescription,
}

impl Window {
    pub(crate) fn start(&self) -> i64 {
        self.description.start
    }

    pub(crate) fn end(&self) -> i64 {
        self.description.end()
    }

    pub(crate) fn layout(&self) -> &Layout {
        &self.description.layout
    }

    /// The kind of stream that it belongs to; None where it is of neither, as those of profiles are.
    pub(crate) fn kind(&self) -> Option<Kind> {
        match self.layout().encoding() {
            Encoding::Resolution => Some(Kind::Exact),
            Encoding::Real => Some(Kind::Real),
            Encoding::Integer { .. } => None,
        }
    }

    /// The position of a channel.
    pub(crate) fn channel(&self, name: &str) -> Option<u16> {
        position(self.layout(), name)
    }
}

/// The position of a channel in a layout.
pub(crate) fn position(layout: &Layout, name: &str) -> Option<u16> {
    layout.channels().iter().position(|channel| channel.name == name).and_then(|at| u16::try_from(at).ok())
}

/// The windows of one device in order of time, and the parameters that they are encrypted with.
pub(crate) struct DeviceWindows {
    pub(crate) device: String,
    pub(crate) windows: Vec<Window>,
    pub(crate) specs: BTreeMap<String, ParameterSpec>,
    /// Windows that cover times which another one covers: they are counted once.
    pub(crate) overlapping: usize,
    /// Windows that cannot be read: of another owner's agent, or damaged.
    pub(crate) unreadable: usize,
    /// Windows that the first or the last time of the question cuts: they are left out whole.
    pub(crate) cut: usize,
}

/// Lists a device's windows between two times, all of each.
///
/// # Errors
/// The cloud is away, or gives what cannot be read.
pub(crate) fn list(
    cloud: &Cloud,
    record: &DeviceRecord,
    since: Option<i64>,
    until: Option<i64>,
) -> Result<DeviceWindows, OwnerError> {
    let mut query = EnvelopeQuery::of_device(&record.device);
    query.ended_after = since;
    query.started_before = until;
    let mut specs = BTreeMap::new();
    for stream in record.bundles.iter().flat_map(|bundle| &bundle.streams) {
        let spec = parameter_spec(&stream.parameters)?;
        specs.insert(spec.id().to_string(), spec);
    }
    let (mut windows, mut unreadable) = (Vec::new(), 0);
    for envelope in cloud.envelopes(&query) {
        let envelope = envelope?;
        let description = WindowDescription::parse(envelope.layout.get().as_bytes());
        match description {
            Ok(description) if specs.contains_key(&envelope.parameter_id) => windows.push(Window {
                id: envelope.id,
                stream: envelope.stream,
                parameter_id: envelope.parameter_id,
                bytes: envelope.bytes,
                description,
            }),
            _ => unreadable += 1,
        }
    }
    let inside = |window: &Window| {
        since.is_none_or(|since| window.start() >= since) && until.is_none_or(|until| window.end() <= until)
    };
    let listed = windows.len();
    windows.retain(inside);
    let cut = listed - windows.len();
    windows.sort_by(|a, b| (a.start(), &a.stream, &a.id).cmp(&(b.start(), &b.stream, &b.id)));
    let all = windows.len();
    let windows = without_overlaps(windows);
    let overlapping = all - windows.len();
    Ok(DeviceWindows { device: record.device.clone(), windows, specs, overlapping, unreadable, cut })
}

/// Leaves out a window that covers a time which an earlier one of the same kind covers for the same channel.
fn without_overlaps(windows: Vec<Window>) -> Vec<Window> {
    let mut covered: BTreeMap<(Kind, String), i64> = BTreeMap::new();
    let mut kept = Vec::with_capacity(windows.len());
    for window in windows {
        let Some(kind) = window.kind() else { continue };
        let channels: Vec<String> = window.layout().channels().iter().map(|c| c.name.clone()).collect();
        let free =
            |name: &String| covered.get(&(kind, name.clone())).is_none_or(|end| *end <= window.start());
        if !channels.iter().all(free) {
            continue;
        }
        for name in channels {
            covered.insert((kind, name), window.end());
        }
        kept.push(window);
    }
    kept
}

/// Readings left out in these windows, by channel.
pub(crate) fn left_out(windows: &[Window]) -> BTreeMap<String, LeftOut> {
    let mut left_out: BTreeMap<String, LeftOut> = BTreeMap::new();
    // A device that sends two kinds of streams counts a reading in each: the first kind speaks for both.
    let mut counted: BTreeSet<(String, Kind)> = BTreeSet::new();
    let mut kinds: BTreeMap<String, Kind> = BTreeMap::new();
    for window in windows {
        let Some(kind) = window.kind() else { continue };
        for (channel, counts) in window.layout().channels().iter().zip(&window.description.left_out) {
            let first = *kinds.entry(channel.name.clone()).or_insert(kind);
            counted.insert((channel.name.clone(), kind));
            if first == kind {
                left_out.entry(channel.name.clone()).or_default().merge(counts);
            }
        }
    }
    left_out
}
