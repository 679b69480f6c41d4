//! The stored windows that a question is about.

use std::collections::BTreeMap;
use std::sync::Arc;

use sotto_cloud_client::Cloud;
use sotto_pack::{
    Clock, Encoding, Layout, LeftOut, PackError, Places, Reason, Span, StreamProfile, WindowDescription,
};
use sotto_rlwe::{KeyId, ParameterId, ParameterSpec, SchemeId};
use sotto_wire::{Digest, EnvelopeHeader, SignedHeader};

use crate::compute::CompactStream;
use crate::device::{DeviceRecord, parameter_spec};
use crate::error::OwnerError;
use crate::needs::Kind;
use crate::plant::Plant;
use crate::trust::{Entry, StreamLog};

/// Most windows of one device that are listed.
const MOST_WINDOWS: usize = 2_000_000;
/// Windows begin between the years 1 and 9999.
const TIMES: std::ops::Range<i64> = -62_135_596_800_000..253_402_300_800_000;

/// A stored window of a device.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    pub(crate) id: String,
    /// Its leaf in the log of its stream.
    pub(crate) leaf: Digest,
    pub(crate) stream: String,
    pub(crate) parameter_id: String,
    pub(crate) bytes: u64,
    pub(crate) description: Arc<WindowDescription>,
    end: i64,
    /// The number of the bundle that it was made with, from 0.
    bundle: usize,
    /// Its stream, if it is compact.
    pub(crate) compact: Option<Arc<CompactStream>>,
    /// True if it is under the mask of its stream's fleet.
    pub(crate) shared_mask: bool,
}

impl Window {
    pub(crate) fn start(&self) -> i64 {
        self.description.start
    }

    /// Where it ends: with its last tick, which the end of its span may cut short.
    pub(crate) fn end(&self) -> i64 {
        self.end
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
    /// Windows that are left out, by the reason.
    pub(crate) aside: Aside,
}

/// Windows of a device that an answer does not use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Aside {
    /// They cover a time which another one covers: that is counted once.
    pub(crate) overlapping: usize,
    /// No bundle of this plant makes them: layout, key or parameters differ, or they are damaged.
    pub(crate) unreadable: usize,
    /// The first or the last time of the question lies inside them.
    pub(crate) cut: usize,
    /// The unit of one of their channels was another one when they were sent.
    pub(crate) other_unit: usize,
    /// They were encrypted for other questions: their parameters do not bear this one.
    pub(crate) not_carried: usize,
    /// The cloud has them in its log and cannot read them.
    pub(crate) lost: usize,
    /// They were deleted, and not from here.
    pub(crate) deleted: usize,
    /// Numbers that are in no log: the device did not send them, or the cloud holds them back.
    pub(crate) missing: u64,
}

impl Aside {
    /// All of them that no other time of the question would bring back.
    pub(crate) fn unusable(self) -> usize {
        self.overlapping + self.unreadable + self.other_unit
    }
}

/// The layout of a stream's windows.
///
/// # Errors
/// The channels do not fit.
pub(crate) fn layout_of(profile: &StreamProfile, spec: &ParameterSpec) -> Result<Layout, PackError> {
    let StreamProfile { channels, ticks, encoding, compact, slots, .. } = profile;
    if compact.is_some() {
        return Places::layout(channels.clone(), *ticks);
    }
    let columns = slots.unwrap_or(u32::try_from(spec.degree / 2).unwrap_or(u32::MAX));
    let rows = if spec.scheme == SchemeId::Ckks { 1 } else { 2 };
    Layout::smallest(channels.clone(), *ticks, columns, rows, *encoding)
}

/// A stream that a bundle of this plant sends, as its windows must be.
struct Known {
    parameter_id: ParameterId,
    key_id: KeyId,
    stream: String,
    layout: Layout,
    period: u32,
    span: Span,
    bundle: usize,
    compact: Option<Arc<CompactStream>>,
}

impl Known {
    fn new(
        plant: &Plant,
        device: &str,
        (bundle, profile): (usize, &StreamProfile),
        spec: &ParameterSpec,
    ) -> Option<Self> {
        let layout = layout_of(profile, spec).ok()?;
        let id = spec.id();
        Some(Self {
            parameter_id: id,
            key_id: plant.secret(device).ok()?.key_id(&id),
            stream: profile.stream.clone(),
            layout,
            period: profile.period_ms?,
            span: profile.span?,
            bundle,
            compact: profile.compact.clone().map(|places| {
                let (stream, fleet) = (profile.stream.clone(), profile.fleet);
                Arc::new(CompactStream { stream, places, fleet })
            }),
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

/// Lists a device's windows between two times, all of each.
///
/// # Errors
/// The cloud is away, or gives what cannot be read.
pub(crate) fn list(
    plant: &Plant,
    cloud: &Cloud,
    record: &DeviceRecord,
    (since, until): (Option<i64>, Option<i64>),
) -> Result<DeviceWindows, OwnerError> {
    let clock = plant.settings().clock()?;
    let (mut specs, mut known) = (BTreeMap::new(), Vec::new());
    for (number, bundle) in record.bundles.iter().enumerate() {
        for profile in &bundle.streams {
            let spec = parameter_spec(&profile.parameters)?;
            known.extend(Known::new(plant, &record.device, (number, profile), &spec));
            specs.insert(spec.id().to_string(), spec);
        }
    }
    let (mut windows, mut aside) = (Vec::new(), Aside::default());
    for stream in record.streams() {
        let log = plant.sync_log(cloud, record, stream)?;
        aside.missing += missing(&log, (since, until));
        for entry in &log.entries {
            let Some(signed) = &entry.signed else {
                aside.lost += usize::from(!entry.id.is_empty());
                aside.deleted += usize::from(entry.id.is_empty() && !entry.deleted_here);
                continue;
            };
            if !has_readings(&signed.header, (since, until)) {
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
    let inside = |window: &Window| {
        since.is_none_or(|since| window.start() >= since) && until.is_none_or(|until| window.end() <= until)
    };
    let listed = windows.len();
    windows.retain(inside);
    aside.cut = listed - windows.len();
    let windows = without_overlaps(windows, &mut aside);
    Ok(DeviceWindows { device: record.device.clone(), windows, specs, aside })
}

/// True if the time of a window's readings and a time that is asked for have a moment in common.
fn has_readings(header: &EnvelopeHeader, (since, until): (Option<i64>, Option<i64>)) -> bool {
    since.is_none_or(|since| header.ended_at >= since) && until.is_none_or(|until| header.started_at < until)
}

/// Numbers that are in no log beside windows of a time.
fn missing(log: &StreamLog, (since, until): (Option<i64>, Option<i64>)) -> u64 {
    let gaps = log.gaps();
    if gaps.is_empty() {
        return 0;
    }
    let by_number: BTreeMap<u64, &Entry> = log.entries.iter().map(|entry| (entry.sequence, entry)).collect();
    let asked = |sequence: u64| {
        let entry = by_number.get(&sequence);
        let signed = entry.and_then(|entry| entry.signed.as_ref());
        signed.is_some_and(|signed| has_readings(&signed.header, (since, until)))
    };
    let beside =
        gaps.iter().filter(|(first, last)| first.checked_sub(1).is_some_and(&asked) || asked(last + 1));
    beside.map(|(first, last)| last - first + 1).sum()
}

fn read(entry: &Entry, signed: &SignedHeader, known: &[Known], clock: &Clock) -> Option<Window> {
    let header = &signed.header;
    let description = WindowDescription::parse(&header.layout).ok()?;
    let stream = known.iter().find(|known| known.is_of(header, &description))?;
    let end = description.end().min(clock.end_of(stream.span, description.start));
    Some(Window {
        id: entry.id.clone(),
        leaf: entry.leaf,
        stream: header.stream.clone(),
        parameter_id: header.parameters.to_string(),
        bytes: entry.bytes,
        description: Arc::new(description),
        end,
        bundle: stream.bundle,
        compact: stream.compact.clone(),
        shared_mask: signed.is_under_shared_mask(),
    })
}

/// Readings of another unit are never added to those of today's.
fn units_are(plant: &Plant, window: &Window) -> bool {
    let same = |channel: &sotto_pack::Channel| {
        plant.settings().channels.get(&channel.name).is_none_or(|settings| settings.unit == channel.unit)
    };
    window.layout().channels().iter().all(same)
}

/// Leaves out a window that covers a time which another one of the same kind covers for the same channel: where the windows of two
/// bundles cover one time, those of the later bundle count. In order of time.
fn without_overlaps(mut windows: Vec<Window>, aside: &mut Aside) -> Vec<Window> {
    /// Covered times, by their beginning, with the end and the bundle.
    type Covered = BTreeMap<i64, (i64, usize)>;
    let in_order = |a: &Window, b: &Window| (a.start(), &a.stream, &a.id).cmp(&(b.start(), &b.stream, &b.id));
    windows.sort_by(|a, b| b.bundle.cmp(&a.bundle).then_with(|| in_order(a, b)));
    let mut covered: BTreeMap<(Kind, String), Covered> = BTreeMap::new();
    let mut kept = Vec::with_capacity(windows.len());
    for window in windows {
        let Some(kind) = window.kind() else { continue };
        let channels: Vec<String> = window.layout().channels().iter().map(|c| c.name.clone()).collect();
        // The last covered time that begins before the window ends.
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

/// Readings left out in these windows, by channel.
pub(crate) fn left_out(windows: &[Window]) -> BTreeMap<String, LeftOut> {
    let mut left_out: BTreeMap<String, LeftOut> = BTreeMap::new();
    // A device that sends two kinds of streams counts a reading in each: the first kind speaks for both.
    let mut kinds: BTreeMap<String, Kind> = BTreeMap::new();
    for window in windows {
        let Some(kind) = window.kind() else { continue };
        for (channel, counts) in window.layout().channels().iter().zip(&window.description.left_out) {
            if *kinds.entry(channel.name.clone()).or_insert(kind) == kind {
                let entry = left_out.entry(channel.name.clone()).or_default();
                // A reading that was sent before is in another window: nothing is lacking.
                counts.iter().filter(|(reason, _)| *reason != Reason::AlreadySent).for_each(
                    |(reason, count)| {
                        entry.add(reason, count);
                    },
                );
            }
        }
    }
    left_out
}
