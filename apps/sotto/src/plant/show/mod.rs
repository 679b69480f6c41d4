//! Answers for people.

#[cfg(test)]
pub(crate) mod fixture;
mod histogram;
mod html;
mod number;
mod plot;
mod series;
mod table;

pub(crate) use html::html;
pub(crate) use number::{ago, counted, number, rounded_up};
pub(crate) use plot::plot;
pub(crate) use table::{answer_text, explanation, table_of};
