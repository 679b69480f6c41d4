//! The table of cases in the documentation: each with its report, question and answer. `cargo xtask cases` writes it.

use std::collections::BTreeMap;

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::cargo;

pub(super) const PAGE: &str = "docs/reference/cases.md";
/// The line above the rows.
const HEAD: &str = "| case | the report | options | the agent left out | question | answer |\n| --- | --- | --- | --- | --- | --- |\n";
/// The most values of one result in a row.
const MOST_VALUES: usize = 4;

/// Replaces the rows of the page's table.
pub(super) fn write(rows: &str) -> Result<()> {
    let path = cargo::root()?.join(PAGE);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {PAGE}"))?;
    let (before, _) = text.split_once(HEAD).with_context(|| format!("{PAGE} has no table of cases"))?;
    std::fs::write(&path, format!("{before}{HEAD}{rows}")).with_context(|| format!("cannot write {PAGE}"))
}

/// Returns a fault if the page has another row for a case. Cases that the page lacks are not compared.
pub(super) fn differs(name: &str, row: &str) -> Result<Option<String>> {
    let page = std::fs::read_to_string(cargo::root()?.join(PAGE)).with_context(|| PAGE.to_owned())?;
    let shown = page.lines().find(|line| line.starts_with(&format!("| {name} |")));
    let other = shown.filter(|shown| *shown != row);
    Ok(other.map(|shown| {
        format!("{PAGE} has {shown:?}, and the row is {row:?}; `cargo xtask cases` writes the page again")
    }))
}

/// Returns the row of a case.
pub(super) fn row(name: &str, case: &Value, options: &[&str], summaries: &[Value], answer: &Value) -> String {
    let report = case["about"].as_str().unwrap_or_default();
    let question = case["ask"].as_str().unwrap_or_default();
    let options = if options.is_empty() { String::new() } else { format!("`{}`", options.join(" ")) };
    let cells = [name, report, &options, &left_out(summaries), &format!("`{question}`"), &results(answer)];
    format!("| {} |", cells.map(|cell| cell.replace('|', "\\|")).join(" | "))
}

/// Returns the counts of readings left out in all runs, by reason.
fn left_out(summaries: &[Value]) -> String {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for (reason, count) in summaries.iter().filter_map(|summary| summary["left_out"].as_object()).flatten() {
        *counts.entry(reason).or_default() += count.as_u64().unwrap_or_default();
    }
    let words = counts.iter().map(|(reason, count)| format!("{count} {}", reason.replace(['-', '_'], " ")));
    words.collect::<Vec<_>>().join(", ")
}

/// Returns each result with its values, bound and unit.
fn results(answer: &Value) -> String {
    let rows = answer["rows"].as_array().map_or(&[][..], Vec::as_slice);
    let mut names: Vec<&str> = Vec::new();
    for name in rows.iter().filter_map(|row| row["name"].as_str()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let of = |name: &str| {
        let rows: Vec<&Value> = rows.iter().filter(|row| row["name"] == name).collect();
        let value = |row: &&Value| row["value"].as_f64().map_or_else(|| "–".to_owned(), rounded);
        let mut values: Vec<String> = rows.iter().take(MOST_VALUES).map(value).collect();
        if rows.len() > MOST_VALUES {
            values.push("…".to_owned());
        }
        let bound = rows.iter().filter_map(|row| row["bound"].as_f64()).fold(0.0, f64::max);
        let bound = if bound < 1e-6 { String::new() } else { format!(" ± {}", rounded(bound)) };
        let unit = rows.first().and_then(|row| row["unit"].as_str()).unwrap_or_default();
        format!("{name}: {}{bound} {unit}", values.join(", ")).trim_end().to_owned()
    };
    names.into_iter().map(of).collect::<Vec<_>>().join("; ")
}

/// Returns a number with at most six digits behind its point.
fn rounded(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" { "0".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_row_has_what_was_sent_and_answered() {
        let case = json!({"about": "a | b", "ask": "max(x) by day"});
        let summaries = [json!({"left_out": {"no-time": 2}}), json!({"left_out": {"no-time": 1, "text": 1}})];
        let row_of = |value: f64| json!({"name": "max(x)", "value": value, "bound": 0.05, "unit": "°C"});
        let answer = json!({"rows": [row_of(20.0), row_of(-1.25)]});
        assert_eq!(
            row("new", &case, &["--hold", "1d"], &summaries, &answer),
            "| new | a \\| b | `--hold 1d` | 3 no time, 1 text | `max(x) by day` | max(x): 20, -1.25 ± 0.05 °C |"
        );
    }

    #[test]
    fn many_values_are_cut() {
        let answer = json!({"rows": (0..6).map(|at| json!({"name": "count", "value": at, "bound": 0})).collect::<Vec<_>>()});
        assert_eq!(results(&answer), "count: 0, 1, 2, 3, …");
    }
}
