//! The table of plaintext sizes: the numbers of a paper, with its times and ours.

use sotto_chart::escape;

use super::distinct;
use super::format::duration;
use crate::definition::{Definition, Parameters};
use crate::row::Row;

/// The measured sums of operations, and the paper's sign for each.
const RESPONSES: [(&str, char); 2] = [("response add", '+'), ("response multiply", '*')];

/// Returns the definition's table; empty if it has none or nothing of it was measured.
pub(super) fn table(definition: &Definition, rows: &[&Row]) -> String {
    let Some(sizes) = &definition.sizes else { return String::new() };
    let named =
        |row: &&&Row| definition.parameters.iter().any(|p| p.values.is_some() && p.name == row.parameters);
    let of: Vec<&Row> = rows.iter().filter(named).copied().collect();
    let columns = distinct(&of, |row| (row.scheme.as_str(), row.engine.as_str()));
    let line = |parameters: &Parameters| {
        let [a, b] = parameters.values?;
        let mine = || of.iter().filter(|row| row.parameters == parameters.name);
        let (name, sign) =
            RESPONSES.into_iter().find(|(name, _)| mine().any(|row| row.operation == *name))?;
        let published = sizes.published(&format!("{a}{sign}{b}")).map_or("–".to_owned(), duration);
        let cell = |(scheme, engine): &(&str, &str)| {
            let row =
                mine().find(|row| (&*row.scheme, &*row.engine, &*row.operation) == (*scheme, *engine, name));
            let told = row
                .map(|row| format!("{}<br><small>± {}</small>", duration(row.mean_us), duration(row.sd_us)));
            format!("<td>{}</td>", told.unwrap_or("–".to_owned()))
        };
        let cells: String = columns.iter().map(cell).collect();
        Some(format!("<tr><th>{}</th><td>{published}</td>{cells}</tr>", escape(&parameters.name)))
    };
    let body: String = definition.parameters.iter().filter_map(line).collect();
    if body.is_empty() {
        return body;
    }
    let heads: String = columns
        .iter()
        .map(|(scheme, engine)| format!("<th>{} {}</th>", scheme.to_uppercase(), escape(engine)))
        .collect();
    format!(
        "<h3>Plaintext sizes</h3><p>Two encryptions, the operation and a decryption of these numbers: as published ({}, {}), and as \
         measured here, mean and deviation.</p><div class=\"wide\"><table><thead><tr><th></th><th>published</th>{heads}</tr>\
         </thead><tbody>{body}</tbody></table></div>",
        escape(&sizes.source),
        escape(&sizes.machine)
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn the_papers_numbers_stand_beside_those_measured() {
        let definition = Definition::named("thesis-2018").unwrap();
        let with_values = definition.parameters.iter().filter(|parameters| parameters.values.is_some());
        let sizes = definition.sizes.as_ref().unwrap();
        for parameters in with_values {
            let written = parameters.name.replace(' ', "").replace('·', "*");
            assert!(sizes.published(&written).is_some(), "{written}");
        }
        let row = |parameters: &str, operation: &str, us: f64| Row {
            parameters: parameters.into(),
            ..Row::example("sotto", operation, 1024, us)
        };
        let rows = [
            row("3 + 4", "response add", 50.0),
            row("30 · 34", "response multiply", 70.0),
            row("c = 2, k = 4", "add", 1.0),
        ];
        let text = table(&definition, &rows.iter().collect::<Vec<_>>());
        assert_eq!(text.matches("<tr>").count(), 3, "{text}");
        assert!(text.contains("<th>3 + 4</th><td>592 ms</td><td>50.0 µs"), "{text}");
        assert!(text.contains("<th>30 · 34</th><td>842 ms</td><td>70.0 µs"), "{text}");
        assert_eq!(table(&definition, &rows[2..].iter().collect::<Vec<_>>()), "");
    }
}
