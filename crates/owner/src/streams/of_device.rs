//! The streams of a device that the declared questions need: channels, spans, quantities.

use std::collections::BTreeMap;

use sotto_pack::{MOST_BINS, Span};
use sotto_program::limits::GAP_BITS;

use super::coefficients::coefficient_size;
use super::kind::Kind;
use super::needs::{Needs, StreamNeeds};
use crate::declared::settings::{Compare, DeviceSettings, Settings};
use crate::functions::Call;
use crate::gathered::{BinsNeeded, Need};
use crate::language::By;
use crate::question::{ExactScheme, Question};

/// Returns the number of equal bins over a range for an extreme or a quantile within `precision`. Questions of before may
/// have a smaller precision than the most bins give: new ones are refused ([`too_precise`]).
fn bins_within(precision: f64, minimum: f64, maximum: f64) -> u32 {
    let bins = ((maximum - minimum) / (2.0 * precision)).ceil();
    bins.clamp(2.0, MOST_BINS as f64) as u32
}

/// Returns why no number of bins of a channel gives a quantile within `precision`; None if one does.
fn beyond_bins(precision: f64, minimum: f64, maximum: f64) -> Option<String> {
    let range = maximum - minimum;
    let bins = (range / (2.0 * precision)).ceil();
    let least = range / (2.0 * MOST_BINS as f64);
    // Three digits, upwards.
    let last = least.log10().floor() as i32 - 2;
    let least = (least / 10_f64.powi(last)).ceil() * 10_f64.powi(last);
    let places = usize::try_from(-last).unwrap_or_default();
    let told = || {
        format!("it takes {bins} bins, and a channel has at most {MOST_BINS}: give {least:.places$} or more")
    };
    (bins > MOST_BINS as f64).then(told)
}

/// Returns why a question cannot be answered within `precision`, with the channel; None if it can.
pub(crate) fn too_precise(settings: &Settings, question: &Question, precision: f64) -> Option<String> {
    let all: Vec<Need> = question.calls().flat_map(Call::needs).collect();
    all.iter().filter_map(Need::to_precision).find_map(|name| {
        let range = settings.channels.get(name)?.range;
        let reason = beyond_bins(precision, range.minimum, range.maximum)?;
        Some(format!("the precision {precision} of {name} cannot be had: {reason}"))
    })
}

/// Bits of the gap of a comparison in the cloud, unless its question declares a precision.
pub const USUAL_GAP_BITS: u8 = 6;

/// Returns the bits of the gap that leaves values undecided within `precision` of the limit at most, relative to the size
/// of the coefficients. More than the finest comparison has if none is as fine.
pub(super) fn gap_bits(precision: Option<f64>) -> u8 {
    // The largest distance from a limit within the range is twice the size.
    let bits = |precision: f64| (2.0 / precision).log2().ceil().clamp(0.0, 64.0) as u8;
    let wanted = precision.map_or(USUAL_GAP_BITS, bits);
    GAP_BITS.into_iter().find(|bits| *bits >= wanted).unwrap_or(wanted)
}

/// Returns true if the cloud can compare the call's value with its limit: a condition on a polynomial or a model.
#[must_use]
pub fn can_compare_in_cloud(call: &Call) -> bool {
    call.can_compare_in_cloud()
}

/// Returns the span of windows for a grouping. A window covers at most a day, so data reaches the cloud within a day.
///
/// If readings are an hour or more apart, an hourly window would hold one reading at most; then windows cover a day and
/// are split by ticks.
#[must_use]
pub(crate) fn span_of(by: Option<By>, period: u32) -> Span {
    match by {
        Some(By::Hour) if period < 3_600_000 => Span::Hour,
        _ => Span::Day,
    }
}

/// The streams of a device by kind, stated scheme, period, and whether they are joined.
type Streams = BTreeMap<(Kind, Option<ExactScheme>, u32, bool), StreamNeeds>;

/// Returns the streams that a device with these settings sends for the declared questions. Channels that no question
/// needs are sent with squares, for means and standard deviations by day.
#[must_use]
pub(crate) fn of_device(
    settings: &Settings,
    questions: &BTreeMap<String, Question>,
    device: &str,
    DeviceSettings { channels, public, .. }: &DeviceSettings,
) -> Vec<StreamNeeds> {
    let public = *public;
    let mut streams = Streams::new();
    let period = |name: &str| settings.channels.get(name).map(|channel| channel.every.milliseconds);
    let mut periods: Vec<u32> = channels.iter().filter_map(|name| period(name)).collect();
    periods.sort_unstable();
    periods.dedup();
    let is_joined =
        |name: &str| settings.channels.get(name).is_some_and(|channel| channel.kind().rules().is_joined());
    let of_period = |wanted: u32, joined: bool| -> Vec<String> {
        let is_wanted = |name: &&String| period(name) == Some(wanted) && is_joined(name) == joined;
        channels.iter().filter(is_wanted).cloned().collect()
    };
    for (name, question) in questions {
        if question.only.as_ref().is_some_and(|only| !only.iter().any(|named| named == device)) {
            continue;
        }
        for call in question.calls() {
            let wanted = call.needs();
            let (kind, mut needs) = (Kind::of(&wanted), Needs::of(&wanted));
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
            let named = call.channels();
            let at: Option<Vec<u32>> = named
                .iter()
                .map(|channel| period(channel).filter(|_| channels.iter().any(|own| own == channel)))
                .collect();
            // This device cannot answer a call with a channel that it lacks, or with channels of two periods.
            let Some(at) = at.filter(|at| !at.is_empty() && at.iter().all(|p| *p == at[0])) else { continue };
            let span = span_of(question.by, at[0]);
            let scheme = question.scheme.filter(|_| kind == Kind::Exact);
            let all_channels = kind == Kind::Exact && scheme.is_none();
            let joined = named.iter().any(|name| is_joined(name));
            let stream =
                streams.entry((kind, scheme, at[0], joined && all_channels)).or_insert_with(|| StreamNeeds {
                    kind,
                    period: at[0],
                    span,
                    channels: if all_channels { of_period(at[0], joined) } else { Vec::new() },
                    needs: Needs::default(),
                    questions: Vec::new(),
                    public,
                    scheme,
                    joined: false,
                });
            stream.joined |= joined;
            if !all_channels || joined {
                // In a ciphertext every channel takes a block, so only requested channels are sent; beside those that are
                // joined, others are sent if a question combines them.
                let sent = |name: &&String| stream.channels.contains(name) || named.contains(&name.as_str());
                stream.channels = channels.iter().filter(sent).cloned().collect();
            }
            stream.span = stream.span.min(span);
            stream.needs.merge(&needs);
            if !stream.questions.contains(name) {
                stream.questions.push(name.clone());
            }
        }
    }
    let mut unsent_streams = Vec::new();
    for period in periods {
        // Channels without a question are sent too: their means and standard deviations by day can be asked for later.
        let sent = |name: &String| {
            streams.values().any(|stream| stream.period == period && stream.channels.contains(name))
        };
        for joined in [false, true] {
            let unsent: Vec<String> =
                of_period(period, joined).into_iter().filter(|name| !sent(name)).collect();
            if unsent.is_empty() {
                continue;
            }
            let stream = StreamNeeds {
                kind: Kind::Exact,
                period,
                span: Span::Day,
                channels: unsent,
                needs: Needs { squares: true, ..Needs::default() },
                questions: Vec::new(),
                public,
                scheme: None,
                joined,
            };
            unsent_streams.push(((Kind::Exact, None, period, joined), stream));
        }
    }
    streams.extend(unsent_streams);
    if public {
        share_ciphertexts(&mut streams, channels);
    }
    add_steps(&mut streams, settings);
    streams.into_values().collect()
}

/// Adds the needs of exact questions that state no scheme to a stream of one that does. Without sums both send whole
/// ciphertexts, of which one is enough.
fn share_ciphertexts(streams: &mut Streams, channels: &[String]) {
    let unstated: Vec<_> = streams
        .keys()
        .filter(|(kind, scheme, ..)| *kind == Kind::Exact && scheme.is_none())
        .copied()
        .collect();
    for (kind, scheme, period, joined) in unstated {
        let stated = ExactScheme::ALL
            .into_iter()
            .find(|stated| streams.contains_key(&(kind, Some(*stated), period, false)));
        let Some(from) = stated.and_then(|_| streams.remove(&(kind, scheme, period, joined))) else {
            continue;
        };
        let Some(into) = streams.get_mut(&(kind, stated, period, false)) else { continue };
        let sent = |name: &&String| into.channels.contains(name) || from.channels.contains(name);
        into.channels = channels.iter().filter(sent).cloned().collect();
        into.span = into.span.min(from.span);
        into.needs.merge(&from.needs);
        let new: Vec<String> =
            from.questions.into_iter().filter(|name| !into.questions.contains(name)).collect();
        into.questions.extend(new);
    }
}

/// Adds streams of whole steps for the comparable channels of exact streams, in the scheme that their questions state.
fn add_steps(streams: &mut Streams, settings: &Settings) {
    let comparable = |name: &String| settings.channels.get(name).is_some_and(|channel| channel.comparable);
    let mut exact: Vec<StreamNeeds> =
        streams.values().filter(|stream| stream.kind == Kind::Exact).cloned().collect();
    // Steps of any scheme serve questions that state none.
    exact.sort_by_key(|stream| stream.scheme.is_none());
    for StreamNeeds { period, span, channels, public, scheme, joined, .. } in exact {
        let sent = |name: &String| {
            let mut steps =
                streams.values().filter(|stream| stream.kind == Kind::Steps && stream.period == period);
            scheme.is_none() && steps.any(|stream| stream.channels.contains(name))
        };
        let channels: Vec<String> =
            channels.into_iter().filter(|name| comparable(name) && !sent(name)).collect();
        if !channels.is_empty() {
            let (kind, needs, questions) = (Kind::Steps, Needs::default(), Vec::new());
            let needed =
                StreamNeeds { kind, period, span, channels, needs, questions, public, scheme, joined };
            streams.insert((kind, scheme, period, false), needed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_precision_beyond_the_most_bins_is_told_with_the_least() {
        assert_eq!(beyond_bins(0.05, 0.0, 100.0), None);
        let reason = beyond_bins(0.01, 0.0, 100.0).unwrap();
        assert!(
            reason.contains("5000 bins") && reason.contains("1024") && reason.contains("give 0.0489 or more"),
            "{reason}"
        );
        assert_eq!(beyond_bins(0.0489, 0.0, 100.0), None, "the one that is named");
        assert!(beyond_bins(0.0488, 0.0, 100.0).is_some());
    }
}
