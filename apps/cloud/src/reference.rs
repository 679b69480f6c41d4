//! The reference of the HTTP interface: OpenAPI, and a page of Markdown made from it.

use std::fmt::{self, Write as _};

use anyhow::Context as _;
use serde_json::Value;

use crate::api;

const METHODS: [&str; 4] = ["get", "put", "post", "delete"];

/// Prints the OpenAPI document, or the page.
///
/// # Errors
/// Standard output cannot be written.
pub fn print(markdown: bool) -> anyhow::Result<()> {
    let text = if markdown { page()? } else { openapi()? };
    sotto_service::config::print(&text)
}

/// Returns the OpenAPI document as JSON.
///
/// # Errors
/// The document cannot be written as JSON.
pub fn openapi() -> anyhow::Result<String> {
    Ok(api::openapi_json().context("the document cannot be written")? + "\n")
}

/// Returns the page: a section for each operation, grouped by callers.
///
/// # Errors
/// The document cannot be written as JSON.
pub fn page() -> anyhow::Result<String> {
    let document = serde_json::to_value(api::openapi_document())?;
    let mut page = String::from(
        "# HTTP interface of the cloud\n\n\
         <!-- Made by `sotto-cloud openapi --markdown`; do not edit. -->\n\n\
         To try the examples, start a cloud ([deploy](../guides/deploy.md)) and set\n\n    \
         CLOUD=http://127.0.0.1:7410; TOKEN=$(cat plant/secrets/owner-token)\n\n",
    );
    page.extend([&linked(text(&document["info"], "description")), "\n\n"]);
    page.push_str(
        "The same as OpenAPI 3.1: [openapi.json](openapi.json), `sotto-cloud openapi`, `GET /v1/openapi.json`.\n",
    );
    for tag in document["tags"].as_array().into_iter().flatten() {
        let name = text(tag, "name");
        write!(page, "\n## {name}\n\n{}\n", text(tag, "description"))?;
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            for method in METHODS {
                let operation = &item[method];
                if operation["tags"][0] == name {
                    Operation { method, path, operation }.write(&mut page)?;
                }
            }
        }
    }
    page.push_str("\n## Objects\n");
    for (name, schema) in document["components"]["schemas"].as_object().into_iter().flatten() {
        if name != "Frame" {
            object(&mut page, name, schema)?;
        }
    }
    Ok(page)
}

struct Operation<'d> {
    method: &'d str,
    path: &'d str,
    operation: &'d Value,
}

impl Operation<'_> {
    fn write(&self, page: &mut String) -> fmt::Result {
        let Self { path, operation, .. } = self;
        let method = self.method.to_uppercase();
        write!(page, "\n### {method} {path}\n\n{}", text(operation, "summary"))?;
        if !text(operation, "description").is_empty() {
            write!(page, " {}", text(operation, "description").replace('\n', " "))?;
        }
        write!(page, "\n\n    {}\n", self.curl())?;
        self.parameters(page)?;
        self.body(page)?;
        self.responses(page)
    }

    fn parameters(&self, page: &mut String) -> fmt::Result {
        let parameters = self.operation["parameters"].as_array().map_or(&[][..], Vec::as_slice);
        if !parameters.is_empty() {
            page.push_str("\n| parameter | in | type | |\n| --- | --- | --- | --- |\n");
        }
        for one in parameters {
            let needed = if one["required"] == true { "" } else { " Optional." };
            let (name, place) = (text(one, "name"), text(one, "in"));
            let description = cell(text(one, "description"));
            writeln!(page, "| `{name}` | {place} | {} | {description}{needed} |", kind(&one["schema"]))?;
        }
        Ok(())
    }

    fn body(&self, page: &mut String) -> fmt::Result {
        let body = &self.operation["requestBody"];
        for (media, content) in body["content"].as_object().into_iter().flatten() {
            write!(page, "\nBody: `{media}`{}. {}\n", schema_name(content), text(body, "description"))?;
        }
        Ok(())
    }

    fn responses(&self, page: &mut String) -> fmt::Result {
        page.push_str("\n| status | body | |\n| --- | --- | --- |\n");
        for (status, response) in self.operation["responses"].as_object().into_iter().flatten() {
            let mut media = String::new();
            for (name, content) in response["content"].as_object().into_iter().flatten() {
                write!(media, "`{name}`{}", schema_name(content))?;
            }
            let mut description = cell(text(response, "description"));
            for (name, header) in response["headers"].as_object().into_iter().flatten() {
                let point = if description.ends_with('.') { "" } else { "." };
                write!(description, "{point} Header `{name}`: {}", cell(text(header, "description")))?;
            }
            writeln!(page, "| {status} | {media} | {description} |")?;
        }
        Ok(())
    }

    /// Returns a request as a command. Parameters of the path have their example.
    fn curl(&self) -> String {
        let mut line = String::from("curl");
        if self.method != "get" {
            line.extend([" -X ", &self.method.to_uppercase()]);
        }
        if self.operation["security"].is_array() {
            line.push_str(" -H \"Authorization: Bearer $TOKEN\"");
        }
        let (mut path, mut query) = (self.path.to_owned(), Vec::new());
        for one in self.operation["parameters"].as_array().into_iter().flatten() {
            let (name, example) = (text(one, "name"), example(one));
            match text(one, "in") {
                "path" => path = path.replace(&format!("{{{name}}}"), &example),
                "query" if one["required"] == true => query.push(format!("{name}={example}")),
                "header" if !one["example"].is_null() => line.extend([" -H '", name, ": ", &example, "'"]),
                _ => {}
            }
        }
        for (media, content) in self.operation["requestBody"]["content"].as_object().into_iter().flatten() {
            if media == "application/json" {
                line.extend([
                    " -H 'Content-Type: application/json' -d '",
                    &content["example"].to_string(),
                    "'",
                ]);
            } else {
                line.extend([" -H 'Content-Type: ", media, "' --data-binary @body.bin"]);
            }
        }
        let returned = &self.operation["responses"]["200"]["content"];
        if returned["application/octet-stream"].is_object() {
            line.push_str(" -o answer.bin");
        }
        let question = if query.is_empty() { "" } else { "?" };
        line + " \"$CLOUD" + &path + question + &query.join("&") + "\""
    }
}

fn example(parameter: &Value) -> String {
    match &parameter["example"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Writes the fields of an object of JSON.
fn object(page: &mut String, name: &str, schema: &Value) -> fmt::Result {
    write!(page, "\n### {name}\n")?;
    if !text(schema, "description").is_empty() {
        write!(page, "\n{}\n", text(schema, "description").replace('\n', " "))?;
    }
    let parts = schema["allOf"].as_array().into_iter().flatten().chain([schema]);
    let mut first = true;
    for part in parts {
        if let Some(target) = referred(part) {
            write!(page, "\nWith the fields of [{target}](#{}).\n", target.to_lowercase())?;
        }
        for (name, field) in part["properties"].as_object().into_iter().flatten() {
            if core::mem::take(&mut first) {
                page.push_str("\n| field | type | |\n| --- | --- | --- |\n");
            }
            let is_required =
                part["required"].as_array().is_some_and(|all| all.iter().any(|one| one == name));
            let absent = if is_required { "" } else { " May be absent." };
            writeln!(page, "| `{name}` | {} | {}{absent} |", kind(field), cell(text(field, "description")))?;
        }
    }
    for (index, one) in schema["oneOf"].as_array().into_iter().flatten().enumerate() {
        let or = if index == 0 { "\n" } else { " or " };
        write!(page, "{or}{}", kind(one))?;
    }
    if schema["oneOf"].is_array() {
        page.push('\n');
    }
    Ok(())
}

/// Returns the type of a schema in words.
fn kind(schema: &Value) -> String {
    if let Some(target) = referred(schema) {
        return format!("[{target}](#{})", target.to_lowercase());
    }
    if let Some(one) = schema["oneOf"].as_array().and_then(|all| all.iter().find(|one| one["type"] != "null"))
    {
        return kind(one) + " or null";
    }
    match &schema["type"] {
        Value::String(name) if name == "array" => format!("array of {}", kind(&schema["items"])),
        Value::String(name) if name == "object" && schema["additionalProperties"].is_object() => {
            format!("object of {}", kind(&schema["additionalProperties"]))
        }
        Value::String(name) => name.clone(),
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect::<Vec<_>>().join(" or "),
        _ => "any".to_owned(),
    }
}

fn referred(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.rsplit('/').next()
}

/// Returns a link to the schema of a body; nothing for frames.
fn schema_name(content: &Value) -> String {
    let schema = &content["schema"];
    match referred(schema) {
        Some("Frame") => String::new(),
        None if schema["type"] == "object" => String::new(),
        _ => format!(" {}", kind(schema)),
    }
}

fn text<'v>(value: &'v Value, key: &str) -> &'v str {
    value[key].as_str().unwrap_or_default()
}

/// Makes text fit into a cell of a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// Makes links of the names of pages.
fn linked(text: &str) -> String {
    text.replace("`docs/concepts/wire.md`", "[wire.md](../concepts/wire.md)")
}
