//! The calls of questions that a device answers.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::{Period, Span};

use super::coefficients::coefficient_size;
use super::fineness::{bins_within, gap_bits, span_of};
use super::kind::Kind;
use super::needs::{Needs, StreamNeeds};
use crate::declared::settings::{Compare, DeviceSettings, Settings};
use crate::declared::{Member, is_alarm};
use crate::functions::Call;
use crate::gathered::{BinsNeeded, Need};
use crate::language::By;
use crate::question::{ExactScheme, Question};

/// Streams with the same readings: kind, stated scheme, period, and whether a reading changes what is sent about other ticks.
pub(super) type Class = (Kind, Option<ExactScheme>, Period, bool);

/// The needs of one call.
pub(super) struct Demand<'q> {
    pub(super) question: &'q str,
    pub(super) channels: BTreeSet<&'q str>,
    /// The channels that one window has: those of the call, or of all calls of an alarm.
    pub(super) together: BTreeSet<&'q str>,
    pub(super) class: Class,
    pub(super) span: Span,
    pub(super) needs: Needs,
    /// True if a reading of one of its channels changes what is sent about other ticks.
    pub(super) joined: bool,
}

impl Demand<'_> {
    /// Returns a stream with the channels of the call alone.
    fn stream(&self, public: bool) -> StreamNeeds {
        let (kind, scheme, period, _) = self.class;
        StreamNeeds {
            kind,
            period,
            span: self.span,
            channels: self.channels.iter().map(|name| (*name).to_owned()).collect(),
            needs: self.needs.clone(),
            questions: vec![self.question.to_owned()],
            public,
            scheme,
            joined: self.joined,
            part: 0,
        }
    }
}

/// Returns true if streams of a class have all channels of their period: sums, where a channel takes a place a reading. In a
/// ciphertext every channel takes a block.
pub(super) fn has_all_channels((kind, scheme, ..): Class) -> bool {
    kind == Kind::Exact && scheme.is_none()
}

/// Returns true if a reading of a channel changes what is sent about other ticks.
pub(super) fn is_joined(settings: &Settings, name: &str) -> bool {
    settings.channels.get(name).is_some_and(|channel| channel.kind().rules().is_joined())
}

/// Returns what each call needs that a device answers, for a stream of its own.
#[must_use]
pub(crate) fn of_calls(
    settings: &Settings,
    questions: &BTreeMap<String, Question>,
    device: &str,
    of: &DeviceSettings,
) -> Vec<StreamNeeds> {
    demands(settings, questions, device, of).iter().map(|demand| demand.stream(of.public)).collect()
}

/// Returns the demands of a device's questions.
pub(super) fn demands<'q>(
    settings: &Settings,
    questions: &'q BTreeMap<String, Question>,
    device: &str,
    of: &DeviceSettings,
) -> Vec<Demand<'q>> {
    let mut demands = Vec::new();
    for (name, question) in questions {
        let member = Member { name: device, tags: &of.tags };
        let taken = question.calls_of().filter(|call| settings.takes(question, *call, member));
        demands.extend(taken.flat_map(|(call, _)| {
            let each = parts(call, device, of).into_iter();
            each.filter_map(|channels| demand(settings, (name, question), (call, channels), of))
        }));
    }
    demands
}

/// Returns the channels of a call that one window of a device has: all of them; those of two devices each by itself.
fn parts<'q>(call: &'q Call, device: &str, of: &DeviceSettings) -> Vec<BTreeSet<&'q str>> {
    let of_devices = call.two_devices();
    if of_devices.is_empty() {
        return vec![call.channels().into_iter().collect()];
    }
    let own = of_devices.into_iter().filter(|of_device| of_device.may_be_of(device));
    let channels: BTreeSet<&str> = own.map(|of_device| of_device.channel.as_str()).collect();
    let measured = channels.into_iter().filter(|channel| of.channels.iter().any(|own| own == channel));
    measured.map(|channel| BTreeSet::from([channel])).collect()
}

/// Returns what a call needs; None if the device cannot answer it, for it lacks a channel, or its channels have several
/// periods.
fn demand<'q>(
    settings: &Settings,
    (name, question): (&'q str, &'q Question),
    (call, channels): (&'q Call, BTreeSet<&'q str>),
    of: &DeviceSettings,
) -> Option<Demand<'q>> {
    let wanted = call.needs();
    let (kind, mut needs) = (Kind::of(&wanted), Needs::of(&wanted));
    let own = |channel: &&str| of.channels.iter().any(|own| own == channel);
    let period = |channel: &&str| Some(settings.channels.get(*channel)?.every.period);
    let at = channels.iter().map(|channel| period(channel).filter(|_| own(channel)));
    let at: BTreeSet<Period> = at.collect::<Option<_>>()?;
    let period = *at.first().filter(|_| at.len() == 1)?;
    let declared = settings.questions.get(name);
    let precision = declared.and_then(|question| question.precision);
    let relative = precision.filter(|_| kind == Kind::Real).and_then(|precision| {
        let size = coefficient_size(call.reading()?, |channel| settings.channel(channel))?;
        (size > 0.0).then_some(precision / size)
    });
    let in_cloud = declared.is_some_and(|question| question.compare == Compare::Cloud);
    if in_cloud && call.can_compare_in_cloud() {
        needs.gap_bits = Some(gap_bits(relative));
    } else {
        needs.precision = relative;
    }
    for name in wanted.iter().filter_map(Need::to_precision) {
        if let (Some(precision), Some(channel)) = (precision, settings.channels.get(name)) {
            let bins = bins_within(precision, channel.range.minimum, channel.range.maximum);
            needs.bins.insert(name.clone(), vec![BinsNeeded::Equal(bins)]);
        }
    }
    needs.flooding = (question.shared && kind == Kind::Real).then_some(settings.flooding);
    let scheme = question.scheme.filter(|_| kind == Kind::Exact);
    let joined = channels.iter().any(|name| is_joined(settings, name));
    let class = (kind, scheme, period, joined && has_all_channels((kind, scheme, period, joined)));
    let one_window = is_alarm(name) || question.by == Some(By::Window);
    let together =
        if one_window { question.calls().flat_map(Call::channels).collect() } else { channels.clone() };
    Some(Demand {
        question: name,
        channels,
        together,
        class,
        span: span_of(question.by, period),
        needs,
        joined,
    })
}
