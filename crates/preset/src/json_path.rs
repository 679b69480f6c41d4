//! Paths into JSON: `$.values[0].temperature`.

use serde_json::Value;

use crate::PresetError;

/// Maximum number of steps.
const MOST_STEPS: usize = 32;

/// A path to a value of JSON. `$` alone is the whole.
///
/// ```
/// use sotto_preset::JsonPath;
///
/// let path = JsonPath::parse("$.a[1]['b c']")?;
/// let json = serde_json::json!({"a": [0, {"b c": 7}]});
/// assert_eq!(path.find(&json), Some(&serde_json::json!(7)));
/// assert_eq!(path.find(&serde_json::json!([])), None);
/// # Ok::<(), sotto_preset::PresetError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonPath(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(usize),
}

impl JsonPath {
    /// Parses a path. The `$` at its beginning may be left out.
    ///
    /// # Errors
    /// [`PresetError::Path`] if a bracket has no partner, an index is no number, or there are too many steps.
    pub fn parse(text: &str) -> Result<Self, PresetError> {
        let wrong = |reason| PresetError::Path { path: text.chars().take(200).collect(), reason };
        let mut steps = Vec::new();
        let mut left = match text.strip_prefix('$') {
            Some(rest) if rest.is_empty() || rest.starts_with(['.', '[']) => {
                rest.strip_prefix('.').unwrap_or(rest)
            }
            _ => text,
        };
        if text.is_empty() || text == "$." {
            return Err(wrong("it is empty"));
        }
        while !left.is_empty() {
            if let Some(inner) = left.strip_prefix('[') {
                let quoted = inner.strip_prefix('\'').and_then(|inner| inner.split_once("']"));
                let (step, rest) = match quoted {
                    Some((key, rest)) => (Step::Key(key.to_owned()), rest),
                    None => {
                        let (index, rest) =
                            inner.split_once(']').ok_or_else(|| wrong("a bracket has no partner"))?;
                        let index =
                            index.parse().map_err(|_| wrong("an index is a number, a key has quotes"))?;
                        (Step::Index(index), rest)
                    }
                };
                steps.push(step);
                left = rest;
            } else {
                let end = left.find(['.', '[']).unwrap_or(left.len());
                if end == 0 {
                    return Err(wrong("a key is empty"));
                }
                steps.push(Step::Key(left[..end].to_owned()));
                left = &left[end..];
            }
            if let Some(rest) = left.strip_prefix('.') {
                if rest.is_empty() {
                    return Err(wrong("a key is empty"));
                }
                left = rest;
            }
            if steps.len() > MOST_STEPS {
                return Err(wrong("it has more than 32 steps"));
            }
        }
        Ok(Self(steps))
    }

    /// Returns the value at the path; `None` if there is none.
    #[must_use]
    pub fn find<'v>(&self, value: &'v Value) -> Option<&'v Value> {
        self.0.iter().try_fold(value, |value, step| match step {
            Step::Key(key) => value.as_object()?.get(key),
            Step::Index(index) => value.as_array()?.get(*index),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn paths_lead_to_values() {
        let json = json!({"a": {"b": [1, {"c.d": 2}]}, "switch:0": {"apower": 8.9}});
        for (path, expected) in [
            ("$", Some(&json)),
            ("a.b[0]", Some(&json!(1))),
            ("$.a.b[1]['c.d']", Some(&json!(2))),
            ("$['switch:0'].apower", Some(&json!(8.9))),
            ("$.switch:0.apower", Some(&json!(8.9))),
            ("$.a.b.c", None),
            ("$.a[0]", None),
        ] {
            assert_eq!(JsonPath::parse(path).unwrap().find(&json), expected, "{path}");
        }
        for wrong in ["", "a..b", "a[", "a[x]", "$.", "a.", "[-1]"] {
            assert!(JsonPath::parse(wrong).is_err(), "{wrong}");
        }
        assert!(JsonPath::parse(&"a.".repeat(40)).is_err());
    }
}
