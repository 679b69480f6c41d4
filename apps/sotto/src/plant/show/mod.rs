//! Answers for people.

#[cfg(test)]
pub(crate) mod fixture;
mod histogram;
mod html;
mod plot;
mod scale;
mod series;
mod table;
mod time;

pub(crate) use html::html;
pub(crate) use plot::plot;
pub(crate) use table::{answer_text, counted, explanation, number, rounded_up, table_of};
