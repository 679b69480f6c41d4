//! Conditions on readings, and the bins of histograms.

use serde::{Deserialize, Serialize};

use super::{LinearModel, Reading};

/// A comparison of a reading with a limit.
///
/// ```
/// use sotto_owner::question::Comparison;
///
/// assert!(Comparison::AtMost.holds(80.0, 80.0) && !Comparison::Less.holds(80.0, 80.0));
/// assert_eq!(Comparison::AtLeast.symbol(), ">=");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Comparison {
    /// `>`.
    Greater,
    /// `>=`.
    AtLeast,
    /// `<`.
    Less,
    /// `<=`.
    AtMost,
}

impl Comparison {
    /// All comparisons.
    pub const ALL: [Self; 4] = [Self::Greater, Self::AtLeast, Self::Less, Self::AtMost];

    /// Returns the text, such as `>=`.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        match self {
            Self::Greater => ">",
            Self::AtLeast => ">=",
            Self::Less => "<",
            Self::AtMost => "<=",
        }
    }

    /// Returns the comparison that holds where this one does not.
    #[must_use]
    pub const fn negated(self) -> Self {
        match self {
            Self::Greater => Self::AtMost,
            Self::AtLeast => Self::Less,
            Self::Less => Self::AtLeast,
            Self::AtMost => Self::Greater,
        }
    }

    /// Returns true if `value` is on this side of `limit`.
    #[must_use]
    pub fn holds(self, value: f64, limit: f64) -> bool {
        match self {
            Self::Greater => value > limit,
            Self::AtLeast => value >= limit,
            Self::Less => value < limit,
            Self::AtMost => value <= limit,
        }
    }
}

/// A condition on each reading of a channel, or on a value made of readings: `temperature > 80`,
/// `linear(model.json) > 80`.
///
/// ```
/// use sotto_owner::question::{Call, Comparison, Condition, Question, Reading};
///
/// let hot = Condition::new("temperature", Comparison::Greater, 80.0);
/// let question = Question::select(Call::CountWhere(hot)).build()?;
/// assert_eq!(question, "count(temperature > 80)".parse()?);
/// let strong = Condition::new(Reading::polynomial("wind", [0.0, 0.0, 0.0, 0.6]), Comparison::AtLeast, 500.0);
/// assert_eq!(strong.to_string(), "polynomial(wind, [0, 0, 0, 0.6]) >= 500");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Condition {
    /// The value that is compared.
    #[serde(flatten)]
    pub reading: Reading,
    /// The comparison.
    pub comparison: Comparison,
    /// The limit, in the unit of that value. Finite.
    pub limit: f64,
}

/// A [`Condition`] in its JSON form: `{"channel": "x", "comparison": "greater", "limit": 80}`, with `polynomial` or `linear` in
/// the place of `channel`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    channel: Option<String>,
    polynomial: Option<Polynomial>,
    linear: Option<Linear>,
    comparison: Comparison,
    limit: f64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Polynomial {
    channel: String,
    coefficients: Vec<f64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Linear {
    file: String,
    #[serde(default)]
    model: Option<LinearModel>,
}

impl TryFrom<Unchecked> for Condition {
    type Error = &'static str;

    fn try_from(from: Unchecked) -> Result<Self, Self::Error> {
        let Unchecked { channel, polynomial, linear, comparison, limit } = from;
        let reading = match (channel, polynomial, linear) {
            (Some(channel), None, None) => Reading::Channel(channel),
            (None, Some(Polynomial { channel, coefficients }), None) => {
                Reading::Polynomial { channel, coefficients }
            }
            (None, None, Some(Linear { file, model })) => Reading::Linear { file, model },
            _ => return Err("a condition compares one of channel, polynomial and linear"),
        };
        Ok(Self { reading, comparison, limit })
    }
}

impl Condition {
    /// Returns the condition `reading comparison limit`.
    #[must_use]
    pub fn new(reading: impl Into<Reading>, comparison: Comparison, limit: f64) -> Self {
        Self { reading: reading.into(), comparison, limit }
    }
}

/// The bins of a histogram.
///
/// ```
/// use sotto_owner::question::{Bins, Call, Question};
///
/// let frost = Call::histogram("temperature", vec![-20.0, 0.0, 120.0]);
/// let question = Question::select(Call::histogram("temperature", 16)).and(frost).build()?;
/// let text = "histogram(temperature, 16), histogram(temperature, [-20, 0, 120])";
/// assert_eq!(question.to_string(), text);
/// assert_eq!(Bins::from(16), Bins::Equal(16));
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bins {
    /// This many bins of equal width over the channel's declared range, in [`BINS`](super::limits::BINS).
    Equal(u32),
    /// The ends of the bins in ascending order. A reading at an end belongs to the bin above it, at the last end to the
    /// last bin; readings outside are in no bin.
    Edges(Vec<f64>),
}

impl From<u32> for Bins {
    fn from(bins: u32) -> Self {
        Self::Equal(bins)
    }
}

impl From<Vec<f64>> for Bins {
    fn from(edges: Vec<f64>) -> Self {
        Self::Edges(edges)
    }
}
