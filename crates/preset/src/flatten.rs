//! The fields of JSON: paths to numbers, words, and true and false.

use serde_json::Value as Json;

use crate::reading::{Refused, Value};

/// Maximum number of fields of a message, and of levels of them.
const MOST_FIELDS: usize = 1000;
const MOST_LEVELS: usize = 16;
/// Maximum length of a word that may be a state, in bytes.
const LONGEST_WORD: usize = 64;

/// Calls `take` with the path and the value of each field. Null and long texts are no fields.
pub(crate) fn fields<'j>(json: &'j Json, take: &mut dyn FnMut(&[&str], Value)) -> Result<(), Refused> {
    let mut indexes = Vec::new();
    count(json, 0, &mut 0, &mut indexes)?;
    let names: Vec<String> =
        (0..indexes.iter().copied().max().unwrap_or(0)).map(|index| index.to_string()).collect();
    walk(json, &names, &mut Vec::new(), take);
    Ok(())
}

/// Counts fields and levels, and notes the lengths of arrays.
fn count(json: &Json, level: usize, fields: &mut usize, lengths: &mut Vec<usize>) -> Result<(), Refused> {
    if level > MOST_LEVELS {
        return Err(Refused::TooManyFields);
    }
    match json {
        Json::Object(members) => {
            members.values().try_for_each(|value| count(value, level + 1, fields, lengths))
        }
        Json::Array(elements) => {
            lengths.push(elements.len());
            elements.iter().try_for_each(|value| count(value, level + 1, fields, lengths))
        }
        _ => {
            *fields += 1;
            if *fields > MOST_FIELDS { Err(Refused::TooManyFields) } else { Ok(()) }
        }
    }
}

fn walk<'j>(
    json: &'j Json,
    indexes: &'j [String],
    path: &mut Vec<&'j str>,
    take: &mut dyn FnMut(&[&str], Value),
) {
    match json {
        Json::Object(members) => {
            for (key, value) in members {
                path.push(key);
                walk(value, indexes, path, take);
                path.pop();
            }
        }
        Json::Array(elements) => {
            for (value, index) in elements.iter().zip(indexes) {
                path.push(index);
                walk(value, indexes, path, take);
                path.pop();
            }
        }
        other => {
            if let Some(value) = value_of(other) {
                take(path, value);
            }
        }
    }
}

/// Returns the value of a number, a short word, true or false; `None` for anything else.
pub(crate) fn value_of(json: &Json) -> Option<Value> {
    match json {
        Json::Bool(flag) => Some(Value::Text(flag.to_string())),
        Json::Number(number) => Some(Value::of(&number.to_string())),
        Json::String(text) if text.len() <= LONGEST_WORD => Some(Value::of(text.trim())),
        _ => None,
    }
}
