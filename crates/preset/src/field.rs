//! Facts about fields: channel, unit, kind, factor.

use serde_json::Value as Json;

use crate::file::FieldFile;
use crate::glob::Glob;
use crate::json_path::JsonPath;
use crate::kind::Kind;
use crate::reading::Value;
use crate::template::Template;

/// A factor, as `multiply` and `divide` state it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Factor {
    multiply: Option<f64>,
    divide: Option<f64>,
}

impl Factor {
    pub(crate) fn new(multiply: Option<f64>, divide: Option<f64>) -> Result<Self, String> {
        let is_factor = |factor: f64| factor.is_finite() && factor != 0.0;
        if multiply.into_iter().chain(divide).all(is_factor) {
            Ok(Self { multiply, divide })
        } else {
            Err("multiply and divide are numbers, and not 0".to_owned())
        }
    }

    /// Applies the factor to a number. Words stay as they are.
    pub(crate) fn of(self, value: Value) -> Value {
        if self == Self::default() {
            return value;
        }
        match &value {
            Value::Number(text) => match text.parse::<f64>() {
                Ok(number) => Value::Number(
                    (number * self.multiply.unwrap_or(1.0) / self.divide.unwrap_or(1.0)).to_string(),
                ),
                Err(_) => value,
            },
            Value::Text(_) => value,
        }
    }
}

/// A unit, or where a message states it.
#[derive(Clone, Debug)]
pub(crate) enum UnitOf {
    Named(String),
    At(JsonPath),
}

impl UnitOf {
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.starts_with('$') && text.len() > 1 {
            Ok(Self::At(JsonPath::parse(text).map_err(|error| error.to_string())?))
        } else {
            Ok(Self::Named(text.to_owned()))
        }
    }

    pub(crate) fn find(&self, message: &Json) -> Option<String> {
        match self {
            Self::Named(unit) => Some(unit.clone()),
            Self::At(path) => {
                path.find(message)?.as_str().filter(|unit| unit.len() <= LONGEST_UNIT).map(str::to_owned)
            }
        }
    }
}

/// Maximum length of a unit, in bytes.
pub(crate) const LONGEST_UNIT: usize = 32;

/// A line of `fields`.
#[derive(Clone, Debug)]
pub(crate) struct FieldRule {
    path: Glob,
    beside: Option<JsonPath>,
    pub(crate) skip: bool,
    pub(crate) channel: Option<Template>,
    pub(crate) unit: Option<UnitOf>,
    pub(crate) kind: Option<Kind>,
    pub(crate) factor: Factor,
}

impl FieldRule {
    pub(crate) fn new(file: &FieldFile, parts: &[&str]) -> Result<Self, String> {
        let path = Glob::parse(&file.path)?;
        let channel = |text: &String| Template::parse(text, parts, path.stars());
        let beside = |text: &String| JsonPath::parse(text).map_err(|error| error.to_string());
        Ok(Self {
            beside: file.beside.as_ref().map(beside).transpose()?,
            skip: file.skip,
            channel: file.channel.as_ref().map(channel).transpose()?,
            unit: file.unit.as_deref().map(UnitOf::parse).transpose()?,
            kind: file.kind,
            factor: Factor::new(file.multiply, file.divide)?,
            path,
        })
    }

    /// Returns the texts of the path's stars; `None` if the line is not about this field of the message.
    pub(crate) fn fit<'p>(&self, path: &[&'p str], message: &Json) -> Option<Vec<&'p str>> {
        let stars = self.path.fit(path)?;
        self.beside.as_ref().is_none_or(|beside| beside.find(message).is_some()).then_some(stars)
    }
}
