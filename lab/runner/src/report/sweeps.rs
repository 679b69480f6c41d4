//! Sweeps: one parameter changes, all others keep their values.

use std::collections::BTreeMap;

use sotto_chart::{Logarithmic, escape, figure};

use super::cards::decade;
use super::chart::{Series, plot};
use super::distinct;
use super::format::{colour, duration};
use crate::definition::Definition;
use crate::row::Row;

/// Returns the charts of every sweep of a definition, scheme by scheme.
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

/// Returns a chart. None if the axis would have a single place.
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
    let short = |value: f64| {
        if value >= 1e5 && value.log2().fract() == 0.0 {
            format!("2^{:.0}", value.log2())
        } else {
            format!("{value}")
        }
    };
    let x = Logarithmic::at(&marks, short)?;
    let y = Logarithmic::decades(rows.iter().map(|row| row.median_us), decade)?;
    let chart = plot(&format!("{title} against {name}"), &series.collect::<Vec<_>>(), &x, &y, 200.0);
    Some(figure(title, "").class("card").child(chart).to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn a_sweep_has_a_chart_for_what_was_measured_at_two_places() {
        const SMALLER: &str = "n = 8192 of the default";
        let definition = Definition::named("practical-2022").unwrap();
        let row = |parameters: &str, n: usize, operation: &str| Row {
            parameters: parameters.into(),
            ..Row::example("sotto", operation, n, 5.0)
        };
        let rows = [row(SMALLER, 8192, "add"), row("default", 16384, "add"), row("default", 16384, "keygen")];
        let text = charts(&definition, &rows.iter().collect::<Vec<_>>());
        assert_eq!((text.matches("<svg").count(), text.matches("<path").count()), (1, 1), "{text}");
        assert!(text.contains("Sweep over n"));
    }

    #[test]
    fn the_sweeps_have_one_default_and_change_one_parameter() {
        let definition = Definition::named("practical-2022").unwrap();
        let with_ring = |scheme: &crate::definition::Scheme| scheme.has_ring();
        let swept = definition.parameters.iter().filter(|p| p.schemes.iter().any(with_ring));
        let (defaults, others): (Vec<_>, Vec<_>) =
            swept.filter(|p| !p.sweeps.is_empty()).partition(|p| p.name == "default");
        let [default] = defaults[..] else { panic!("one default") };
        assert_eq!(default.sweeps.keys().collect::<Vec<_>>(), ["bits of Q", "n", "special primes", "t"]);
        for other in others {
            let [(sweep, value)] = other.sweeps.iter().collect::<Vec<_>>()[..] else {
                panic!("{}", other.name)
            };
            assert_ne!(default.sweeps[sweep], *value, "{}", other.name);
            let (ours, theirs) = (other.primes.as_ref().unwrap(), default.primes.as_ref().unwrap());
            assert_eq!(ours.data != theirs.data, sweep == "bits of Q", "{}", other.name);
            assert_eq!(ours.special != theirs.special, sweep == "special primes", "{}", other.name);
            assert_eq!(other.degrees != default.degrees, sweep == "n", "{}", other.name);
            assert_eq!(other.plain_modulus != default.plain_modulus, sweep == "t", "{}", other.name);
        }
    }
}
