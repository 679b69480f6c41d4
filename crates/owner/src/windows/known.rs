//! The streams that this plant's bundles made, and their windows.

use std::collections::BTreeMap;
use std::sync::Arc;

use sotto_pack::{Clock, Layout, Period, Span, StreamProfile, WindowDescription};
use sotto_rlwe::{KeyId, Origin, ParameterId, SchemeId};
use sotto_wire::{Digest, StreamHeader};

use super::mirror::Entry;
use super::row_time::Group;
use super::window::{StoredWindow, SumsOf};
use crate::declared::Plant;
use crate::devices;
use crate::devices::{DeviceRecord, parameter_id, spec_of};
use crate::error::OwnerError;
use crate::quantities::origin;
use crate::streams::{Kind, layout_of};

/// Valid starts of windows: the years 1 to 9999.
const TIMES: std::ops::Range<i64> = -62_135_596_800_000..253_402_300_800_000;

/// A stream of a bundle of this plant, with the properties that its windows must have.
pub(super) struct Known {
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
    pub(super) scheme: Option<SchemeId>,
    pub(super) bundle: usize,
    /// True if its windows are places of an earlier version, which are not read any more.
    of_places: bool,
    origin: Origin,
}

impl Known {
    pub(super) fn new(
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

    fn is_of(&self, entry: &Entry<'_>, description: &WindowDescription) -> bool {
        let Some((parameters, key, stream)) = entry.form() else { return false };
        self.parameter_id == parameters
            && self.key_id == key
            && self.stream == stream
            && self.layout == description.layout
            && self.period == description.period
            && entry.stated_readings().is_none_or(|stated| stated == description.readings())
    }
}

/// Windows of a piece of a log, which differ in their numbers and times alone.
pub(super) enum Read<'k> {
    Windows(Box<Form<'k>>),
    /// Windows of an earlier version.
    Places,
}

/// The facts that windows of a piece share.
pub(super) struct Form<'k> {
    known: &'k Known,
    stream: Arc<str>,
    parameter_id: Arc<str>,
    description: WindowDescription,
    sums: Option<Arc<StreamHeader>>,
    /// The span of the clock of the window before.
    span: Option<Group>,
}

/// Returns the form of the windows of a piece. Returns None if no bundle of this plant makes such windows, or they cannot be read.
pub(super) fn read<'k>(first: &Entry<'_>, known: &'k [Known]) -> Option<Read<'k>> {
    let mut description = first.description()?;
    let known = known.iter().find(|known| known.is_of(first, &description))?;
    if known.of_places {
        return Some(Read::Places);
    }
    description.layout = known.shown.clone();
    let (stream, parameter_id) = (known.stream.as_str().into(), known.parameter_id.to_string().into());
    let sums = first.stream().filter(|stream| stream.is_of_sums()).cloned();
    Some(Read::Windows(Box::new(Form { known, stream, parameter_id, description, sums, span: None })))
}

impl Form<'_> {
    /// Returns a window of the piece; None if its time is none of the calendar.
    pub(super) fn window(&mut self, entry: &Entry<'_>, clock: &Clock) -> Option<StoredWindow> {
        let start = entry.start().unwrap_or(self.description.start);
        if !TIMES.contains(&start) {
            return None;
        }
        let description = WindowDescription { start, ..self.description.clone() };
        let end = self.end(&description, clock);
        let mask = entry.mask();
        let sums = self.sums.as_ref().zip(mask);
        let named = entry.named();
        Some(StoredWindow {
            id: named.map(|(_, id)| hex::encode(id)).unwrap_or_default(),
            sequence: entry.sequence(),
            ticks: 0..description.ticks(),
            span: None,
            channels: None,
            identity: named
                .map_or_else(|| identity(self.sums.as_deref(), entry.sequence()), |(leaf, _)| leaf),
            stream: Arc::clone(&self.stream),
            parameter_id: Arc::clone(&self.parameter_id),
            bytes: entry.bytes(),
            description: Arc::new(description),
            end,
            kind: self.known.kind,
            scheme: self.known.scheme,
            bundle: self.known.bundle,
            sums: sums.map(|(stream, name)| SumsOf { stream: Arc::clone(stream), name }),
            origin: self.known.origin,
            rolled: None,
            count: 1,
        })
    }

    /// Returns windows of a run as one; None if the ticks of one of them do not follow those of the one before, or a time is none of
    /// the calendar.
    pub(super) fn windows(&mut self, first: &Entry<'_>, count: u32, clock: &Clock) -> Option<StoredWindow> {
        let last = self.window(&first.nth(u64::from(count) - 1), clock)?;
        let window = self.window(first, clock)?;
        let (length, period) = (window.description.ticks(), window.description.period);
        let follows = period.at(0, length) % period.cycle() == 0
            && length.checked_mul(count).is_some_and(|before| {
                length > 0 && period.at(window.start(), before - length) == last.start()
            })
            && window.cut_off() == last.cut_off();
        let bytes = first.bytes_of(count.into()).filter(|_| follows)?;
        Some(StoredWindow { bytes, ticks: 0..length * count, end: last.end, count, ..window })
    }

    /// Returns the end of a window.
    fn end(&mut self, description: &WindowDescription, clock: &Clock) -> i64 {
        let (whole, start) = (description.end(), description.start);
        if self.known.absolute {
            return whole;
        }
        let is_in = |span: &Group| span.from <= start && start < span.to;
        let span = self
            .span
            .filter(is_in)
            .unwrap_or_else(|| Group { from: start, to: clock.end_of(self.known.span, start) });
        self.span = Some(span);
        // The end of the span cuts the last tick alone. In a time zone that was another one then, it is elsewhere.
        let cuts =
            description.length == 0 || whole.saturating_sub(span.to) < i64::from(description.period.ceil());
        if cuts { whole.min(span.to) } else { whole }
    }
}

/// Returns the identity of a window of sums, whose leaf is not kept: no other window of a plant has its stream and its number.
pub(crate) fn identity(stream: Option<&StreamHeader>, sequence: u64) -> Digest {
    let mut identity = stream.map(|stream| stream.id().0).unwrap_or_default();
    identity[24..].copy_from_slice(&sequence.to_le_bytes());
    identity
}

/// Returns the span of the clock of a window, by its stream.
pub(super) fn span_of(entry: &Entry<'_>, known: &[Known], clock: &Clock) -> Option<Group> {
    let (start, (parameters, _, stream)) = (entry.description()?.start, entry.form()?);
    let of_stream = |known: &&Known| known.parameter_id == parameters && known.stream == stream;
    let span = known.iter().find(of_stream)?.span;
    Some(Group { from: clock.start_of(span, start), to: clock.end_of(span, start) })
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::super::mirror::StreamLog;
    use super::super::needed::Needed;
    use super::super::window::Aside;
    use super::super::{made, overlaps};
    use super::*;

    fn known() -> Vec<Known> {
        let stream = made::stream();
        vec![Known {
            parameter_id: stream.parameters(),
            key_id: stream.key(),
            stream: stream.stream().to_owned(),
            layout: stream.layout().clone(),
            shown: stream.layout().clone(),
            period: stream.period(),
            span: Span::Hour,
            absolute: false,
            kind: Some(Kind::Exact),
            scheme: None,
            bundle: 0,
            of_places: false,
            origin: Origin::SecretKey,
        }]
    }

    fn listed(log: &StreamLog, known: &[Known]) -> Vec<StoredWindow> {
        let (clock, mut windows) = (Clock::new("Europe/Rome").unwrap(), Vec::new());
        let (mut form, mut shape) = (None, None);
        for (first, count) in log.pieces() {
            if shape.is_none() || shape != first.shape() {
                (form, shape) = (read(&first, known), first.shape());
            }
            let Some(Read::Windows(form)) = &mut form else { panic!("a window of the stream") };
            windows.extend(first.all(count).filter_map(|entry| form.window(&entry, &clock)));
        }
        windows
    }

    #[test]
    fn windows_of_a_run_are_those_that_were_sent() {
        let sent = made::windows(200, 64, true);
        let mut log = StreamLog::default();
        made::items(&sent).0.iter().for_each(|item| log.push(item, &item.leaves(), |_| false).unwrap());
        let known = known();
        let windows = listed(&log, &known);
        assert_eq!(windows.len(), sent.len());
        for (window, sent) in windows.iter().zip(&sent) {
            let signed = sent.signed_header();
            assert_eq!(*window.description, signed.description().unwrap());
            assert_eq!(window.sums.as_ref().map(|sums| sums.name), sent.mask());
            assert_eq!((window.sequence, window.to()), (sent.header().sequence, sent.header().ended_at + 1));
        }
        // Windows that lie apart are left as they are, in any order and by either way.
        let (needed, mut aside) = (Needed::once(), Aside::default());
        let names = |windows: &[StoredWindow]| {
            windows.iter().map(|window| (window.name(), window.ticks())).collect::<Vec<_>>()
        };
        let reversed = windows.iter().rev().cloned().collect();
        assert_eq!(names(&overlaps::leave_out(reversed, &needed, &mut aside)), names(&windows));
        assert_eq!(names(&overlaps::leave_out(windows.clone(), &needed, &mut aside)), names(&windows));
        assert_eq!(aside, Aside::default());
    }

    /// Times a list of 10^6 windows, or of `SOTTO_WINDOWS`.
    #[test]
    #[ignore = "for its times: cargo test --release -p sotto-owner --lib -- --ignored --nocapture windows_are_listed"]
    fn windows_are_listed() {
        let count =
            std::env::var("SOTTO_WINDOWS").ok().and_then(|count| count.parse().ok()).unwrap_or(1_000_000);
        for grouped in [64, 1] {
            let sent = made::windows(count, grouped, grouped > 1);
            let mut log = StreamLog::default();
            made::items(&sent).0.iter().for_each(|item| log.push(item, &item.leaves(), |_| false).unwrap());
            drop(sent);
            let known = known();
            let begin = Instant::now();
            let windows = listed(&log, &known);
            let made = begin.elapsed();
            let windows = overlaps::leave_out(windows, &Needed::once(), &mut Aside::default());
            assert_eq!(windows.len() as u64, count);
            println!(
                "{count} windows in groups of {grouped}: listed in {made:?}, {:?} in all",
                begin.elapsed()
            );
        }
    }
}
