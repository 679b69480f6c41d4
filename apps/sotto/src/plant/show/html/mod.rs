//! An answer as one self-contained page, which needs no other file and no network.

mod comparison;
mod computed;
mod figure;
mod map;
mod rows;
mod text;
mod timeline;

#[cfg(test)]
mod tests;

use sotto_chart::{DARK, LIGHT, MARKS, escape};
use sotto_owner::Answer;

use super::histogram::histograms;
use super::series::series;

/// Returns the page: a chart for each result, all rows, the steps of the computation.
pub(crate) fn html(answer: &Answer) -> String {
    let mut charts: Vec<String> = series(answer).iter().map(figure::figure).collect();
    charts.extend(histograms(&answer.rows).iter().flat_map(map::figures));
    text::fill(
        include_str!("page.html"),
        &[
            ("question", &escape(&answer.question)),
            ("style", &[LIGHT, DARK, MARKS, include_str!("page.css")].concat()),
            ("facts", &computed::facts(answer)),
            ("charts", &charts.join("\n")),
            ("rows", &rows::rows(answer)),
            ("computed", &computed::computed(answer)),
            ("script", include_str!("hover.js")),
        ],
    )
}
