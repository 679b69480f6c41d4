//! Time against bytes: the rows that no other row beats in both.

use sotto_chart::{Element, Logarithmic, figure};

use super::cards::decade;
use super::chart::{Series, plot};
use super::format::{bytes, colour, duration};
use super::{Group, distinct};
use crate::row::Row;

/// Returns the plots of a group at its largest n, one for each object; empty if rows have no bytes.
pub(super) fn plots(group: &Group<'_>) -> String {
    let Some(largest) = group.rows.iter().map(|row| row.n).max() else { return String::new() };
    let sized: Vec<&Row> =
        group.rows.iter().copied().filter(|row| row.n == largest && row.bytes.is_some()).collect();
    let plots: String = distinct(&sized, |row| (row.operation.clone(), row.object.clone()))
        .into_iter()
        .filter_map(|(operation, object)| {
            let rows: Vec<&Row> = sized
                .iter()
                .copied()
                .filter(|row| (&row.operation, &row.object) == (&operation, &object))
                .collect();
            let what = object.as_deref().unwrap_or("ciphertext");
            one(&format!("{operation} {what}, n = {largest}: time against bytes"), &rows)
        })
        .collect();
    if plots.is_empty() {
        plots
    } else {
        format!("<h4>Time against bytes: the Pareto front</h4><div class=\"cards\">{plots}</div>")
    }
}

fn one(title: &str, rows: &[&Row]) -> Option<String> {
    let place = |row: &Row| (row.bytes.unwrap_or_default() as f64, row.median_us);
    let told = |row: &Row| {
        let codec = row.codec.as_deref().unwrap_or_default();
        format!("{codec} {}, {}", bytes(place(row).0), duration(row.median_us))
    };
    let best = frontier(rows);
    let front = Series {
        name: "not beaten in both".to_owned(),
        colour: "#bbbbbb",
        points: best.iter().map(|row| (place(row).0, place(row).1, told(row))).collect(),
        joined: true,
    };
    let of_engine = |engine: &str| {
        let of = rows.iter().filter(|row| row.engine == engine);
        let points = of.map(|row| (place(row).0, place(row).1, told(row))).collect();
        Series { name: engine.to_owned(), colour: colour(engine), points, joined: false }
    };
    let engines = distinct(rows, |row| row.engine.as_str());
    let series: Vec<Series> = std::iter::once(front).chain(engines.into_iter().map(of_engine)).collect();
    let x = Logarithmic::decades(rows.iter().map(|row| place(row).0), bytes)?;
    let y = Logarithmic::decades(rows.iter().map(|row| place(row).1), decade)?;
    let names: Vec<String> = best
        .iter()
        .map(|row| format!("{} {}", row.engine, row.codec.as_deref().unwrap_or_default()))
        .collect();
    let unbeaten = Element::new("p").text(&format!("Not beaten in both: {}", names.join(", ")));
    let card = figure(title, "").class("card").child(plot(title, &series, &x, &y, 240.0)).child(unbeaten);
    Some(card.to_string())
}

/// Returns the verified rows that no other verified row beats in both time and bytes, smallest first.
fn frontier<'a>(rows: &[&'a Row]) -> Vec<&'a Row> {
    let mut sorted: Vec<&Row> = rows.iter().copied().filter(|row| row.verified).collect();
    sorted.sort_by(|a, b| a.bytes.cmp(&b.bytes).then(a.median_us.total_cmp(&b.median_us)));
    let mut best: Vec<&Row> = Vec::new();
    for row in sorted {
        if best.last().is_none_or(|last| row.median_us < last.median_us) {
            best.push(row);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frontier_holds_what_nothing_beats_in_both() {
        let row = |engine: &str, bytes: u64, median: f64| Row {
            bytes: Some(bytes),
            ..Row::example(engine, "serialise", 4096, median)
        };
        let rows = [
            row("small", 10, 9.0),
            row("beaten", 20, 9.5),
            row("middle", 20, 5.0),
            row("fast", 40, 1.0),
            row("large", 50, 1.0),
            Row { verified: false, ..row("wrong", 1, 0.1) },
        ];
        let rows: Vec<&Row> = rows.iter().collect();
        let names: Vec<&str> = frontier(&rows).iter().map(|row| row.engine.as_str()).collect();
        assert_eq!(names, ["small", "middle", "fast"]);
    }
}
