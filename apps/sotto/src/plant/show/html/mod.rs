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

use sotto_owner::Answer;

use super::histogram::histograms;
use super::series::series;

/// Returns the page: a chart for each result, all rows, the steps of the computation.
pub(crate) fn html(answer: &Answer) -> String {
    let charts: String =
        series(answer).iter().enumerate().map(|(at, series)| figure::figure(series, at)).collect();
    let charts: String =
        [charts].into_iter().chain(histograms(&answer.rows).iter().map(map::figures)).collect();
    text::fill(
        include_str!("page.html"),
        &[
            ("question", &text::escape(&answer.question)),
            ("style", include_str!("page.css")),
            ("facts", &computed::facts(answer)),
            ("charts", &charts),
            ("rows", &rows::rows(answer)),
            ("computed", &computed::computed(answer)),
            ("script", include_str!("hover.js")),
        ],
    )
}
