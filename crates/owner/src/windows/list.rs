//! The stored windows that a question uses.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use sotto_cloud_client::Cloud;
use sotto_pack::{Channel, Clock, Layout, Span, StreamProfile, WindowDescription};
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
    /// The layout with the names that channels have in `sotto.toml`.
    shown: Layout,
    period: u32,
    span: Span,
    kind: Option<Kind>,
    bundle: usize,
    compact: Option<Arc<CompactStream>>,
    origin: Origin,
}

impl Known {
    fn new(
        plant: &Plant,
        names: &BTreeMap<ParameterId, KeyId>,
        bundle: usize,
        profile: &StreamProfile,
        spec: &ParameterSpec,
    ) -> Option<Self> {
        let layout = layout_of(profile, spec).ok()?;
        let id = spec.id();
        Some(Self {
            parameter_id: id,
            key_id: *names.get(&id)?,
            stream: profile.stream.clone(),
            layout,
            shown: layout_of(&devices::shown(plant, profile), spec).ok()?,
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

/// Lists a device's windows with ticks between two times. With `needed`, only those that hold one of these channels.
///
/// # Errors
/// [`OwnerError`] if the cloud is unreachable, or its answer is invalid.
pub(crate) fn list(
    plant: &Plant,
    cloud: &Cloud,
    record: &DeviceRecord,
    between: Between,
    needed: Option<&BTreeSet<String>>,
) -> Result<DeviceWindows, OwnerError> {
    let clock = plant.settings().clock()?;
    let (mut specs, mut known) = (BTreeMap::new(), Vec::new());
    let names = devices::key_names(plant, record)?;
    for (number, bundle) in record.bundles.iter().enumerate() {
        for profile in &bundle.streams {
            let spec = parameter_spec(&profile.parameters)?;
            known.extend(Known::new(plant, &names, number, profile, &spec));
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
                Some(window) => windows.push(window),
                None => aside.unreadable += 1,
            }
        }
    }
    let of = Needed(needed);
    let undeclared = undeclared(plant, &windows, &of);
    windows.retain_mut(|window| of.channels(window).next().is_some() && between.cut(window));
    let listed = windows.len();
    windows.retain(|window| of.channels(window).all(|channel| unit_is(plant, channel)));
    aside.other_unit = listed - windows.len();
    let windows = without_overlaps(windows, &of, &mut aside);
    let (device, shown) = (record.device.clone(), plant.shown_device(&record.device).to_owned());
    Ok(DeviceWindows { device, shown, windows, specs, aside, undeclared })
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
    let mut description = WindowDescription::parse(&header.layout).ok()?;
    let stream = known.iter().find(|known| known.is_of(header, &description))?;
    description.layout = stream.shown.clone();
    let (whole, span) = (description.end(), clock.end_of(stream.span, description.start));
    // The end of the span cuts the last tick alone. In a time zone that was another one then, it is elsewhere.
    let cuts = description.length == 0 || whole.saturating_sub(span) < i64::from(description.period);
    let end = if cuts { whole.min(span) } else { whole };
    Some(StoredWindow {
        id: entry.id.clone(),
        sequence: entry.sequence,
        ticks: 0..description.ticks(),
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

/// Returns true if the unit of a channel is unchanged. Readings of different units are never added.
fn unit_is(plant: &Plant, channel: &Channel) -> bool {
    plant.settings().channels.get(&channel.name).is_none_or(|settings| settings.unit == channel.unit)
}

/// The channels that an answer needs; None: all.
struct Needed<'n>(Option<&'n BTreeSet<String>>);

impl Needed<'_> {
    /// Iterates over the channels of a window that are needed.
    fn channels<'w>(&self, window: &'w StoredWindow) -> impl Iterator<Item = &'w Channel> + use<'w, '_> {
        let all = window.layout().channels().iter();
        all.filter(|channel| self.0.is_none_or(|needed| needed.contains(&channel.name)))
    }
}

/// Returns the numbers of windows that lack a needed channel and hold one that `sotto.toml` does not declare.
fn undeclared(plant: &Plant, windows: &[StoredWindow], needed: &Needed<'_>) -> BTreeMap<String, usize> {
    let mut undeclared = BTreeMap::new();
    let wanted = needed.0.map_or(0, BTreeSet::len);
    for window in windows.iter().filter(|window| needed.channels(window).count() < wanted) {
        let names = window.layout().channels().iter().map(|channel| &channel.name);
        for name in names.filter(|name| !plant.settings().channels.contains_key(*name)) {
            *undeclared.entry(name.clone()).or_default() += 1;
        }
    }
    undeclared
}

/// Times that windows cover, of one kind and channel: the end and the bundle, by the start.
type Covered = BTreeMap<i64, (i64, usize)>;

/// Leaves out ticks that another window of the same kind covers for a needed channel. Of two windows, the one with more of
/// the needed channels counts; then that of the later bundle, of more readings, sent earlier. Returns them in order of time;
/// a window whose middle is covered comes twice.
fn without_overlaps(
    mut windows: Vec<StoredWindow>,
    needed: &Needed<'_>,
    aside: &mut Aside,
) -> Vec<StoredWindow> {
    windows.sort_by_cached_key(|window| {
        let channels = needed.channels(window).count();
        let readings = window.description.readings();
        (Reverse((channels, window.bundle, readings)), window.start(), window.stream.clone(), window.sequence)
    });
    let mut covered: BTreeMap<(Kind, String), Covered> = BTreeMap::new();
    let mut kept = Vec::with_capacity(windows.len());
    for window in windows {
        let Some(kind) = window.kind() else { continue };
        let channels: Vec<&str> = needed.channels(&window).map(|channel| channel.name.as_str()).collect();
        let others: Vec<Vec<CoveredTicks>> = channels
            .iter()
            .map(|name| {
                covered
                    .get(&(kind, (*name).to_owned()))
                    .map_or_else(Vec::new, |times| ticks_in(times, &window))
            })
            .collect();
        let free = free(&window, others.iter().flatten());
        // Ticks of an earlier bundle's window are expected to be sent again, all of its channels together.
        let is_expected = others.windows(2).all(|pair| pair[0] == pair[1])
            && others.iter().flatten().all(|other| other.bundle != window.bundle);
        aside.overlapping += usize::from(!is_expected);
        for ticks in free {
            for channel in needed.channels(&window) {
                let times = covered.entry((kind, channel.name.clone())).or_default();
                times.extend(
                    time_of(&window, &channel.name, &ticks).map(|(from, to)| (from, (to, window.bundle))),
                );
            }
            kept.push(StoredWindow { ticks, ..window.clone() });
        }
    }
    kept.sort_by(|a, b| (a.from(), &a.stream, a.sequence).cmp(&(b.from(), &b.stream, b.sequence)));
    kept
}

/// Returns the time from the first to the last reading of a channel at some ticks; None if there is none.
fn time_of(window: &StoredWindow, channel: &str, ticks: &Range<u32>) -> Option<(i64, i64)> {
    let presence = window.description.presence(window.channel(channel)?);
    let (first, last) = match presence {
        Some(presence) => {
            let mut there = presence.iter().filter(|tick| ticks.contains(tick));
            let first = there.next()?;
            (first, there.last().unwrap_or(first))
        }
        None => (ticks.start, ticks.end - 1),
    };
    Some((window.instant(first), window.instant(last) + 1))
}

/// Ticks of a window that another window covers.
#[derive(Clone, Debug, PartialEq, Eq)]
struct CoveredTicks {
    ticks: Range<u32>,
    /// The other window's bundle.
    bundle: usize,
}

/// Returns the ticks of a window that these times cover, the last first.
fn ticks_in(times: &Covered, window: &StoredWindow) -> Vec<CoveredTicks> {
    let (first, last) = (window.from(), window.instant(window.ticks.end.saturating_sub(1)));
    let near = times.range(..=last).rev().take_while(|(_, (end, _))| *end > first);
    let ticks = |(from, (to, bundle)): (&i64, &(i64, usize))| {
        let ticks = window.ticks_before(*from).max(window.ticks.start)
            ..window.ticks_before(*to).min(window.ticks.end);
        CoveredTicks { ticks, bundle: *bundle }
    };
    near.map(ticks).filter(|covered| !covered.ticks.is_empty()).collect()
}

/// Returns the ticks of a window that no other window covers.
fn free<'c>(window: &StoredWindow, others: impl Iterator<Item = &'c CoveredTicks>) -> Vec<Range<u32>> {
    let mut covered: Vec<Range<u32>> = others.map(|other| other.ticks.clone()).collect();
    covered.sort_unstable_by_key(|ticks| ticks.start);
    let (mut free, mut at) = (Vec::new(), window.ticks.start);
    for ticks in covered {
        if ticks.start > at {
            free.push(at..ticks.start);
        }
        at = at.max(ticks.end);
    }
    if at < window.ticks.end {
        free.push(at..window.ticks.end);
    }
    free
}
