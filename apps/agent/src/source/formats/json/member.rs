//! Members of JSON objects by name and by path.

use serde_json::{Map, Value};

/// Maximum number of names kept for error messages.
const NAMES: usize = 200;

/// Returns a member by its name, or by the names of nested members joined with dots. Elements of arrays have their
/// number as name, from 0.
pub(super) fn member<'o>(object: &'o Map<String, Value>, name: &str) -> Option<&'o Value> {
    let name = name.trim();
    if let Some(value) = child(object, name) {
        return Some(value);
    }
    name.match_indices('.').find_map(|(dot, _)| within(child(object, &name[..dot])?, &name[dot + 1..]))
}

/// Returns the member of a value by its path.
fn within<'o>(value: &'o Value, path: &str) -> Option<&'o Value> {
    match value {
        Value::Object(inner) => member(inner, path),
        Value::Array(elements) => {
            let (number, rest) =
                path.split_once('.').map_or((path, None), |(number, rest)| (number, Some(rest)));
            let element = elements.get(number.parse::<usize>().ok()?)?;
            rest.map_or(Some(element), |rest| within(element, rest))
        }
        _ => None,
    }
}

/// Returns a direct member: by its exact name, else ignoring case if only one matches.
fn child<'o>(object: &'o Map<String, Value>, name: &str) -> Option<&'o Value> {
    object.get(name).or_else(|| {
        let lower = name.to_lowercase();
        let mut alike = object.iter().filter(|(key, _)| key.trim().to_lowercase() == lower);
        alike.next().filter(|_| alike.next().is_none()).map(|(_, value)| value)
    })
}

/// Adds the names of all members; nested names are joined with dots.
pub(super) fn name_members(object: &Map<String, Value>, before: &str, names: &mut Vec<String>) {
    for (key, value) in object {
        if names.len() >= NAMES || before.len() + key.len() > 256 {
            return;
        }
        match value {
            Value::Object(inner) => name_members(inner, &format!("{before}{key}."), names),
            _ => {
                let name = format!("{before}{key}");
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
    }
}

/// Converts a value to the text of a cell.
pub(super) fn as_text(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(value) => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_their_paths() {
        let text = r#"{"a": {"b": {"c": 1}, "d.e": 2}, "a.b": 3, "s": [{"v": 4}, 5], "T": 6}"#;
        let object: Map<String, Value> = serde_json::from_str(text).unwrap();
        for (path, value) in [
            ("a.b.c", Some(1)),
            ("a.d.e", Some(2)),
            ("a.b", Some(3)),
            ("s.0.v", Some(4)),
            ("s.1", Some(5)),
            ("t", Some(6)),
            ("s.2", None),
            ("s.x", None),
            ("a.b.x", None),
        ] {
            assert_eq!(member(&object, path).and_then(Value::as_i64), value, "{path}");
        }
    }
}
