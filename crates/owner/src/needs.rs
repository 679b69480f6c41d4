//! The streams of a device that the declared questions need: channels, spans, quantities.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::{Encoding, Span, StreamProfile};
use sotto_program::limits::GAP_BITS;

use crate::coefficients::coefficient_size;
use crate::flooding::FloodingSettings;
use crate::gathered::{BinsNeeded, ChannelPair, Need};
use crate::language::{By, Condition, Reading};
use crate::question::{Call, Question};
use crate::settings::{Compare, DeviceSettings, Settings};

/// The kinds of streams. A device encrypts a window once for each kind that its questions need.
///
/// Example: [`StreamNeeds`]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Whole numbers at the channel's resolution, in BFV or BGV. The resolution is the only error.
    Exact,
    /// Reals in CKKS, for polynomials and models at each reading.
    Real,
    /// Whole steps of comparable channels in BFV or BGV, which the cloud compares with limits chosen later.
    Steps,
}

impl Kind {
    /// Returns the word that starts a stream's name.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Real => "real",
            Self::Steps => "steps",
        }
    }

    /// Returns the kind of the stream that answers a call with these needs.
    pub(crate) fn of(needs: &[Need]) -> Self {
        if needs.iter().any(Need::is_real) { Self::Real } else { Self::Exact }
    }

    /// Returns the kind of a stream with this profile. Returns None for streams that were not made for questions.
    pub(crate) fn of_profile(profile: &StreamProfile) -> Option<Self> {
        match profile.encoding {
            Encoding::Resolution if profile.slots.is_some() => Some(Self::Steps),
            Encoding::Resolution => Some(Self::Exact),
            Encoding::Real => Some(Self::Real),
            Encoding::Integer { .. } => None,
        }
    }
}

/// Returns the number of equal bins over a range for an extreme or a quantile within `precision`.
fn bins_within(precision: f64, (minimum, maximum): (f64, f64)) -> u32 {
    let bins = ((maximum - minimum) / (2.0 * precision)).ceil();
    bins.clamp(2.0, sotto_pack::MOST_BINS as f64) as u32
}

/// Bits of the gap of a comparison in the cloud, unless its question declares a precision.
pub const USUAL_GAP_BITS: u8 = 6;

/// Returns the bits of the gap that leaves values undecided within `precision` of the limit at most, relative to the size
/// of the coefficients. More than the finest comparison has if none is as fine.
fn gap_bits(precision: Option<f64>) -> u8 {
    // The largest distance from a limit within the range is twice the size.
    let bits = |precision: f64| (2.0 / precision).log2().ceil().clamp(0.0, 64.0) as u8;
    let wanted = precision.map_or(USUAL_GAP_BITS, bits);
    GAP_BITS.into_iter().find(|bits| *bits >= wanted).unwrap_or(wanted)
}

/// The quantities that questions need from the windows of one stream.
///
/// Example: [`StreamNeeds`]
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Needs {
    /// True if sums of squares are needed: for variance, standard deviation, root mean square.
    pub squares: bool,
    /// Pairs of channels whose products are summed, by name, the smaller first.
    pub products: BTreeSet<(String, String)>,
    /// True if weighted sums are needed.
    pub weights: bool,
    /// Bins by channel, in which the device counts its readings.
    pub bins: BTreeMap<String, Vec<BinsNeeded>>,
    /// The highest power of a polynomial.
    pub degree: u32,
    /// True if linear models over several channels are needed.
    pub models: bool,
    /// The smallest error requested, relative to the size of the coefficients. None: the default.
    pub precision: Option<f64>,
    /// The terms of flooding, if values are given to others. Only for reals: whole numbers are exact.
    pub flooding: Option<FloodingSettings>,
    /// True if polynomials or models are compared with limits.
    pub conditions: bool,
    /// Bits of the gap with which the cloud compares them. None: the owner compares.
    pub gap_bits: Option<u8>,
}

impl Needs {
    /// Returns the quantities that these intermediate results are made of.
    pub(crate) fn of(needs: &[Need]) -> Self {
        let mut all = Self::default();
        needs.iter().for_each(|need| all.add(need));
        all
    }

    fn add(&mut self, need: &Need) {
        match need {
            Need::Moments { squares, .. } => self.squares |= squares,
            Need::Pair(ChannelPair { first, second }) => {
                self.squares = true;
                self.products.insert((first.clone(), second.clone()));
            }
            Need::Weighted { .. } => self.weights = true,
            Need::Distribution { channel, bins, .. } => {
                self.bins.entry(channel.clone()).or_default().push(bins.clone());
            }
            Need::Reals { reading, .. } => self.add_reading(reading),
            Need::Decided(Condition { reading, .. }) => {
                self.conditions = true;
                self.add_reading(reading);
            }
        }
    }

    fn add_reading(&mut self, reading: &Reading) {
        match reading {
            Reading::Channel(_) => {}
            Reading::Polynomial { coefficients, .. } => {
                self.degree = self.degree.max(coefficients.len().saturating_sub(1) as u32);
            }
            Reading::Linear { .. } => {
                self.models = true;
                self.degree = self.degree.max(1);
            }
        }
    }

    /// Adds the needs of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.squares |= other.squares;
        self.products.extend(other.products.iter().cloned());
        self.weights |= other.weights;
        for (channel, bins) in &other.bins {
            let known = self.bins.entry(channel.clone()).or_default();
            let new: Vec<BinsNeeded> = bins.iter().filter(|bins| !known.contains(bins)).cloned().collect();
            known.extend(new);
        }
        self.degree = self.degree.max(other.degree);
        self.models |= other.models;
        self.precision = match (self.precision, other.precision) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        self.flooding = self.flooding.or(other.flooding);
        self.conditions |= other.conditions;
        self.gap_bits = self.gap_bits.max(other.gap_bits);
    }
}

/// Returns true if the cloud can compare the call's value with its limit: a condition on a polynomial or a model.
#[must_use]
pub fn can_compare_in_cloud(call: &Call) -> bool {
    call.can_compare_in_cloud()
}

/// One stream that a device must send.
///
/// ```
/// use sotto_owner::{Kind, Needs, StreamNeeds};
/// use sotto_pack::Span;
///
/// let mut needs = Needs::default(); // means
/// needs.merge(&Needs { squares: true, ..Needs::default() }); // and standard deviations
/// assert!(needs.squares);
/// let stream = StreamNeeds {
///     kind: Kind::Exact, period: 300_000, span: Span::Day, channels: vec!["temperature".into()],
///     needs, questions: vec!["daily".into()], public: false,
/// };
/// assert_eq!(stream.name(), "exact-5m");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StreamNeeds {
    /// The kind.
    pub kind: Kind,
    /// Milliseconds between readings.
    pub period: u32,
    /// The span whose end no window crosses.
    pub span: Span,
    /// The channels, in the device's order.
    pub channels: Vec<String>,
    /// The quantities that are computed on them.
    pub needs: Needs,
    /// The names of the questions that need it; empty for a default stream.
    pub questions: Vec<String>,
    /// True if the device encrypts under a public key: its windows are whole ciphertexts.
    pub public: bool,
}

impl StreamNeeds {
    /// Returns the stream's name: its kind and its period.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}-{}", self.kind.word(), crate::amount::Every { milliseconds: self.period })
    }
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

/// Returns the streams that a device with these settings sends for the declared questions. Channels that no question
/// needs are sent with squares, for means and standard deviations by day.
#[must_use]
pub(crate) fn of_device(
    settings: &Settings,
    questions: &BTreeMap<String, Question>,
    device: &str,
    DeviceSettings { channels, public }: &DeviceSettings,
) -> Vec<StreamNeeds> {
    let public = *public;
    let mut streams: BTreeMap<(Kind, u32), StreamNeeds> = BTreeMap::new();
    let period = |name: &str| settings.channels.get(name).map(|channel| channel.every.milliseconds);
    let mut periods: Vec<u32> = channels.iter().filter_map(|name| period(name)).collect();
    periods.sort_unstable();
    periods.dedup();
    let of_period = |wanted: u32| -> Vec<String> {
        channels.iter().filter(|name| period(name) == Some(wanted)).cloned().collect()
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
                    let bins = bins_within(precision, (channel.range.minimum, channel.range.maximum));
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
            let stream = streams.entry((kind, at[0])).or_insert_with(|| StreamNeeds {
                kind,
                period: at[0],
                span,
                channels: if kind == Kind::Exact { of_period(at[0]) } else { Vec::new() },
                needs: Needs::default(),
                questions: Vec::new(),
                public,
            });
            if kind == Kind::Real {
                // In a compact window of reals every channel takes a block, so only requested channels are sent.
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
    for period in periods {
        // Channels without a question are sent too: their means and standard deviations by day can be asked for later.
        let sent = |name: &String| {
            streams.values().any(|stream| stream.period == period && stream.channels.contains(name))
        };
        let unsent: Vec<String> = of_period(period).into_iter().filter(|name| !sent(name)).collect();
        if !unsent.is_empty() {
            let stream = StreamNeeds {
                kind: Kind::Exact,
                period,
                span: Span::Day,
                channels: unsent,
                needs: Needs { squares: true, ..Needs::default() },
                questions: Vec::new(),
                public,
            };
            streams.insert((Kind::Exact, period), stream);
        }
    }
    let comparable = |name: &String| settings.channels.get(name).is_some_and(|channel| channel.comparable);
    let exact: Vec<StreamNeeds> =
        streams.values().filter(|stream| stream.kind == Kind::Exact).cloned().collect();
    for StreamNeeds { period, span, channels, .. } in exact {
        let channels: Vec<String> = channels.into_iter().filter(comparable).collect();
        if !channels.is_empty() {
            let (kind, needs, questions) = (Kind::Steps, Needs::default(), Vec::new());
            let needed = StreamNeeds { kind, period, span, channels, needs, questions, public };
            streams.insert((kind, period), needed);
        }
    }
    streams.into_values().collect()
}
