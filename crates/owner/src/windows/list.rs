//! The stored windows that a question uses.

use std::collections::BTreeMap;
use std::sync::Arc;

use sotto_cloud_client::Cloud;
use sotto_keys::DeviceSecret;
use sotto_pack::{Clock, Layout, Span, StreamProfile, WindowDescription};
use sotto_rlwe::{KeyId, Origin, ParameterId, ParameterSpec};
use sotto_wire::{EnvelopeHeader, SignedHeader};

use super::entry::{Entry, StreamLog};
use super::log;
use super::time::Between;
use super::window::{Aside, DeviceWindows, StoredWindow};
use crate::declared::Plant;
use crate::devices;
use crate::devices::{DeviceRecord, parameter_spec};
use crate::error::OwnerError;
use crate::quantities::origin;
use crate::streams::{CompactStream, Kind, layout_of};

/// Largest number of listed windows per device.
const MOST_WINDOWS: usize = 2_000_000;

/// Valid starts of windows: the years 1 to 9999.
const TIMES: std::ops::Range<i64> = -62_135_596_800_000..253_402_300_800_000;

/// A stream of a bundle of this plant, with the properties that its windows must have.
struct Known {
    parameter_id: ParameterId,
    key_id: KeyId,
    stream: String,
    layout: Layout,
    period: u32,
    span: Span,
    kind: Option<Kind>,
    bundle: usize,
    compact: Option<Arc<CompactStream>>,
    origin: Origin,
}

impl Known {
    fn new(
        secret: &DeviceSecret,
        bundle: usize,
        profile: &StreamProfile,
        spec: &ParameterSpec,
    ) -> Option<Self> {
        let layout = layout_of(profile, spec).ok()?;
        let id = spec.id();
        Some(Self {
            parameter_id: id,
            key_id: secret.key_id(&id),
            stream: profile.stream.clone(),
            layout,
            period: profile.period_ms?,
            span: profile.span?,
            kind: Kind::of_profile(profile),
            bundle,
            compact: profile.compact.clone().map(|places| {
                let (stream, fleet) = (profile.stream.clone(), profile.fleet);
                Arc::new(CompactStream { stream, places, fleet })
            }),
            origin: origin(profile.public),
        })
    }

    fn is_of(&self, header: &EnvelopeHeader, description: &WindowDescription) -> bool {
        self.parameter_id == header.parameters
            && self.key_id == header.key
            && self.stream == header.stream
            && self.layout == description.layout
            && self.period == description.period
            && u64::from(header.readings) == description.readings()
            && TIMES.contains(&description.start)
    }
}

/// Lists a device's whole windows between two times.
///
/// # Errors
/// [`OwnerError`] if the cloud is unreachable, or its answer is invalid.
pub(crate) fn list(
    plant: &Plant,
    cloud: &Cloud,
    record: &DeviceRecord,
    between: Between,
) -> Result<DeviceWindows, OwnerError> {
    let clock = plant.settings().clock()?;
    let (mut specs, mut known) = (BTreeMap::new(), Vec::new());
    let secret = devices::held_secret(plant, &record.device)?;
    for (number, bundle) in record.bundles.iter().enumerate() {
        for profile in &bundle.streams {
            let spec = parameter_spec(&profile.parameters)?;
            known.extend(secret.as_ref().and_then(|secret| Known::new(secret, number, profile, &spec)));
            specs.insert(spec.id().to_string(), spec);
        }
    }
    let (mut windows, mut aside) = (Vec::new(), Aside::default());
    for stream in record.streams() {
        let log = log::sync_log(plant, cloud, record, stream)?;
        aside.missing += missing(&log, between);
        for entry in &log.entries {
            let Some(signed) = &entry.signed else {
                aside.lost += usize::from(!entry.id.is_empty());
                aside.deleted += usize::from(entry.id.is_empty() && !entry.deleted_here);
                continue;
            };
            if !has_readings(signed.header(), between) {
                continue;
            }
            if windows.len() == MOST_WINDOWS {
                return Err(OwnerError::Unanswerable(format!(
                    "{} has more than {MOST_WINDOWS} windows in this time: ask for a shorter time",
                    record.device
                )));
            }
            match read(entry, signed, &known, &clock) {
                Some(window) if units_are(plant, &window) => windows.push(window),
                Some(_) => aside.other_unit += 1,
                None => aside.unreadable += 1,
            }
        }
    }
    let Between { since, until } = between;
    let inside = |window: &StoredWindow| {
        since.is_none_or(|since| window.start() >= since) && until.is_none_or(|until| window.end() <= until)
    };
    let listed = windows.len();
    windows.retain(inside);
    aside.cut = listed - windows.len();
    let windows = without_overlaps(windows, &mut aside);
    Ok(DeviceWindows { device: record.device.clone(), windows, specs, aside })
}

/// Returns true if the time of a window's readings overlaps the requested time.
fn has_readings(header: &EnvelopeHeader, Between { since, until }: Between) -> bool {
    since.is_none_or(|since| header.ended_at >= since) && until.is_none_or(|until| header.started_at < until)
}

/// Returns the number of missing sequence numbers next to windows of the requested time.
pub(super) fn missing(log: &StreamLog, between: Between) -> u64 {
    let gaps = log.gaps();
    if gaps.is_empty() {
        return 0;
    }
    let by_number: BTreeMap<u64, &Entry> = log.entries.iter().map(|entry| (entry.sequence, entry)).collect();
    let asked = |sequence: u64| {
        let entry = by_number.get(&sequence);
        let signed = entry.and_then(|entry| entry.signed.as_ref());
        signed.is_some_and(|signed| has_readings(signed.header(), between))
    };
    let beside =
        gaps.iter().filter(|(first, last)| first.checked_sub(1).is_some_and(&asked) || asked(last + 1));
    beside.map(|(first, last)| last - first + 1).sum()
}

fn read(entry: &Entry, signed: &SignedHeader, known: &[Known], clock: &Clock) -> Option<StoredWindow> {
    let header = signed.header();
    let description = WindowDescription::parse(&header.layout).ok()?;
    let stream = known.iter().find(|known| known.is_of(header, &description))?;
    let end = description.end().min(clock.end_of(stream.span, description.start));
    Some(StoredWindow {
        id: entry.id.clone(),
        leaf: entry.leaf,
        stream: header.stream.clone(),
        parameter_id: header.parameters.to_string(),
        bytes: entry.bytes,
        description: Arc::new(description),
        end,
        kind: stream.kind,
        bundle: stream.bundle,
        compact: stream.compact.clone(),
        shared_mask: signed.is_under_shared_mask(),
        origin: stream.origin,
    })
}

/// Returns true if the units of all channels are unchanged. Readings of different units are never added.
fn units_are(plant: &Plant, window: &StoredWindow) -> bool {
    let same = |channel: &sotto_pack::Channel| {
        plant.settings().channels.get(&channel.name).is_none_or(|settings| settings.unit == channel.unit)
    };
    window.layout().channels().iter().all(same)
}

/// Removes windows that cover the same time as another of the same kind for the same channel; those of a later bundle
/// win. Returns the others in order of time.
fn without_overlaps(mut windows: Vec<StoredWindow>, aside: &mut Aside) -> Vec<StoredWindow> {
    // Covered times by their start, with the end and the bundle.
    type Covered = BTreeMap<i64, (i64, usize)>;
    let in_order = |a: &StoredWindow, b: &StoredWindow| {
        (a.start(), &a.stream, &a.id).cmp(&(b.start(), &b.stream, &b.id))
    };
    windows.sort_by(|a, b| b.bundle.cmp(&a.bundle).then_with(|| in_order(a, b)));
    let mut covered: BTreeMap<(Kind, String), Covered> = BTreeMap::new();
    let mut kept = Vec::with_capacity(windows.len());
    for window in windows {
        let Some(kind) = window.kind() else { continue };
        let channels: Vec<String> = window.layout().channels().iter().map(|c| c.name.clone()).collect();
        // The last covered time that starts before the window ends.
        let other = |name: &String| {
            let times = covered.get(&(kind, name.clone()))?;
            let (_, (end, bundle)) = times.range(..window.end()).next_back()?;
            (*end > window.start()).then_some(*bundle)
        };
        if let Some(bundle) = channels.iter().find_map(other) {
            aside.overlapping += usize::from(bundle == window.bundle);
            continue;
        }
        for name in channels {
            covered.entry((kind, name)).or_default().insert(window.start(), (window.end(), window.bundle));
        }
        kept.push(window);
    }
    kept.sort_by(in_order);
    kept
}
