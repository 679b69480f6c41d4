//! Calls: statistics of channels.

use serde::{Deserialize, Serialize};

use super::{Bins, Condition, Duration, Expression, LinearModel, Selected};

/// The value that a statistic takes from each reading.
///
/// ```
/// use sotto_owner::question::{Call, Question, Reading};
///
/// // The power of a fan from its speed, at each reading.
/// let power = Reading::polynomial("speed", [0.5, 0.0, 2.0]);
/// assert_eq!(power.channels(), ["speed"]);
/// let question = Question::select(Call::mean(power)).build()?;
/// assert_eq!(question, "mean(polynomial(speed, [0.5, 0, 2]))".parse()?);
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Reading {
    /// The reading of a channel.
    Channel(String),
    /// A polynomial of a channel: `polynomial(x, [c0, c1, c2])` is c0 + c1·x + c2·x².
    Polynomial {
        /// The channel.
        channel: String,
        /// Two to nine finite coefficients, the constant term first.
        coefficients: Vec<f64>,
    },
    /// A linear model of several channels: `linear(model.json)`.
    Linear {
        /// The file's name, as written. This crate does not open it.
        file: String,
        /// The model, set by [`Question::attach_model`](super::Question::attach_model). Parsed text never has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<LinearModel>,
    },
}

impl Reading {
    /// Returns a polynomial of `channel`, the constant term first.
    #[must_use]
    pub fn polynomial(channel: impl Into<String>, coefficients: impl Into<Vec<f64>>) -> Self {
        Self::Polynomial { channel: channel.into(), coefficients: coefficients.into() }
    }

    /// Returns the linear model in `file`, not read yet.
    #[must_use]
    pub fn linear(file: impl Into<String>) -> Self {
        Self::Linear { file: file.into(), model: None }
    }

    /// Returns the channels. A linear model has none until it is attached.
    #[must_use]
    pub fn channels(&self) -> Vec<&str> {
        match self {
            Self::Channel(channel) | Self::Polynomial { channel, .. } => vec![channel],
            Self::Linear { model, .. } => {
                model.iter().flat_map(|model| model.coefficients.keys().map(String::as_str)).collect()
            }
        }
    }
}

impl From<&str> for Reading {
    fn from(channel: &str) -> Self {
        Self::Channel(channel.into())
    }
}

impl From<String> for Reading {
    fn from(channel: String) -> Self {
        Self::Channel(channel)
    }
}

/// Weights of [`Call::WeightedSum`].
///
/// ```
/// use sotto_owner::question::{Call, Question, Weights};
///
/// let recent = Weights::HalfLife("6h".parse()?);
/// let question = Question::select(Call::weighted_sum("rain", recent)).build()?;
/// assert_eq!(question.to_string(), "weighted_sum(rain, half_life 6h)");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Weights {
    /// One weight for each of as many equal parts of the group, the first part first: 1 to
    /// [`WEIGHTS`](super::limits::WEIGHTS) finite weights, not all 0.
    Each(Vec<f64>),
    /// A weight that halves for every such duration before the group's last reading.
    HalfLife(Duration),
}

impl From<Vec<f64>> for Weights {
    fn from(weights: Vec<f64>) -> Self {
        Self::Each(weights)
    }
}

impl From<Duration> for Weights {
    fn from(half_life: Duration) -> Self {
        Self::HalfLife(half_life)
    }
}

/// One statistic.
///
/// ```
/// use sotto_owner::question::{Call, Question};
///
/// let question = Question::parse("regression(power ~ speed), mean(speed)")?;
/// let calls: Vec<&Call> = question.calls().collect();
/// assert_eq!(calls, [&Call::regression("power", "speed"), &Call::mean("speed")]);
/// assert!(calls[0].is_vector(), "slope and intercept");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Call {
    /// `count(x)`: number of readings that are present.
    Count(Reading),
    /// `sum(x)`.
    Sum(Reading),
    /// `mean(x)`, also read as `avg`.
    Mean(Reading),
    /// `variance(x)`, also read as `var`.
    Variance(String),
    /// `stddev(x)`, also read as `std`.
    Stddev(String),
    /// `rms(x)`: root of the mean square.
    Rms(String),
    /// `energy(x)`: the sum times the period in hours.
    Energy(String),
    /// `covariance(x, y)`.
    Covariance {
        /// First channel.
        x: String,
        /// Second channel.
        y: String,
    },
    /// `correlation(x, y)`.
    Correlation {
        /// First channel.
        x: String,
        /// Second channel.
        y: String,
    },
    /// `regression(y ~ x)`: slope and intercept of the least-squares line.
    Regression {
        /// The dependent channel.
        y: String,
        /// The independent channel.
        x: String,
    },
    /// `weighted_sum(x, [w0, w1])` or `weighted_sum(x, half_life 6h)`.
    WeightedSum {
        /// The channel.
        channel: String,
        /// The weights.
        weights: Weights,
    },
    /// `moving_average(x, 7)`: mean over the last groups of the `by` clause.
    MovingAverage {
        /// The channel.
        channel: String,
        /// Number of groups, in [`MOVING_GROUPS`](super::limits::MOVING_GROUPS).
        groups: u32,
    },
    /// A polynomial or a linear model without a statistic: its value at each reading. Never a bare channel.
    Values(Reading),
    /// `count(x > 80)`, `count(linear(model.json) > 80)`: number of readings for which the condition holds.
    CountWhere(Condition),
    /// `time(x > 80)`: that number times the period in hours.
    TimeWhere(Condition),
    /// `min(x)`: the smallest reading.
    Min(String),
    /// `max(x)`: the largest reading.
    Max(String),
    /// `quantile(x, 0.95)`, and `median(x)` for 0.5: the smallest reading that at least this share of the readings does
    /// not exceed.
    Quantile {
        /// The channel.
        channel: String,
        /// The share, 0 to 1.
        share: f64,
    },
    /// `histogram(x, 16)` or `histogram(x, [0, 50, 100])`: number of readings in each bin.
    Histogram {
        /// The channel.
        channel: String,
        /// The bins.
        bins: Bins,
    },
}

/// Constructors of calls with one channel.
macro_rules! of_one_channel {
    ($($make:ident $variant:ident $word:literal,)*) => {
        impl Call {
            $(
                #[doc = concat!("`", $word, "(x)`.")]
                #[must_use]
                pub fn $make(channel: impl Into<String>) -> Self {
                    Self::$variant(channel.into())
                }
            )*
        }
    };
}

of_one_channel! {
    variance Variance "variance",
    stddev Stddev "stddev",
    rms Rms "rms",
    energy Energy "energy",
    min Min "min",
    max Max "max",
}

impl Call {
    /// Returns the call `count(x)`.
    #[must_use]
    pub fn count(reading: impl Into<Reading>) -> Self {
        Self::Count(reading.into())
    }

    /// Returns the call `sum(x)`.
    #[must_use]
    pub fn sum(reading: impl Into<Reading>) -> Self {
        Self::Sum(reading.into())
    }

    /// Returns the call `mean(x)`.
    #[must_use]
    pub fn mean(reading: impl Into<Reading>) -> Self {
        Self::Mean(reading.into())
    }

    /// Returns the call `covariance(x, y)`.
    #[must_use]
    pub fn covariance(x: impl Into<String>, y: impl Into<String>) -> Self {
        Self::Covariance { x: x.into(), y: y.into() }
    }

    /// Returns the call `correlation(x, y)`.
    #[must_use]
    pub fn correlation(x: impl Into<String>, y: impl Into<String>) -> Self {
        Self::Correlation { x: x.into(), y: y.into() }
    }

    /// Returns the call `regression(y ~ x)`.
    #[must_use]
    pub fn regression(y: impl Into<String>, x: impl Into<String>) -> Self {
        Self::Regression { y: y.into(), x: x.into() }
    }

    /// Returns the call `weighted_sum(x, [w0, w1])`, or one with a half-life if `weights` is a [`Duration`].
    #[must_use]
    pub fn weighted_sum(channel: impl Into<String>, weights: impl Into<Weights>) -> Self {
        Self::WeightedSum { channel: channel.into(), weights: weights.into() }
    }

    /// Returns the call `moving_average(x, groups)`.
    #[must_use]
    pub fn moving_average(channel: impl Into<String>, groups: u32) -> Self {
        Self::MovingAverage { channel: channel.into(), groups }
    }

    /// Returns the call `quantile(x, share)`.
    #[must_use]
    pub fn quantile(channel: impl Into<String>, share: f64) -> Self {
        Self::Quantile { channel: channel.into(), share }
    }

    /// Returns the call `histogram(x, bins)`, of equal bins or of given edges.
    #[must_use]
    pub fn histogram(channel: impl Into<String>, bins: impl Into<Bins>) -> Self {
        Self::Histogram { channel: channel.into(), bins: bins.into() }
    }

    /// Returns the call of a polynomial or a linear model at each reading.
    #[must_use]
    pub fn values(reading: Reading) -> Self {
        Self::Values(reading)
    }

    /// Names the result, like `as`.
    #[must_use]
    pub fn named(self, name: impl Into<String>) -> Selected {
        Expression::Call(self).named(name)
    }

    /// Returns true if the answer has several values. Such a call stands alone, outside arithmetic.
    #[must_use]
    pub const fn is_vector(&self) -> bool {
        matches!(self, Self::Values(_) | Self::Regression { .. } | Self::Histogram { .. })
    }

    /// Returns the channels in the order of the text.
    #[must_use]
    pub fn channels(&self) -> Vec<&str> {
        match self {
            Self::Variance(channel)
            | Self::Stddev(channel)
            | Self::Rms(channel)
            | Self::Energy(channel)
            | Self::Min(channel)
            | Self::Max(channel)
            | Self::WeightedSum { channel, .. }
            | Self::MovingAverage { channel, .. }
            | Self::Quantile { channel, .. }
            | Self::Histogram { channel, .. } => vec![channel],
            Self::Covariance { x, y } | Self::Correlation { x, y } => vec![x, y],
            Self::Regression { y, x } => vec![y, x],
            Self::Count(reading)
            | Self::Sum(reading)
            | Self::Mean(reading)
            | Self::Values(reading)
            | Self::CountWhere(Condition { reading, .. })
            | Self::TimeWhere(Condition { reading, .. }) => reading.channels(),
        }
    }

    /// Returns the reading of `count`, `sum`, `mean` and [`Call::Values`], and the one that a condition compares; None
    /// for other calls.
    #[must_use]
    pub const fn reading(&self) -> Option<&Reading> {
        match self {
            Self::Count(reading)
            | Self::Sum(reading)
            | Self::Mean(reading)
            | Self::Values(reading)
            | Self::CountWhere(Condition { reading, .. })
            | Self::TimeWhere(Condition { reading, .. }) => Some(reading),
            _ => None,
        }
    }

    /// Returns the condition of `count` and `time`.
    #[must_use]
    pub const fn condition(&self) -> Option<&Condition> {
        match self {
            Self::CountWhere(condition) | Self::TimeWhere(condition) => Some(condition),
            _ => None,
        }
    }

    /// Returns true if the call compares readings of a channel: its answer follows from a histogram.
    #[must_use]
    pub const fn compares(&self) -> bool {
        match self {
            Self::CountWhere(Condition { reading, .. }) | Self::TimeWhere(Condition { reading, .. }) => {
                matches!(reading, Reading::Channel(_))
            }
            Self::Min(_) | Self::Max(_) | Self::Quantile { .. } | Self::Histogram { .. } => true,
            _ => false,
        }
    }

    pub(super) fn model_slot(&mut self) -> Option<(&str, &mut Option<LinearModel>)> {
        match self {
            Self::Count(reading)
            | Self::Sum(reading)
            | Self::Mean(reading)
            | Self::Values(reading)
            | Self::CountWhere(Condition { reading, .. })
            | Self::TimeWhere(Condition { reading, .. }) => match reading {
                Reading::Linear { file, model } => Some((file, model)),
                _ => None,
            },
            _ => None,
        }
    }
}
