//! The stored windows that a question uses.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use sotto_pack::{Channel, Clock, Layout, Period, Span, StreamProfile, WindowDescription};
use sotto_rlwe::{KeyId, Origin, ParameterId, SchemeId};
use sotto_wire::{EnvelopeHeader, SignedHeader};

use super::entry::{Entry, NEW_COUNT, StreamLog};
use super::needed::Needed;
use super::replaced::Replaced;
use super::row_time::Group;
use super::time::Between;
use super::window::{Aside, DeviceWindows, StoredWindow, SumsOf};
use super::{finest, log, overlaps};
use crate::declared::Plant;
use crate::devices;
use crate::devices::{DeviceRecord, parameter_id, spec_of};
use crate::error::OwnerError;
use crate::orders::Orders;
use crate::quantities::origin;
use crate::streams::{Kind, layout_of};

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
    period: Period,
    span: Span,
    /// True if ticks go on through the ends of spans, which then cut none of them short.
    absolute: bool,
    kind: Option<Kind>,
    /// The scheme of ciphertexts. None: sums with tags.
    scheme: Option<SchemeId>,
    bundle: usize,
    /// True if its windows are places of an earlier version, which are not read any more.
    of_places: bool,
    origin: Origin,
}

impl Known {
    fn new(
        plant: &Plant,
        record: &DeviceRecord,
        names: &BTreeMap<ParameterId, KeyId>,
        bundle: usize,
        profile: &StreamProfile,
    ) -> Result<Option<Self>, OwnerError> {
        let (spec, id) = (spec_of(profile)?, parameter_id(&record.device, profile)?);
        let layout = |profile: &StreamProfile| layout_of(profile, spec.as_ref()).ok();
        let known = || {
            Some(Self {
                parameter_id: id,
                key_id: *names.get(&id)?,
                stream: profile.stream.clone(),
                layout: layout(profile)?,
                shown: layout(&devices::shown(plant, profile))?,
                period: profile.period_ms?,
                span: profile.span?,
                absolute: profile.absolute,
                kind: Kind::of_profile(profile),
                scheme: spec.as_ref().map(|spec| spec.scheme),
                bundle,
                of_places: profile.compact.is_some(),
                origin: origin(profile.public),
            })
        };
        Ok(known())
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

/// Lists a device's windows with ticks between two times that hold a needed channel.
///
/// # Errors
/// [`OwnerError`] if the cloud is unreachable, or its answer is invalid.
pub(crate) fn list(
    orders: &Orders<'_>,
    record: &DeviceRecord,
    between: Between,
    needed: &Needed,
) -> Result<DeviceWindows, OwnerError> {
    let plant = orders.plant;
    let clock = plant.settings().clock()?;
    let (mut specs, mut known) = (BTreeMap::new(), Vec::new());
    let names = devices::key_names(plant, record)?;
    for (number, bundle) in record.bundles.iter().enumerate() {
        for profile in &bundle.streams {
            known.extend(Known::new(plant, record, &names, number, profile)?);
            specs.extend(spec_of(profile)?.map(|spec| (spec.id().to_string(), spec)));
        }
    }
    let has_secret = !names.is_empty();
    let (mut windows, mut aside, mut logs) = (Vec::new(), Aside::default(), BTreeMap::new());
    let (mut complete, mut any, mut roots) = (BTreeMap::new(), Any::default(), BTreeMap::new());
    let (mut unordered, mut received) = (BTreeMap::<String, Vec<u64>>::new(), 0);
    let streams = streams_with(plant, record, needed);
    for stream in record.streams() {
        let mut log = log::sync_log(orders, record, stream)?;
        roots.insert(stream.to_owned(), needed.cut(plant.shown_device(&record.device), stream, &mut log)?);
        logs.insert(stream.to_owned(), log.entries.len() as u64);
        if streams.contains(stream) {
            any.add(&log);
        }
        let gone = missing(&log, between);
        (aside.missing, aside.jumps) = (aside.missing + gone.windows, aside.jumps + gone.jumps);
        complete.extend(newest(&log).map(|newest| (stream.to_owned(), newest)));
        let replaced = Replaced::of(&log.entries);
        let in_pieces = in_pieces(&log, &known, &clock);
        received += log.entries.iter().filter(|entry| entry.signed.is_some()).count() as u64;
        for entry in &log.entries {
            let Some(signed) = &entry.signed else {
                aside.lost += usize::from(!entry.id.is_empty());
                if entry.id.is_empty() && !entry.deleted_here {
                    aside.deleted += 1;
                    unordered.entry(stream.to_owned()).or_default().push(entry.sequence);
                }
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
                Some(Read::Window(mut window)) => {
                    let at = window.start();
                    let span = in_pieces.range(..=Group { from: at, to: i64::MAX }).next_back();
                    window.span = span.filter(|span| at < span.to).copied();
                    let others = replaced.channels(entry.sequence, signed);
                    if !others.is_empty() {
                        window.leave_out_channels(plant, &others);
                    }
                    windows.push(*window);
                }
                Some(Read::Places) => aside.earlier += 1,
                None => aside.unreadable += 1,
            }
        }
    }
    let undeclared = undeclared(plant, &windows, needed);
    windows.retain_mut(|window| needed.channels(window).next().is_some() && between.cut(window));
    let listed = windows.len();
    let other_unit = windows.iter().find_map(|window| {
        let channel = needed.channels(window).find(|channel| !unit_is(plant, channel))?;
        let now = plant.settings().channels.get(&channel.name)?.unit.clone();
        Some((channel.name.clone(), (channel.unit.clone(), now)))
    });
    windows
        .retain(|window| needed.any_unit || needed.channels(window).all(|channel| unit_is(plant, channel)));
    aside.other_unit = listed - windows.len();
    let sent = known.iter().filter_map(|known| Some((known.bundle, known.scheme?))).collect();
    aside.other_scheme = needed.take_out_others(&mut windows, &sent);
    let mut windows = overlaps::leave_out(windows, needed, &mut aside);
    if needed.shorter_first {
        finest::take_apart(&mut windows);
    }
    let is_empty = windows.is_empty();
    let (device, shown) = (record.device.clone(), plant.shown_device(&record.device).to_owned());
    Ok(DeviceWindows {
        device,
        shown,
        windows,
        specs,
        has_secret,
        twice: BTreeSet::new(),
        aside,
        received,
        unordered,
        first_reading: any.span.map(|(first, _)| first),
        elsewhere: any.span.filter(|_| is_empty),
        forgotten: any.forgotten,
        other_unit,
        undeclared,
        logs,
        roots,
        complete,
    })
}

/// The windows of some logs at any time.
#[derive(Clone, Copy, Debug, Default)]
struct Any {
    /// The times of their first and their last reading.
    span: Option<(i64, i64)>,
    /// The number of those that were deleted here.
    forgotten: usize,
}

impl Any {
    fn add(&mut self, log: &StreamLog) {
        for entry in &log.entries {
            self.forgotten += usize::from(entry.deleted_here);
            let Some(header) = entry.signed.as_ref().map(SignedHeader::header) else { continue };
            let (first, last) = self.span.unwrap_or((header.started_at, header.ended_at));
            self.span = Some((first.min(header.started_at), last.max(header.ended_at)));
        }
    }
}

/// Returns the streams of a device with a needed channel.
fn streams_with<'r>(plant: &Plant, record: &'r DeviceRecord, needed: &Needed) -> BTreeSet<&'r str> {
    let has = |profile: &&StreamProfile| {
        let mut names = profile.channels.iter().map(|channel| plant.settings().shown_channel(&channel.name));
        names.any(|name| needed.channels.as_ref().is_none_or(|needed| needed.contains(name)))
    };
    let profiles = record.bundles.iter().flat_map(|bundle| &bundle.streams);
    profiles.filter(has).map(|profile| profile.stream.as_str()).collect()
}

/// Returns the highest number of a log, and the time of its latest reading in milliseconds since 1970.
fn newest(log: &StreamLog) -> Option<(u64, i64)> {
    let headers = || log.entries.iter().filter_map(|entry| entry.signed.as_ref()).map(SignedHeader::header);
    let (number, until) = (headers().map(|header| header.sequence), headers().map(|header| header.ended_at));
    number.max().zip(until.max())
}

/// Returns true if the time of a window's readings overlaps the requested time.
fn has_readings(header: &EnvelopeHeader, Between { since, until }: Between) -> bool {
    since.is_none_or(|since| header.ended_at >= since) && until.is_none_or(|until| header.started_at < until)
}

/// Sequence numbers without a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Missing {
    /// Their number, without those of jumps.
    windows: u64,
    /// Gaps that are too large to be missing windows alone.
    jumps: u64,
}

/// Returns the missing sequence numbers next to windows of the requested time.
fn missing(log: &StreamLog, between: Between) -> Missing {
    let gaps = log.gaps();
    if gaps.is_empty() {
        return Missing::default();
    }
    let by_number: BTreeMap<u64, &Entry> = log.entries.iter().map(|entry| (entry.sequence, entry)).collect();
    let asked = |sequence: u64| {
        let entry = by_number.get(&sequence);
        let signed = entry.and_then(|entry| entry.signed.as_ref());
        signed.is_some_and(|signed| has_readings(signed.header(), between))
    };
    let beside =
        gaps.iter().filter(|(first, last)| first.checked_sub(1).is_some_and(&asked) || asked(last + 1));
    let mut missing = Missing::default();
    for (first, last) in beside {
        match last - first + 1 {
            jump if jump >= NEW_COUNT => missing.jumps += 1,
            windows => missing.windows += windows,
        }
    }
    missing
}

/// Returns the spans of the clock of which a stream has sent pieces, whether the whole window came or not.
fn in_pieces(log: &StreamLog, known: &[Known], clock: &Clock) -> BTreeSet<Group> {
    let pieces = log.entries.iter().filter_map(|entry| entry.signed.as_ref());
    let span = |signed: &SignedHeader| {
        let (header, start) = (signed.header(), signed.description()?.start);
        let of_stream =
            |known: &&Known| known.parameter_id == header.parameters && known.stream == header.stream;
        let span = known.iter().find(of_stream)?.span;
        Some(Group { from: clock.start_of(span, start), to: clock.end_of(span, start) })
    };
    pieces.filter(|signed| signed.is_provisional()).filter_map(span).collect()
}

/// A window of a known stream.
enum Read {
    Window(Box<StoredWindow>),
    /// One of an earlier version.
    Places,
}

fn read(entry: &Entry, signed: &SignedHeader, known: &[Known], clock: &Clock) -> Option<Read> {
    let header = signed.header();
    let mut description = WindowDescription::parse(&header.layout).ok()?;
    let stream = known.iter().find(|known| known.is_of(header, &description))?;
    if stream.of_places {
        return Some(Read::Places);
    }
    description.layout = stream.shown.clone();
    let (whole, span) = (description.end(), clock.end_of(stream.span, description.start));
    // The end of the span cuts the last tick alone. In a time zone that was another one then, it is elsewhere.
    let cuts = !stream.absolute
        && (description.length == 0 || whole.saturating_sub(span) < i64::from(description.period.ceil()));
    let end = if cuts { whole.min(span) } else { whole };
    let sums = signed.stream().filter(|stream| stream.is_of_sums()).zip(signed.mask());
    Some(Read::Window(Box::new(StoredWindow {
        id: entry.id.clone(),
        sequence: entry.sequence,
        ticks: 0..description.ticks(),
        span: None,
        channels: None,
        leaf: entry.leaf,
        stream: header.stream.clone(),
        parameter_id: header.parameters.to_string(),
        bytes: entry.bytes,
        description: Arc::new(description),
        end,
        kind: stream.kind,
        scheme: stream.scheme,
        bundle: stream.bundle,
        sums: sums.map(|(stream, name)| SumsOf { stream: Arc::clone(stream), name }),
        origin: stream.origin,
    })))
}

/// Returns true if the unit of a channel is unchanged. Readings of different units are never added.
pub(crate) fn unit_is(plant: &Plant, channel: &Channel) -> bool {
    plant.settings().channels.get(&channel.name).is_none_or(|settings| settings.unit == channel.unit)
}

/// Returns the numbers of windows that lack a needed channel and hold one that `sotto.toml` does not declare.
fn undeclared(plant: &Plant, windows: &[StoredWindow], needed: &Needed) -> BTreeMap<String, usize> {
    let mut undeclared = BTreeMap::new();
    let wanted = needed.channels.as_ref().map_or(0, BTreeSet::len);
    for window in windows.iter().filter(|window| needed.channels(window).count() < wanted) {
        let names = window.layout().channels().iter().map(|channel| &channel.name);
        for name in names.filter(|name| !plant.settings().channels.contains_key(*name)) {
            *undeclared.entry(name.clone()).or_default() += 1;
        }
    }
    undeclared
}
