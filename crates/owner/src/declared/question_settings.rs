//! A declared question in `sotto.toml`: its text, precision, scheme and place of comparisons.

use std::fmt::{self, Formatter};

use serde::de::value::MapAccessDeserializer;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::question::ExactScheme;

/// A declared question: its text alone, or a table with more requirements.
///
/// Example: [`Settings`](super::settings::Settings)
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct QuestionSettings {
    /// The question in the language, as it was declared.
    pub text: String,
    /// The largest error that noise may add to a value of a polynomial or a model, in the value's unit. None: a
    /// ten-thousandth of the size of its coefficients. Exact results do not need it: their only error is the channel's
    /// resolution. Where the cloud compares: the largest distance from a limit at which a value may be undecided.
    pub precision: Option<f64>,
    /// The place where polynomials and models are compared with limits.
    pub compare: Compare,
    /// The scheme under which the cloud evaluates exact results. None: sums with tags where devices send them.
    pub scheme: Option<ExactScheme>,
}

impl From<&str> for QuestionSettings {
    /// Declares a text without more requirements.
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), precision: None, compare: Compare::Owner, scheme: None }
    }
}

/// The place where the values of polynomials and models are compared with limits.
///
/// ```
/// use sotto_owner::settings::{Compare, Settings};
///
/// let settings = Settings::parse(r#"
///     version = 1
///     cloud = { url = "http://127.0.0.1:7410" }
///     [channels]
///     wind = { unit = "m/s", range = [0, 25], resolution = 0.1, every = "5m" }
///     [questions]
///     strong = { text = "count(polynomial(wind, [0, 0, 0, 0.6]) > 500)", compare = "cloud" }
/// "#)?;
/// assert_eq!(settings.questions["strong"].compare, Compare::Cloud);
/// # Ok::<(), sotto_owner::settings::SettingsError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Compare {
    /// The owner decrypts the values and compares them.
    #[default]
    Owner,
    /// The cloud compares ciphertexts, and the owner decrypts yes, no or undecided.
    Cloud,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionTable {
    text: String,
    precision: Option<f64>,
    #[serde(default)]
    compare: Compare,
    scheme: Option<ExactScheme>,
}

impl<'de> Deserialize<'de> for QuestionSettings {
    /// Reads a text or a table. The error of a table names its key, which an untagged enum would hide.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Written;

        impl<'de> Visitor<'de> for Written {
            type Value = QuestionSettings;

            fn expecting(&self, out: &mut Formatter<'_>) -> fmt::Result {
                out.write_str("the text of a question, or a table with text, precision, compare and scheme")
            }

            fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<QuestionSettings, E> {
                Ok(text.into())
            }

            fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<QuestionSettings, A::Error> {
                let table = QuestionTable::deserialize(MapAccessDeserializer::new(table))?;
                let QuestionTable { text, precision, compare, scheme } = table;
                Ok(QuestionSettings { text, precision, compare, scheme })
            }
        }

        from.deserialize_any(Written)
    }
}
