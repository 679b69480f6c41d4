//! Readings: the values that functions take.

use std::fmt::{self, Display, Formatter};

use serde::{Deserialize, Serialize};

use super::LinearModel;
use super::written::{File, Name, Numbers};

/// The value that a function takes from each reading.
///
/// ```
/// use sotto_owner::question::{Call, Question, Measurand};
///
/// // The power of a fan from its speed, at each reading.
/// let power = Measurand::polynomial("speed", [0.5, 0.0, 2.0]);
/// assert_eq!(power.channels(), ["speed"]);
/// let question = Question::select(Call::mean(power)).build()?;
/// assert_eq!(question, "mean(polynomial(speed, [0.5, 0, 2]))".parse()?);
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Measurand {
    /// The value that the channel measured.
    Channel(String),
    /// A polynomial of a channel: `polynomial(x, [c0, c1, c2])` is c0 + c1·x + c2·x².
    Polynomial {
        /// The channel's name.
        channel: String,
        /// Two to nine finite coefficients, the constant term first.
        coefficients: Vec<f64>,
    },
    /// A linear model of several channels: `linear(model.json)`.
    Linear {
        /// The file's name, as written. This crate does not open it.
        file: String,
        /// The model, set by [`Question::attach_model`](crate::question::Question::attach_model). Parsed text never has one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        model: Option<LinearModel>,
    },
}

impl Measurand {
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

impl From<&str> for Measurand {
    fn from(channel: &str) -> Self {
        Self::Channel(channel.into())
    }
}

impl From<String> for Measurand {
    fn from(channel: String) -> Self {
        Self::Channel(channel)
    }
}

impl Display for Measurand {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Channel(channel) => Name(channel).fmt(out),
            Self::Polynomial { channel, coefficients } => {
                write!(out, "polynomial({}, {})", Name(channel), Numbers(coefficients))
            }
            Self::Linear { file, .. } => write!(out, "linear({})", File(file)),
        }
    }
}
