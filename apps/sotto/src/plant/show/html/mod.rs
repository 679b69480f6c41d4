//! An answer as one self-contained page, which needs no other file and no network.

mod comparison;
mod computed;
mod figure;
mod map;
mod recurring;
mod report;
mod rows;
mod text;
mod timeline;

#[cfg(test)]
mod tests;

use sotto_chart::{DARK, LIGHT, MARKS, escape};
use sotto_owner::Answer;

use super::cycles;
use super::histogram::histograms;
use super::series::series;
pub(crate) use report::report;

/// Returns the page: a chart for each result, all rows, the steps of the computation.
pub(crate) fn html(answer: &Answer) -> String {
    text::fill(
        include_str!("page.html"),
        &[
            ("question", &escape(&answer.question)),
            ("style", &style()),
            ("facts", &computed::facts(answer)),
            ("charts", &charts(answer).join("\n")),
            ("rows", &rows::rows(answer)),
            ("computed", &computed::computed(answer)),
            ("script", script()),
        ],
    )
}

/// Returns the figures of an answer: those over time, those of groups that recur, histograms.
fn charts(answer: &Answer) -> Vec<String> {
    let mut charts: Vec<String> = series(answer).iter().map(figure::figure).collect();
    charts.extend(cycles::recurring(answer).iter().flat_map(recurring::figures));
    charts.extend(histograms(&answer.rows).iter().flat_map(map::figures));
    charts
}

fn style() -> String {
    [LIGHT, DARK, MARKS, include_str!("page.css")].concat()
}

fn script() -> &'static str {
    include_str!("hover.js")
}
