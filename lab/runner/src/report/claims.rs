//! The claims of a paper, and the outcome on the measured machine.

use sotto_chart::escape;

use crate::claims::{Claim, DEFINITION, claims};
use crate::row::Row;

/// Returns the table of claims; empty for a definition without claims.
pub(super) fn table(definition: &str, rows: &[Row]) -> String {
    if definition != DEFINITION {
        return String::new();
    }
    let body: String = claims(rows).iter().map(line).collect();
    format!(
        "<h3>Its claims on this machine</h3><div class=\"wide\"><table class=\"words\"><thead><tr><th></th><th>claim</th>\
         <th>here</th></tr></thead><tbody>{body}</tbody></table></div>"
    )
}

/// Returns the table in Markdown.
pub(super) fn markdown(definition: &str, rows: &[Row]) -> String {
    if definition != DEFINITION {
        return String::new();
    }
    let line = |claim: &Claim| format!("| {} | {} | {} |\n", claim.number, claim.text, verdict(claim).1);
    let body: String = claims(rows).iter().map(line).collect();
    format!("Its claims on this machine:\n\n| | claim | here |\n| ---: | --- | --- |\n{body}\n")
}

fn verdict(claim: &Claim) -> (&'static str, String) {
    let (held, all) = (claim.cases.iter().filter(|case| case.1).count(), claim.cases.len());
    match claim.held() {
        None if all == 0 => ("", "not measured".to_owned()),
        None => ("", format!("not decided: as claimed in {held} cases, {} not measured", claim.all - all)),
        Some(true) => ("faster", format!("held in all {all} cases")),
        Some(false) if held == 0 => ("slower", format!("not held in any of {all} cases")),
        Some(false) => ("slower", format!("not held: in {held} of {all} cases only")),
    }
}

fn line(claim: &Claim) -> String {
    let (class, told) = verdict(claim);
    let case = |(what, holds): &(String, bool)| {
        format!("<li>{} {}</li>", if *holds { "as claimed:" } else { "<b>otherwise:</b>" }, escape(what))
    };
    let cases: String = claim.cases.iter().map(case).collect();
    let cases = if cases.is_empty() {
        cases
    } else {
        format!("<details><summary>cases</summary><ul class=\"small\">{cases}</ul></details>")
    };
    format!(
        "<tr><th>{}</th><td>{}</td><td><span class=\"{class}\">{told}</span>{cases}</td></tr>",
        claim.number,
        escape(claim.text)
    )
}
