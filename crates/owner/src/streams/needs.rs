//! The quantities that questions need from the windows of a stream.

use std::collections::{BTreeMap, BTreeSet};

use sotto_pack::{Period, Span};

use super::kind::Kind;
use crate::amount::Every;
use crate::declared::FloodingSettings;
use crate::gathered::{BinsNeeded, ChannelPair, Need, WindowQuantity};
use crate::language::{Condition, Measurand};
use crate::question::ExactScheme;

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
    /// Quantities by channel that windows hold once, and that do not add.
    pub windows: BTreeMap<String, BTreeSet<WindowQuantity>>,
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
            Need::Windows { channel, quantities } => {
                self.windows.entry(channel.clone()).or_default().extend(quantities);
            }
            // Every stream of sums holds the readings at its ticks.
            Need::Readings { .. } => {}
            Need::Reals { reading, .. } => self.add_reading(reading),
            Need::Decided(Condition { reading, .. }) => {
                self.conditions = true;
                self.add_reading(reading);
            }
        }
    }

    fn add_reading(&mut self, reading: &Measurand) {
        match reading {
            Measurand::Channel(_) => {}
            Measurand::Polynomial { coefficients, .. } => {
                self.degree = self.degree.max(coefficients.len().saturating_sub(1) as u32);
            }
            Measurand::Linear { .. } => {
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
        for (channel, quantities) in &other.windows {
            self.windows.entry(channel.clone()).or_default().extend(quantities);
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

/// One stream that a device must send.
///
/// ```
/// use sotto_owner::{Kind, Needs, StreamNeeds};
/// use sotto_pack::{Period, Span};
///
/// let mut needs = Needs::default(); // means
/// needs.merge(&Needs { squares: true, ..Needs::default() }); // and standard deviations
/// assert!(needs.squares);
/// let stream = StreamNeeds {
///     kind: Kind::Exact, period: Period::from_milliseconds(300_000), span: Span::Day, channels: vec!["temperature".into()],
///     needs, questions: vec!["daily".into()], public: false, scheme: None, joined: false, part: 0,
/// };
/// assert_eq!(stream.name(), "exact-5m");
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct StreamNeeds {
    /// How windows hold their readings.
    pub kind: Kind,
    /// The time between readings.
    pub period: Period,
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
    /// The scheme that its questions state for exact results. None: sums, or the scheme with the fewest bytes.
    pub scheme: Option<ExactScheme>,
    /// True if a reading of one of its channels changes what is sent about other ticks, as that of a state or a counter: the
    /// device keeps what it sent for a while, and sends windows again.
    pub joined: bool,
    /// The number of the stream among those with its word and period, from 0.
    pub part: u32,
}

impl StreamNeeds {
    /// Returns the stream's name: its kind, the scheme that its questions state, its period and, from the second one on, its
    /// number.
    #[must_use]
    pub fn name(&self) -> String {
        let name = format!("{}-{}", self.word(), Every { period: self.period }).replace('/', "_");
        if self.part == 0 { name } else { format!("{name}-{}", self.part + 1) }
    }

    /// Returns the start of its name.
    pub(crate) fn word(&self) -> String {
        match (self.kind, self.scheme) {
            (Kind::Exact, None) if self.joined => "joined".to_owned(),
            (Kind::Exact, Some(scheme)) => scheme.word().to_owned(),
            (kind, Some(scheme)) => format!("{}-{}", kind.word(), scheme.word()),
            (kind, None) => kind.word().to_owned(),
        }
    }
}
