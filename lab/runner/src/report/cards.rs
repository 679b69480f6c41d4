//! A card for each operation: its growth with n, and all engines at the largest n.

use sotto_chart::{Element, Logarithmic, figure};

use super::chart::{Series, bars, plot};
use super::format::{colour, duration};
use super::{Group, distinct};
use crate::row::Row;

pub(super) fn cards(group: &Group<'_>) -> String {
    let operations = distinct(&group.rows, Row::label);
    let cards = operations.iter().map(|operation| card(group, operation)).collect::<String>();
    format!("<div class=\"cards\">{cards}</div>")
}

fn card(group: &Group<'_>, operation: &str) -> String {
    let rows: Vec<&Row> = group.rows.iter().copied().filter(|row| row.label() == operation).collect();
    let mut sizes = distinct(&rows, |row| row.n);
    sizes.sort_unstable();
    let title = format!("{} {operation}", group.scheme);
    let lines = if sizes.len() > 1 { scaling(&title, &rows, &sizes) } else { None };
    let Some(largest) = sizes.last() else { return String::new() };
    let told = |row: &Row| {
        let unsure = if row.verified { "" } else { " ?" };
        format!("{}{unsure}", duration(row.median_us))
    };
    let at_largest = rows.iter().filter(|row| row.n == *largest);
    let values =
        at_largest.map(|row| (row.engine.clone(), colour(&row.engine), row.median_us, told(row))).collect();
    let size = Element::new("p").text(&format!("n = {largest}"));
    let card = figure(operation, "").class("card").children(lines).child(size);
    card.children(bars(&title, values)).to_string()
}

fn scaling(title: &str, rows: &[&Row], sizes: &[usize]) -> Option<Element> {
    let series = distinct(rows, |row| row.engine.as_str()).into_iter().map(|engine| {
        let mut of: Vec<&&Row> = rows.iter().filter(|row| row.engine == engine).collect();
        of.sort_by_key(|row| row.n);
        let told = |row: &Row| format!("n = {}, {}", row.n, duration(row.median_us));
        let points = of.iter().map(|row| (row.n as f64, row.median_us, told(row))).collect();
        Series { name: engine.to_owned(), colour: colour(engine), points, joined: true }
    });
    let sizes: Vec<f64> = sizes.iter().map(|n| *n as f64).collect();
    let x = Logarithmic::at(&sizes, |n| format!("{n}"))?;
    let y = Logarithmic::decades(rows.iter().map(|row| row.median_us), decade)?;
    Some(plot(&format!("{title} against n"), &series.collect::<Vec<_>>(), &x, &y, 200.0))
}

/// Formats a power of ten without a fraction.
pub(super) fn decade(us: f64) -> String {
    match us {
        us if us < 1.0 => format!("{} ns", us * 1e3),
        us if us < 1e3 => format!("{us} µs"),
        us if us < 1e6 => format!("{} ms", us / 1e3),
        us => format!("{} s", us / 1e6),
    }
}
