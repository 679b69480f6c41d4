//! Sweeps: one parameter changes, all others stay.

use std::collections::BTreeMap;

use super::cards::decade;
use super::chart::{Axis, Series, plot};
use super::distinct;
use super::format::{colour, duration, escape};
use crate::definition::Definition;
use crate::row::Row;

/// The charts of every sweep of a definition, scheme by scheme.
pub(super) fn charts(definition: &Definition, rows: &[&Row]) -> String {
    let mut sweeps: BTreeMap<&str, BTreeMap<&str, f64>> = BTreeMap::new();
    for parameters in &definition.parameters {
        for (name, value) in &parameters.sweeps {
            sweeps.entry(name).or_default().insert(&parameters.name, *value);
        }
    }
    sweeps.iter().map(|(name, values)| sweep(name, values, rows)).collect()
}

fn sweep(name: &str, values: &BTreeMap<&str, f64>, rows: &[&Row]) -> String {
    let of: Vec<&Row> =
        rows.iter().copied().filter(|row| values.contains_key(row.parameters.as_str())).collect();
    let mut cards = String::new();
    for scheme in distinct(&of, |row| row.scheme.as_str()) {
        for operation in distinct(&of, Row::label) {
            let rows: Vec<&Row> =
                of.iter().copied().filter(|row| row.scheme == scheme && row.label() == operation).collect();
            cards += &card(name, values, &format!("{} {operation}", scheme.to_uppercase()), &rows)
                .unwrap_or_default();
        }
    }
    if cards.is_empty() {
        return cards;
    }
    format!(
        "<details><summary>Sweep over {}</summary><div class=\"cards\">{cards}</div></details>",
        escape(name)
    )
}

/// A chart, if there is more than one place on its axis.
fn card(name: &str, values: &BTreeMap<&str, f64>, title: &str, rows: &[&Row]) -> Option<String> {
    let place = |row: &Row| values.get(row.parameters.as_str()).copied().unwrap_or_default();
    let mut marks = distinct(rows, place);
    marks.sort_by(f64::total_cmp);
    if marks.len() < 2 {
        return None;
    }
    let series = distinct(rows, |row| row.engine.as_str()).into_iter().map(|engine| {
        let mut of: Vec<&&Row> = rows.iter().filter(|row| row.engine == engine).collect();
        of.sort_by(|a, b| place(a).total_cmp(&place(b)));
        let told = |row: &Row| format!("{name} = {}, {}", place(row), duration(row.median_us));
        let points = of.iter().map(|row| (place(row), row.median_us, told(row))).collect();
        Series { name: engine.to_owned(), colour: colour(engine), points, joined: true }
    });
    let short = |value: f64| if value >= 1e5 { format!("2^{:.0}", value.log2()) } else { format!("{value}") };
    let (x, y) = (Axis::at(&marks, short)?, Axis::decades(rows.iter().map(|row| row.median_us), decade)?);
    let chart = plot(&format!("{title} against {name}"), &series.collect::<Vec<_>>(), &x, &y, 200.0);
    Some(format!("<figure class=\"card\"><figcaption>{}</figcaption>{chart}</figure>", escape(title)))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_sweep_has_a_chart_for_what_was_measured_at_two_places() {
        let definition = Definition::named("practical-2022").unwrap();
        let row = |parameters: &str, n: usize, operation: &str| Row {
            parameters: parameters.into(),
            ..Row::example("sotto", operation, n, 5.0)
        };
        let rows =
            [row("n = 4096", 4096, "add"), row("n = 8192", 8192, "add"), row("n = 8192", 8192, "keygen")];
        let text = charts(&definition, &rows.iter().collect::<Vec<_>>());
        assert_eq!((text.matches("<svg").count(), text.matches("<polyline").count()), (1, 1), "{text}");
        assert!(text.contains("Sweep over n"));
    }
}
