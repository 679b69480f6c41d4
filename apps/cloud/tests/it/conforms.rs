//! Compares answers with the document of the interface.

use std::sync::OnceLock;

use serde_json::Value;

use crate::world::Answer;

const METHODS: [&str; 4] = ["get", "put", "post", "delete"];

/// The OpenAPI document, as the program prints it.
pub(crate) fn document() -> &'static Value {
    static DOCUMENT: OnceLock<Value> = OnceLock::new();
    DOCUMENT.get_or_init(|| serde_json::from_str(&sotto_cloud::reference::openapi().unwrap()).unwrap())
}

/// An operation of the document.
#[derive(Clone, Copy)]
pub(crate) struct Operation {
    pub(crate) method: &'static str,
    pub(crate) path: &'static str,
    pub(crate) value: &'static Value,
}

pub(crate) fn operations() -> Vec<Operation> {
    let paths = document()["paths"].as_object().unwrap();
    let of = |(path, item): (&'static String, &'static Value)| {
        let known = METHODS.into_iter().filter(|method| item[method].is_object());
        known.map(move |method| Operation { method, path, value: &item[method] })
    };
    paths.iter().flat_map(of).collect()
}

/// Returns the name of the documented path that a request's path has.
fn template(path: &str) -> Option<&'static str> {
    let is_of = |template: &str| {
        let (mut found, mut parts) = (path.split('/'), template.split('/'));
        loop {
            match (found.next(), parts.next()) {
                (None, None) => return true,
                (Some(found), Some(part)) if part == found => {}
                (Some(found), Some(part)) if part.starts_with('{') && !found.is_empty() => {}
                _ => return false,
            }
        }
    };
    document()["paths"].as_object().unwrap().keys().map(String::as_str).find(|template| is_of(template))
}

/// Asserts that an answer is one that the document allows: status, reason, content type, headers and body.
pub(crate) fn check(method: &str, url: &str, answer: &Answer) {
    let after = url.split_once("://").map_or(url, |(_, after)| after);
    let path = after.find('/').map_or("/", |at| &after[at..]);
    let path = path.split('?').next().unwrap();
    let shown = format!("{method} {path}: {answer}");
    if answer.status == 400 && answer.json()["reason"] == "tls-required" {
        // From the connection, before a request is read.
        return;
    }
    let Some(template) = template(path) else {
        answer.refused(404, "no-such-resource");
        return;
    };
    let operation = &document()["paths"][template][method.to_lowercase()];
    if operation.is_null() {
        answer.refused(405, "method-not-allowed");
        return;
    }
    let response = &operation["responses"][answer.status.to_string()];
    assert!(response.is_object(), "undocumented status: {shown}");
    for header in response["headers"].as_object().into_iter().flat_map(|headers| headers.keys()) {
        assert!(header == "Link" || answer.header(header).is_some(), "no header {header}: {shown}");
    }
    let Some(content) = response["content"].as_object() else {
        assert!(answer.bytes.is_empty(), "undocumented body: {shown}");
        return;
    };
    let content = content.get(&answer.kind).unwrap_or_else(|| panic!("undocumented content type: {shown}"));
    if answer.kind.ends_with("json") {
        conforms(&content["schema"], &answer.json()).unwrap_or_else(|fault| panic!("{fault}: {shown}"));
    }
    if answer.status >= 400 {
        let (reason, description) = (answer.json()["reason"].clone(), &response["description"]);
        let named = format!("`{}`", reason.as_str().unwrap());
        assert!(description.as_str().unwrap().contains(&named), "undocumented reason: {shown}");
    }
}

/// Compares a value with a schema. Stricter than JSON Schema: every field must be documented.
fn conforms(schema: &Value, value: &Value) -> Result<(), String> {
    let mut fields = Vec::new();
    let fault = check_schema(schema, value, &mut fields);
    fault?;
    match value.as_object().and_then(|object| object.keys().find(|key| !fields.contains(key))) {
        Some(field) if !fields.is_empty() => Err(format!("undocumented field {field}")),
        _ => Ok(()),
    }
}

fn check_schema<'v>(schema: &Value, value: &'v Value, fields: &mut Vec<&'v String>) -> Result<(), String> {
    if let Some(name) = schema["$ref"].as_str() {
        let target = document().pointer(name.trim_start_matches('#'));
        return check_schema(target.ok_or_else(|| format!("no schema {name}"))?, value, fields);
    }
    for part in schema["allOf"].as_array().into_iter().flatten() {
        check_schema(part, value, fields)?;
    }
    if let Some(choices) = schema["oneOf"].as_array() {
        let fits = |choice: &&Value| check_schema(choice, value, &mut Vec::new()).is_ok();
        let first = choices.iter().find(fits).ok_or_else(|| format!("none of the forms fits {value}"))?;
        check_schema(first, value, fields)?;
    }
    let known = match &schema["type"] {
        Value::String(one) => is_of_type(one, value),
        Value::Array(several) => several.iter().any(|one| is_of_type(one.as_str().unwrap(), value)),
        _ => true,
    };
    if !known {
        return Err(format!("{value} is not of type {}", schema["type"]));
    }
    if let (Some(pattern), Some(text)) = (schema["pattern"].as_str(), value.as_str())
        && !matches(pattern, text)
    {
        return Err(format!("{text} is not {pattern}"));
    }
    if let (Some(least), Some(number)) = (schema["minimum"].as_f64(), value.as_f64())
        && number < least
    {
        return Err(format!("{number} is below {least}"));
    }
    for item in value.as_array().filter(|_| schema["items"].is_object()).into_iter().flatten() {
        conforms(&schema["items"], item)?;
    }
    let Some(object) = value.as_object() else { return Ok(()) };
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if !object.contains_key(name) {
            return Err(format!("no field {name}"));
        }
    }
    for (name, inner) in object {
        if let Some(of_field) = schema["properties"].get(name) {
            fields.push(name);
            conforms(of_field, inner)?;
        } else if schema["additionalProperties"].is_object() {
            conforms(&schema["additionalProperties"], inner)?;
        }
    }
    Ok(())
}

fn is_of_type(name: &str, value: &Value) -> bool {
    match name {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("{other} is no type of JSON"),
    }
}

/// Knows the two kinds of patterns in the document: hexadecimal digits of a length, and words to choose from.
fn matches(pattern: &str, text: &str) -> bool {
    let inner =
        pattern.strip_prefix('^').and_then(|rest| rest.strip_suffix('$')).expect("an anchored pattern");
    if let Some(length) = inner.strip_prefix("[0-9a-f]{").and_then(|rest| rest.strip_suffix('}')) {
        let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        return text.len() == length.parse::<usize>().unwrap() && text.bytes().all(is_digit);
    }
    let words = inner.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).expect("a known pattern");
    words.split('|').any(|word| word == text)
}

#[test]
fn the_check_finds_what_does_not_conform() {
    use serde_json::json;
    let schema = json!({ "$ref": "#/components/schemas/Forgotten" });
    let right = json!({ "envelopes": 1, "bytes": 2, "jobs": 0, "outputs": 0 });
    assert_eq!(conforms(&schema, &right), Ok(()));
    for (field, wrong) in
        [("envelopes", json!("1")), ("bytes", json!(1.5)), ("jobs", json!(null)), ("more", json!(1))]
    {
        let mut value = right.clone();
        value[field] = wrong;
        assert!(conforms(&schema, &value).is_err(), "{value}");
    }
    assert!(conforms(&schema, &json!({ "envelopes": 1, "bytes": 2, "jobs": 0 })).is_err());
    assert!(conforms(&schema, &json!([])).is_err());
    assert!(matches("^[0-9a-f]{4}$", "00ff") && !matches("^[0-9a-f]{4}$", "00fF"));
    assert!(matches("^(done|failed)$", "failed") && !matches("^(done|failed)$", "fail"));
}
