//! Questions with parameters: `mean(heat) by day where device in ($room)`.
//!
//! A parameter stands only where every value needs the same of devices: their windows follow from the question without it.

use std::collections::BTreeMap;

use sotto_program::text;

use super::place::{Place, list_behind, place_behind};
use crate::language::{QuestionError, QuestionErrorKind as Kind, Token, limits, near, token};

/// A text with parameters in some of its places.
///
/// ```
/// use sotto_owner::question::Template;
///
/// let template = Template::read("mean(heat) by day where device in ($room)")?;
/// assert_eq!(template.parameters(), ["room"]);
/// let values = [("room".to_owned(), "kitchen, hall".to_owned())].into();
/// assert_eq!(template.filled(&values).unwrap(), "mean(heat) by day where device in (kitchen, hall)");
/// assert!(template.filled(&Default::default()).unwrap_err().to_string().contains("--room"));
/// assert!(Template::read("mean($channel)").is_err(), "devices may not send this channel");
/// # Ok::<(), sotto_owner::question::QuestionError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    pub(super) text: String,
    pub(super) parameters: Vec<Parameter>,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Parameter {
    pub(super) name: String,
    /// Bytes of the text, with the dollar sign.
    pub(super) at: std::ops::Range<usize>,
    pub(super) place: Place,
}

/// The reason why a question with parameters cannot be asked.
///
/// Example: [`Template`]
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotFilled {
    /// Parameters have no value.
    #[error("the question has parameters without a value: {}", usage(.0))]
    Missing(Vec<String>),
    /// The question has no such parameter.
    #[error("the question has no parameter {name}{}", known(near.as_ref(), parameters))]
    Unknown {
        /// The name that was given.
        name: String,
        /// The parameter that was probably meant.
        near: Option<String>,
        /// The parameters that it has.
        parameters: Vec<String>,
    },
    /// A value does not fit the place of the parameter.
    #[error("--{name} {value}: {reason}")]
    Value {
        /// The parameter.
        name: String,
        /// The value.
        value: String,
        /// The reason.
        reason: String,
    },
}

impl NotFilled {
    /// Returns the options that are missing; empty for another reason.
    #[must_use]
    pub fn usage(&self) -> String {
        match self {
            Self::Missing(names) => usage(names),
            Self::Unknown { .. } | Self::Value { .. } => String::new(),
        }
    }
}

/// Returns the options that give parameters their values.
fn usage(names: &[String]) -> String {
    names.iter().map(|name| format!("--{name} {}", name.to_uppercase())).collect::<Vec<_>>().join(" ")
}

fn known(near: Option<&String>, parameters: &[String]) -> String {
    match (near, parameters) {
        (Some(near), _) => format!("; did you mean --{near}?"),
        (None, []) => "; it has none".to_owned(),
        (None, all) => format!("; it has {}", usage(all)),
    }
}

impl Template {
    /// Finds the parameters of a text, which are words after a dollar sign.
    ///
    /// # Errors
    /// [`QuestionError`] points at a parameter in a place where its value would change what devices send.
    pub fn read(text: &str) -> Result<Self, QuestionError> {
        let mut parameters = Vec::new();
        if text.len() > limits::QUESTION_BYTES || !text.contains('$') {
            return Ok(Self { text: text.to_owned(), parameters });
        }
        let (mut at, mut list) = (0, None);
        let mut before: [Token<'_>; 3] = [Token::End; 3];
        while at < text.len() {
            let rest = &text[at..];
            if let Some(length) = parameter(rest) {
                let (name, place) = (&rest[1..length], list.or_else(|| place_behind(before)));
                let Some(place) =
                    place.filter(|_| name.starts_with(|first: char| first.is_ascii_lowercase()))
                else {
                    let parameter = text::excerpt_of(&rest[..length], 40);
                    return Err(QuestionError::new(Kind::Parameter { parameter }, text, at));
                };
                parameters.push(Parameter { name: name.to_owned(), at: at..at + length, place });
                at += length;
                before = [before[1], before[2], Token::Symbol('$')];
                continue;
            }
            // Bytes of times and dates are no tokens.
            let Ok(found) = token(text, at).map_err(|_| ()) else {
                at += rest.chars().next().map_or(1, char::len_utf8);
                continue;
            };
            if text[at..found.start].contains('$') || found.token == Token::End {
                break;
            }
            match found.token {
                Token::Symbol('(') => list = list_behind(before),
                Token::Symbol(')') => list = None,
                _ => {}
            }
            before = [before[1], before[2], found.token];
            at = found.end.max(at + 1);
        }
        Ok(Self { text: text.to_owned(), parameters })
    }

    /// Returns the names of the parameters in the order of the text, each once.
    #[must_use]
    pub fn parameters(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for Parameter { name, .. } in &self.parameters {
            if !names.contains(&name.as_str()) {
                names.push(name);
            }
        }
        names
    }

    /// Returns the text with these values.
    ///
    /// # Errors
    /// [`NotFilled`] if a parameter has no value, a value has no parameter, or a value does not fit its place.
    pub fn filled(&self, values: &BTreeMap<String, String>) -> Result<String, NotFilled> {
        let names = self.parameters();
        let own = || names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        if let Some(name) = values.keys().find(|name| !names.contains(&name.as_str())) {
            let near = near(name, &names).map(str::to_owned);
            return Err(NotFilled::Unknown { name: name.clone(), near, parameters: own() });
        }
        let missing: Vec<String> = own().into_iter().filter(|name| !values.contains_key(name)).collect();
        if !missing.is_empty() {
            return Err(NotFilled::Missing(missing));
        }
        self.with(|parameter| {
            let value = values.get(&parameter.name).map_or("", String::as_str);
            parameter.place.written(value).map_err(|reason| NotFilled::Value {
                name: parameter.name.clone(),
                value: text::excerpt_of(value, 40),
                reason,
            })
        })
    }

    pub(super) fn with<E>(&self, value: impl Fn(&Parameter) -> Result<String, E>) -> Result<String, E> {
        let (mut out, mut from) = (String::with_capacity(self.text.len()), 0);
        for parameter in &self.parameters {
            out.push_str(&self.text[from..parameter.at.start]);
            out.push_str(&value(parameter)?);
            from = parameter.at.end;
        }
        out.push_str(&self.text[from..]);
        Ok(out)
    }
}

/// Returns the length in bytes of the parameter at the beginning of a text, with its dollar sign; None if there is none.
pub(crate) fn parameter(text: &str) -> Option<usize> {
    let is_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    text.starts_with('$').then(|| text::run(text.as_bytes(), 1, is_name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::question::Question;

    fn values(of: &[(&str, &str)]) -> BTreeMap<String, String> {
        of.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn parameters_stand_for_devices_tags_times_and_numbers() {
        for (text, of, expected) in [
            (
                "mean(x of $a) - mean(x of tag $t)",
                &[("a", "tag"), ("t", "barn")][..],
                "mean(x of \"tag\") - mean(x of tag barn)",
            ),
            (
                "mean(x) where tag in (barn, $t)",
                &[("t", "north, 2.og")],
                "mean(x) where tag in (barn, north, \"2.og\")",
            ),
            (
                "top $n devices of max(x) over $long where time $night and weekday in ($days)",
                &[("n", "3"), ("long", "7d"), ("night", "22:00-06:00"), ("days", "sat,sun")],
                "top 3 devices of max(x) over 7d where time 22:00-06:00 and weekday in (sat, sun)",
            ),
            (
                "mean(x) since $from until $to",
                &[("from", "2024-01-01"), ("to", "2024-02-01T12:00")],
                "mean(x) since 2024-01-01 until 2024-02-01T12:00",
            ),
            (
                "mean(x) during $when where date not in ($d)",
                &[("when", "last month"), ("d", "2024-12-25")],
                "mean(x) during last month where date not in (2024-12-25)",
            ),
            ("mean(\"$x\")", &[], "mean(\"$x\")"),
        ] {
            let template = Template::read(text).expect(text);
            let filled = template.filled(&values(of)).expect(text);
            assert_eq!(filled, expected);
            filled.parse::<Question>().expect(&filled);
            let (general, _) = template.general().expect(text);
            assert!(!general.to_string().contains('$') || of.is_empty(), "{general}");
            let channels = filled.parse::<Question>().expect(&filled).channels();
            assert_eq!(general.channels(), channels);
        }
    }

    #[test]
    fn other_places_are_refused() {
        for text in [
            "mean($x)",
            "$f(x)",
            "mean(x) by $group",
            "mean(x) as $name",
            "quantile(x, $share)",
            "count(x > $limit)",
            "mean(x) where date in $file",
            "mean(x) $clause",
            "mean(x) over $",
            "mean(x) over $7",
        ] {
            let error = Template::read(text).expect_err(text);
            assert_eq!(error.offset, text.find('$').expect("a dollar"), "{text}");
            assert!(error.to_string().contains("what devices send"), "{error}");
        }
    }

    #[test]
    fn values_that_do_not_fit_are_refused() {
        let template = Template::read("mean(x of $a) over $t where device in ($room)").expect("a template");
        let all = values(&[("a", "roof"), ("t", "7d"), ("room", "kitchen")]);
        let with = |name: &str, value: &str| {
            let mut all = all.clone();
            all.insert(name.to_owned(), value.to_owned());
            template.filled(&all).map_err(|error| error.to_string())
        };
        assert!(with("a", "roof").is_ok());
        for (name, value, says) in [
            ("t", "7d by hour", "--t 7d by hour: expected the end"),
            ("t", "", "expected a duration"),
            ("room", "kitchen,,hall", "at least one letter"),
            ("rom", "kitchen", "no parameter rom; did you mean --room?"),
        ] {
            let error = with(name, value).expect_err(value);
            assert!(error.contains(says), "{error}");
        }
        // A name is a name, whatever is in it.
        let quoted = with("room", "a) by day").expect("a name");
        assert!(quoted.ends_with("where device in (\"a) by day\")"), "{quoted}");
        let missing = template.filled(&values(&[("a", "roof")])).expect_err("missing").to_string();
        assert_eq!(missing, "the question has parameters without a value: --t T --room ROOM");
    }
}
