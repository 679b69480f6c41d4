//! Conditions on readings: on one side of a limit, or between two.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::written::{Name, Number};
use super::{Comparison, LinearModel, Measurand};

/// A condition on each reading of a channel, or on a value made of readings: `temperature > 80`,
/// `linear(model.json) > 80`, `60 <= temperature <= 79`.
///
/// ```
/// use sotto_owner::question::{Call, Comparison, Condition, Question, Measurand};
///
/// let hot = Condition::new("temperature", Comparison::Greater, 80.0);
/// let question = Question::select(Call::count_where(hot)).build()?;
/// assert_eq!(question, "count(temperature > 80)".parse()?);
/// let strong = Condition::new(Measurand::polynomial("wind", [0.0, 0.0, 0.0, 0.6]), Comparison::AtLeast, 500.0);
/// assert_eq!(strong.to_string(), "polynomial(wind, [0, 0, 0, 0.6]) >= 500");
/// let warm = Condition::new("temperature", Comparison::AtMost, 79.0).and_from(Comparison::AtLeast, 60.0);
/// assert_eq!(warm.to_string(), "60 <= temperature <= 79");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct Condition {
    /// The value that is compared.
    #[serde(flatten)]
    pub reading: Measurand,
    /// Stands between value and limit.
    pub comparison: Comparison,
    /// The limit, in the unit of that value. Finite. The number of the state, if that is named.
    pub limit: f64,
    /// The name of a state of the channel, as in `door = open`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<String>,
    /// The lower end of a condition between two numbers. Its comparison is then `<` or `<=`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<LowerEnd>,
}

/// The lower end of a condition between two numbers: `60 <=` is "at least 60".
///
/// Example: [`Condition`]
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LowerEnd {
    /// Greater or at least.
    pub comparison: Comparison,
    /// The smaller limit.
    pub limit: f64,
}

/// The number of a state follows from its name.
impl PartialEq for Condition {
    fn eq(&self, other: &Self) -> bool {
        let same = self.state.is_some() || self.limit == other.limit;
        same && (&self.reading, self.comparison, &self.state, self.from)
            == (&other.reading, other.comparison, &other.state, other.from)
    }
}

/// A [`Condition`] in its JSON form: `{"channel": "x", "comparison": "greater", "limit": 80}`, with `polynomial` or `linear` in
/// the place of `channel`. Between two numbers it has `"from": {"comparison": "at_least", "limit": 60}`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    channel: Option<String>,
    polynomial: Option<Polynomial>,
    linear: Option<Linear>,
    comparison: Comparison,
    limit: f64,
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    from: Option<LowerEnd>,
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
        let Unchecked { channel, polynomial, linear, comparison, limit, state, from } = from;
        let reading = match (channel, polynomial, linear) {
            (Some(channel), None, None) => Measurand::Channel(channel),
            (None, Some(Polynomial { channel, coefficients }), None) => {
                Measurand::Polynomial { channel, coefficients }
            }
            (None, None, Some(Linear { file, model })) => Measurand::Linear { file, model },
            _ => return Err("a condition compares one of channel, polynomial and linear"),
        };
        Ok(Self { reading, comparison, limit, state, from })
    }
}

impl Condition {
    /// Takes the parts as they are: the limit is not checked.
    #[must_use]
    pub fn new(reading: impl Into<Measurand>, comparison: Comparison, limit: f64) -> Self {
        Self { reading: reading.into(), comparison, limit, state: None, from: None }
    }

    /// Returns the condition with a lower end, for a value between two numbers.
    #[must_use]
    pub fn and_from(self, comparison: Comparison, limit: f64) -> Self {
        Self { from: Some(LowerEnd { comparison, limit }), ..self }
    }

    /// Iterates over the comparisons that must hold, each with its limit: one, or two for a condition between two numbers.
    pub(crate) fn sides(&self) -> impl Iterator<Item = (Comparison, f64)> {
        let from = self.from.map(|LowerEnd { comparison, limit }| (comparison, limit));
        from.into_iter().chain([(self.comparison, self.limit)])
    }

    /// Returns whether the condition holds for all values from `low` to `high`, or for none; None if it may for some.
    pub(crate) fn decides(&self, low: f64, high: f64) -> Option<bool> {
        all(self.sides().map(|(comparison, limit)| comparison.decides(low, high, limit)))
    }
}

/// Returns true if all of these hold, false if one does not; None if that is not known.
pub(crate) fn all(sides: impl IntoIterator<Item = Option<bool>>) -> Option<bool> {
    let mut all = Some(true);
    for side in sides {
        match side {
            Some(true) => {}
            Some(false) => return Some(false),
            None => all = None,
        }
    }
    all
}

impl Display for Condition {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        if let Some(LowerEnd { comparison, limit }) = self.from {
            write!(out, "{} {} ", Number(limit), comparison.turned().symbol())?;
        }
        write!(out, "{} {} ", self.reading, self.comparison.symbol())?;
        match &self.state {
            Some(state) => write!(out, "{}", Name(state)),
            None => write!(out, "{}", Number(self.limit)),
        }
    }
}
