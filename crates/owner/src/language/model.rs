//! Linear models: an intercept and a coefficient for each channel.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use sotto_program::text;

use super::limits;

/// A linear model: `intercept` + Σ coefficient · channel.
///
/// ```
/// use sotto_owner::question::{LinearModel, Question};
///
/// let model = LinearModel::parse(br#"{"intercept": 1.0, "coefficients": {"wind": 0.5, "sun": 2}}"#)?;
/// assert_eq!(model.coefficients["sun"], 2.0);
/// let mut question = Question::parse("mean(linear(yield.json)) by day")?;
/// assert_eq!(question.attach_model("yield.json", &model)?, 1);
/// assert!(question.channels().contains("wind"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Unchecked")]
pub struct LinearModel {
    /// The constant term.
    pub intercept: f64,
    /// The coefficient of each channel, by the channel's name.
    pub coefficients: BTreeMap<String, f64>,
}

/// A [`LinearModel`] in its JSON form, not yet checked.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Unchecked {
    intercept: f64,
    #[serde(deserialize_with = "distinct")]
    coefficients: BTreeMap<String, f64>,
}

/// The reason why a linear model is refused.
///
/// ```
/// use sotto_owner::question::{LinearModel, ModelError};
///
/// let refused = LinearModel::parse(br#"{"intercept": 1.0, "coefficients": {}}"#);
/// assert_eq!(refused, Err(ModelError::Empty));
/// ```
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum ModelError {
    /// The file is longer than the limit.
    #[error("the linear model has {bytes} bytes; at most {} are read", limits::MODEL_BYTES)]
    TooLong {
        /// Bytes of the file.
        bytes: usize,
    },
    /// The file is not JSON, or has another structure.
    #[error(
        "the linear model is refused: {reason}; expected \
         {{\"intercept\": 1.0, \"coefficients\": {{\"temperature\": 0.5}}}}"
    )]
    Shape {
        /// The parser's message, with line and column.
        reason: String,
    },
    /// The model has no coefficients.
    #[error("the linear model has no coefficients: give at least one channel and its coefficient")]
    Empty,
    /// More coefficients than the limit.
    #[error("the linear model has {count} coefficients; at most {} are allowed", limits::MODEL_COEFFICIENTS)]
    TooMany {
        /// Number of coefficients.
        count: usize,
    },
    /// A channel's name is empty, too long, or has a control character.
    #[error(
        "the linear model has the channel {name:?}: use 1 to {} bytes, no control characters",
        limits::NAME_BYTES
    )]
    Name {
        /// The start of the name, escaped.
        name: String,
    },
    /// A number is infinite or NaN.
    #[error("the linear model's {number} is not a finite number")]
    NotFinite {
        /// `intercept`, or `coefficient of` and the channel.
        number: String,
    },
}

impl LinearModel {
    /// Reads a model from JSON: `{"intercept": 1.0, "coefficients": {"temperature": 0.5}}`.
    ///
    /// # Errors
    /// [`ModelError`] if there are too many bytes, the JSON has another structure, or [`LinearModel::check`] fails.
    pub fn parse(json: &[u8]) -> Result<Self, ModelError> {
        if json.len() > limits::MODEL_BYTES {
            return Err(ModelError::TooLong { bytes: json.len() });
        }
        let model: Unchecked = serde_json::from_slice(json)
            .map_err(|refused| ModelError::Shape { reason: text::excerpt_of(&refused.to_string(), 200) })?;
        model.try_into()
    }

    /// Checks the number of coefficients (1 to [`limits::MODEL_COEFFICIENTS`]), the names, and that all numbers are
    /// finite.
    ///
    /// # Errors
    /// [`ModelError`] names the first fault.
    pub fn check(&self) -> Result<(), ModelError> {
        let count = self.coefficients.len();
        if count == 0 {
            return Err(ModelError::Empty);
        }
        if count > limits::MODEL_COEFFICIENTS {
            return Err(ModelError::TooMany { count });
        }
        if !self.intercept.is_finite() {
            return Err(ModelError::NotFinite { number: "intercept".into() });
        }
        for (channel, coefficient) in &self.coefficients {
            if !(1..=limits::NAME_BYTES).contains(&channel.len()) || channel.chars().any(char::is_control) {
                return Err(ModelError::Name { name: text::excerpt(channel) });
            }
            if !coefficient.is_finite() {
                return Err(ModelError::NotFinite { number: format!("coefficient of {channel}") });
            }
        }
        Ok(())
    }
}

impl TryFrom<Unchecked> for LinearModel {
    type Error = ModelError;

    fn try_from(Unchecked { intercept, coefficients }: Unchecked) -> Result<Self, ModelError> {
        let model = Self { intercept, coefficients };
        model.check()?;
        Ok(model)
    }
}

/// Reads a map and refuses a repeated key, of which serde would silently keep the last.
fn distinct<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, f64>, D::Error> {
    struct Distinct;

    impl<'de> Visitor<'de> for Distinct {
        type Value = BTreeMap<String, f64>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("an object of channels and their coefficients")
        }

        fn visit_map<M: MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
            let mut read = BTreeMap::new();
            while let Some((channel, coefficient)) = map.next_entry::<String, f64>()? {
                let again = text::excerpt(&channel);
                if read.insert(channel, coefficient).is_some() {
                    return Err(M::Error::custom(format_args!("channel {again} comes twice")));
                }
            }
            Ok(read)
        }
    }

    from.deserialize_map(Distinct)
}
