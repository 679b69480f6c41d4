//! The intermediate results that calls need.

use super::{BinsNeeded, Taken, WindowQuantity};
use crate::language::{Condition, Measurand, OfDevice, Weights};

/// An intermediate result that a call is computed from.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Need {
    /// Count, mean and energy of a channel's readings; with `squares` their spread too.
    Moments { channel: String, squares: bool },
    /// Moments of two channels over the ticks at which both have a reading.
    Pair(ChannelPair),
    /// A weighted sum of a channel's readings.
    Weighted { channel: String, weights: Weights },
    /// The distribution of a channel's readings over bins.
    Distribution {
        channel: String,
        bins: BinsNeeded,
        /// True if a declared precision sets the number of bins.
        to_precision: bool,
    },
    /// Quantities that a channel's windows hold, window by window.
    Windows { channel: String, quantities: Vec<WindowQuantity> },
    /// The readings of a channel with their times, which come down: of all devices, or of one.
    Readings { channel: String, taken: Taken, device: Option<String> },
    /// Number and sum of the values of a polynomial or a model; with `each` every value.
    Reals { reading: Measurand, each: bool },
    /// The readings for which a condition on a polynomial or a model holds.
    Decided(Condition),
}

impl Need {
    /// Returns the moments of a channel's readings.
    pub(crate) fn moments(channel: &str) -> Self {
        Self::Moments { channel: channel.to_owned(), squares: false }
    }

    /// Returns the moments of a channel's readings, with their spread.
    pub(crate) fn spread(channel: &str) -> Self {
        Self::Moments { channel: channel.to_owned(), squares: true }
    }

    /// Returns the moments of two channels.
    pub(crate) fn pair(x: &str, y: &str) -> Self {
        Self::Pair(ChannelPair::of(x, y))
    }

    /// Returns a channel's distribution over the usual bins, or those of a declared precision.
    pub(crate) fn distribution(channel: &str) -> Self {
        Self::Distribution { channel: channel.to_owned(), bins: BinsNeeded::usual(), to_precision: true }
    }

    /// Returns a channel's distribution over these bins.
    pub(crate) fn counts(channel: &str, bins: BinsNeeded) -> Self {
        Self::Distribution { channel: channel.to_owned(), bins, to_precision: false }
    }

    /// Returns quantities that a channel's windows hold.
    pub(crate) fn windows(channel: &str, quantities: &[WindowQuantity]) -> Self {
        Self::Windows { channel: channel.to_owned(), quantities: quantities.to_vec() }
    }

    /// Returns all readings of a channel.
    pub(crate) fn readings(channel: &str) -> Self {
        Self::Readings { channel: channel.to_owned(), taken: Taken::All, device: None }
    }

    /// Returns all readings of a channel of one device.
    pub(crate) fn readings_of(of: &OfDevice) -> Self {
        let (channel, device) = (of.channel.clone(), Some(of.device.clone()));
        Self::Readings { channel, taken: Taken::All, device }
    }

    /// Returns the first or the last reading of a channel.
    pub(crate) fn one_reading(channel: &str, taken: Taken) -> Self {
        Self::Readings { channel: channel.to_owned(), taken, device: None }
    }

    /// Returns count and sum of a channel's readings, or of the values of a polynomial or a model.
    pub(crate) fn sums(reading: &Measurand) -> Self {
        match reading {
            Measurand::Channel(channel) => Self::moments(channel),
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => {
                Self::Reals { reading: reading.clone(), each: false }
            }
        }
    }

    /// Returns the number of readings for which a condition holds.
    pub(crate) fn condition(condition: &Condition) -> Self {
        match &condition.reading {
            Measurand::Channel(channel) => {
                let to = (condition.comparison, condition.limit);
                let bins = match condition.from {
                    Some(from) => BinsNeeded::Between([(from.comparison, from.limit), to]),
                    None => BinsNeeded::Limit(to.0, to.1),
                };
                Self::counts(channel, bins)
            }
            Measurand::Polynomial { .. } | Measurand::Linear { .. } => Self::Decided(condition.clone()),
        }
    }

    /// Returns true if it follows from reals, which carry noise.
    pub(crate) fn is_real(&self) -> bool {
        self.reading().is_some()
    }

    /// Returns the polynomial or the model that it is about; None if it is about readings of channels.
    pub(crate) fn reading(&self) -> Option<&Measurand> {
        match self {
            Self::Moments { .. }
            | Self::Pair(_)
            | Self::Weighted { .. }
            | Self::Distribution { .. }
            | Self::Windows { .. }
            | Self::Readings { .. } => None,
            Self::Reals { reading, .. } => Some(reading),
            Self::Decided(condition) => Some(&condition.reading),
        }
    }

    /// Returns the condition on a polynomial or a model; None if there is none.
    pub(crate) fn decides(&self) -> Option<&Condition> {
        match self {
            Self::Decided(condition) => Some(condition),
            Self::Moments { .. }
            | Self::Pair(_)
            | Self::Weighted { .. }
            | Self::Distribution { .. }
            | Self::Windows { .. }
            | Self::Readings { .. }
            | Self::Reals { .. } => None,
        }
    }

    /// Returns the channel whose number of bins follows from a declared precision; None if there is none.
    pub(crate) fn to_precision(&self) -> Option<&String> {
        match self {
            Self::Distribution { channel, to_precision, .. } => Some(channel).filter(|_| *to_precision),
            Self::Moments { .. }
            | Self::Pair(_)
            | Self::Weighted { .. }
            | Self::Windows { .. }
            | Self::Readings { .. }
            | Self::Reals { .. }
            | Self::Decided(_) => None,
        }
    }

    /// Returns the channel if it is about how readings follow each other, over the ends of windows too.
    pub(crate) fn follows(&self) -> Option<&String> {
        match self {
            Self::Windows { channel, quantities } => {
                quantities.contains(&WindowQuantity::First).then_some(channel)
            }
            Self::Moments { .. }
            | Self::Pair(_)
            | Self::Weighted { .. }
            | Self::Distribution { .. }
            | Self::Readings { .. }
            | Self::Reals { .. }
            | Self::Decided(_) => None,
        }
    }

    /// Returns true if it is about quantities or bins that windows may hold.
    pub(crate) fn is_of_windows(&self) -> bool {
        match self {
            Self::Windows { .. } | Self::Distribution { .. } => true,
            Self::Moments { .. }
            | Self::Pair(_)
            | Self::Weighted { .. }
            | Self::Readings { .. }
            | Self::Reals { .. }
            | Self::Decided(_) => false,
        }
    }

    /// Returns true if it is a weighted sum, which follows the ticks of a group.
    pub(crate) fn is_weighted(&self) -> bool {
        match self {
            Self::Weighted { .. } => true,
            Self::Moments { .. }
            | Self::Pair(_)
            | Self::Distribution { .. }
            | Self::Windows { .. }
            | Self::Readings { .. }
            | Self::Reals { .. }
            | Self::Decided(_) => false,
        }
    }

    /// Returns true if it is a distribution of this channel.
    pub(crate) fn is_distribution_of(&self, name: &str) -> bool {
        matches!(self, Self::Distribution { channel, .. } if channel == name)
    }

    /// Returns the channel and the bins of the distribution that it follows from, in place of quantities that windows hold;
    /// None if it is not about how readings compare.
    pub(crate) fn compares(&self) -> Option<(&String, BinsNeeded)> {
        match self {
            Self::Distribution { channel, bins, .. } => Some((channel, bins.clone())),
            Self::Windows { channel, quantities } => {
                quantities.iter().all(|quantity| quantity.compares()).then(|| (channel, BinsNeeded::usual()))
            }
            Self::Moments { .. }
            | Self::Pair(_)
            | Self::Weighted { .. }
            | Self::Readings { .. }
            | Self::Reals { .. }
            | Self::Decided(_) => None,
        }
    }
}

/// Two channels, the smaller name first.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ChannelPair {
    pub(crate) first: String,
    pub(crate) second: String,
}

impl ChannelPair {
    pub(crate) fn of(x: &str, y: &str) -> Self {
        let (first, second) = if x <= y { (x, y) } else { (y, x) };
        Self { first: first.to_owned(), second: second.to_owned() }
    }

    /// Returns true if these are the channels, in this order.
    pub(crate) fn is(&self, x: &str, y: &str) -> bool {
        self.first == x && self.second == y
    }
}

/// The number of a need of a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct NeedId(usize);

/// The needs of a question, each once.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Needed(Vec<Need>);

impl Needed {
    /// Returns the numbers of these needs, and adds those that are new.
    pub(crate) fn numbers(&mut self, needs: Vec<Need>) -> Vec<NeedId> {
        needs.into_iter().map(|need| self.number(need)).collect()
    }

    /// Iterates over the needs with their numbers.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (NeedId, &Need)> {
        self.0.iter().enumerate().map(|(at, need)| (NeedId(at), need))
    }

    fn number(&mut self, need: Need) -> NeedId {
        let known = self.0.iter().position(|known| *known == need);
        NeedId(known.unwrap_or_else(|| {
            self.0.push(need);
            self.0.len() - 1
        }))
    }
}
