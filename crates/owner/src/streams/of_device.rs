//! The streams of a device that the declared questions need: channels, spans, quantities.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::{Channel, Period, Span};

use super::choose::windows_of_sums;
use super::demand::{Class, Demand, demands, has_all_channels, is_joined};
use super::kind::Kind;
use super::needs::{Needs, StreamNeeds};
use super::split;
use super::wishes::Wishes;
use crate::declared::settings::{DeviceSettings, Settings};
use crate::question::{ExactScheme, Question};

/// Returns the streams that a device with these settings sends for the declared questions.
///
/// Channels of a question by hour, or of an alarm, have windows of an hour; the others keep windows of a day. A question by
/// day about a channel of each kind has both in windows of a day, so that the first is sent twice. Channels that no question
/// needs are sent with squares, for means and standard deviations by day.
#[must_use]
pub(crate) fn of_device(
    settings: &Settings,
    questions: &BTreeMap<String, Question>,
    device: &str,
    of: &DeviceSettings,
) -> Vec<StreamNeeds> {
    of_device_with(settings, questions, (device, of), Wishes::default())
}

/// Returns the streams of [`of_device`] with some wishes.
#[must_use]
pub(crate) fn of_device_with(
    settings: &Settings,
    questions: &BTreeMap<String, Question>,
    (device, of): (&str, &DeviceSettings),
    wishes: Wishes,
) -> Vec<StreamNeeds> {
    let demands = demands(settings, questions, device, of);
    let mut by_class: BTreeMap<Class, Vec<&Demand<'_>>> = BTreeMap::new();
    for demand in &demands {
        by_class.entry(demand.class).or_default().push(demand);
    }
    let planner = Planner { settings, of, wishes };
    let mut streams: Vec<StreamNeeds> =
        by_class.iter().flat_map(|(class, demands)| planner.streams(*class, demands)).collect();
    streams.extend(planner.unsent(&streams));
    if of.public {
        share_ciphertexts(&mut streams, &of.channels);
    }
    add_steps(&mut streams, settings);
    streams.sort_by_key(|stream| {
        let (span, word) = (std::cmp::Reverse(stream.span), stream.word());
        (stream.kind, stream.scheme, stream.period, word, span)
    });
    let mut parts: BTreeMap<(String, Period), u32> = BTreeMap::new();
    for stream in &mut streams {
        let part = parts.entry((stream.word(), stream.period)).or_default();
        stream.part = *part;
        *part += 1;
    }
    streams
}

/// Plans the streams of one device.
struct Planner<'s> {
    settings: &'s Settings,
    of: &'s DeviceSettings,
    wishes: Wishes,
}

/// Demands of one class whose windows have one span.
struct Part<'d> {
    class: Class,
    span: Span,
    demands: &'d [&'d Demand<'d>],
    /// True if squares are sent, whether a demand needs them or not.
    squares: bool,
}

impl Planner<'_> {
    /// Returns the streams of one class: those with windows of a day, then those with windows of an hour.
    fn streams(&self, class: Class, demands: &[&Demand<'_>]) -> Vec<StreamNeeds> {
        let is_hourly = |demand: &&&Demand<'_>| demand.span == Span::Hour;
        let hourly: BTreeSet<&str> =
            demands.iter().filter(is_hourly).flat_map(|demand| &demand.channels).copied().collect();
        // Shorter windows answer questions by day, too.
        let (short, long): (Vec<&Demand<'_>>, Vec<&Demand<'_>>) =
            demands.iter().copied().partition(|demand| demand.channels.is_subset(&hourly));
        // Channels that no question names are sent as those of questions by day are, whichever windows these have.
        let mut by_day = demands.iter().filter(|demand| demand.span == Span::Day).peekable();
        let ride = has_all_channels(class) && by_day.peek().is_some();
        let squares = by_day.any(|demand| demand.needs.squares);
        let rides = |name: &str| ride && !hourly.contains(name) && self.is_of(class, name);
        let long = Part { class, span: Span::Day, demands: &long, squares: ride && squares };
        let short = Part { class, span: Span::Hour, demands: &short, squares: false };
        let mut streams = self.divided(&long, rides);
        streams.extend(self.divided(&short, |_| false));
        streams
    }

    /// Returns true if a channel has the period of a class, and a reading of it changes as much.
    fn is_of(&self, (.., period, joined): Class, name: &str) -> bool {
        self.period(name) == Some(period) && is_joined(self.settings, name) == joined
    }

    fn period(&self, name: &str) -> Option<Period> {
        self.settings.channels.get(name).map(|channel| channel.every.period)
    }

    /// Returns streams with the channels of some demands, and those that ride with them, as many as it takes.
    fn divided(&self, part: &Part<'_>, rides: impl Fn(&str) -> bool) -> Vec<StreamNeeds> {
        let named: BTreeSet<&str> =
            part.demands.iter().flat_map(|demand| &demand.channels).copied().collect();
        let is_sent = |name: &&String| named.contains(name.as_str()) || rides(name);
        let channels: Vec<String> = self.of.channels.iter().filter(is_sent).cloned().collect();
        if channels.is_empty() {
            return Vec::new();
        }
        if self.of.public || !has_all_channels(part.class) {
            return vec![self.stream(part, &channels)];
        }
        let together: Vec<&BTreeSet<&str>> = part.demands.iter().map(|demand| &demand.together).collect();
        let windows = |channels: &[String]| {
            let declared: Vec<Channel> =
                channels.iter().filter_map(|name| self.settings.channel(name)).collect();
            windows_of_sums(&self.stream(part, channels), &declared, self.wishes)
        };
        let least = if part.span == Span::Hour { 24 } else { 1 };
        split::parts(&channels, &together, windows, least).iter().map(|own| self.stream(part, own)).collect()
    }

    /// Returns a stream with these channels, for the demands about them.
    fn stream(&self, part: &Part<'_>, channels: &[String]) -> StreamNeeds {
        let (kind, scheme, period, joined) = part.class;
        let has = |name: &&str| channels.iter().any(|own| own == *name);
        let own: Vec<&Demand<'_>> =
            part.demands.iter().copied().filter(|demand| demand.channels.iter().all(&has)).collect();
        let mut needs = Needs { squares: part.squares, ..Needs::default() };
        own.iter().for_each(|demand| needs.merge(&demand.needs));
        let mut questions: Vec<String> = own.iter().map(|demand| demand.question.to_owned()).collect();
        questions.dedup();
        StreamNeeds {
            kind,
            period,
            span: part.span,
            channels: channels.to_vec(),
            needs,
            questions,
            public: self.of.public,
            scheme,
            joined: joined || own.iter().any(|demand| demand.joined),
            part: 0,
        }
    }

    /// Returns streams with the channels that no other stream has: their means and standard deviations by day can be asked
    /// for later.
    fn unsent(&self, streams: &[StreamNeeds]) -> Vec<StreamNeeds> {
        let periods: BTreeSet<Period> =
            self.of.channels.iter().filter_map(|name| self.period(name)).collect();
        let mut unsent = Vec::new();
        for (period, joined) in periods.into_iter().flat_map(|period| [(period, false), (period, true)]) {
            let class = (Kind::Exact, None, period, joined);
            let is_sent = |name: &str| {
                let has = |stream: &StreamNeeds| stream.channels.iter().any(|own| own == name);
                streams.iter().any(|stream| stream.period == period && has(stream))
            };
            let is_unsent = |name: &str| self.is_of(class, name) && !is_sent(name);
            let part = Part { class, span: Span::Day, demands: &[], squares: true };
            unsent.extend(self.divided(&part, is_unsent));
        }
        unsent
    }
}

/// Adds the needs of exact questions that state no scheme to a stream of one that does, with windows of the same span.
/// Without sums both send whole ciphertexts, of which one is enough.
fn share_ciphertexts(streams: &mut Vec<StreamNeeds>, channels: &[String]) {
    let is_exact = |stream: &StreamNeeds| stream.kind == Kind::Exact;
    let (unstated, mut others): (Vec<_>, Vec<_>) =
        streams.drain(..).partition(|stream| is_exact(stream) && stream.scheme.is_none());
    for from in unstated {
        let takes = |into: &StreamNeeds, scheme: ExactScheme| {
            let same = (into.period, into.span) == (from.period, from.span);
            same && is_exact(into) && into.scheme == Some(scheme)
        };
        let mut schemes = ExactScheme::ALL.into_iter();
        let stated = schemes.find_map(|scheme| others.iter().position(|into| takes(into, scheme)));
        let Some(into) = stated.map(|at| &mut others[at]) else {
            others.push(from);
            continue;
        };
        let sent = |name: &&String| into.channels.contains(name) || from.channels.contains(name);
        into.channels = channels.iter().filter(sent).cloned().collect();
        into.needs.merge(&from.needs);
        into.joined |= from.joined;
        let new: Vec<String> =
            from.questions.into_iter().filter(|name| !into.questions.contains(name)).collect();
        into.questions.extend(new);
    }
    *streams = others;
}

/// Adds streams of whole steps for the comparable channels of exact streams, in the scheme that their questions state.
fn add_steps(streams: &mut Vec<StreamNeeds>, settings: &Settings) {
    let comparable = |name: &String| settings.channels.get(name).is_some_and(|channel| channel.comparable);
    let mut exact: Vec<StreamNeeds> =
        streams.iter().filter(|stream| stream.kind == Kind::Exact).cloned().collect();
    // Steps of any scheme serve questions that state none, and those of shorter windows questions by day.
    exact.sort_by_key(|stream| (stream.scheme.is_none(), stream.period, stream.span));
    for StreamNeeds { period, span, channels, public, scheme, joined, .. } in exact {
        let sent = |name: &String| {
            let serves = |other: &&StreamNeeds| {
                let states = scheme.is_none() || other.scheme == scheme;
                other.kind == Kind::Steps && other.period == period && states
            };
            streams.iter().filter(serves).any(|stream| stream.channels.contains(name))
        };
        let channels: Vec<String> =
            channels.into_iter().filter(|name| comparable(name) && !sent(name)).collect();
        if !channels.is_empty() {
            let (kind, needs, questions) = (Kind::Steps, Needs::default(), Vec::new());
            streams.push(StreamNeeds {
                kind,
                period,
                span,
                channels,
                needs,
                questions,
                public,
                scheme,
                joined,
                part: 0,
            });
        }
    }
}
