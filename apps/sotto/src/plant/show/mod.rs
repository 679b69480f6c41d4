//! Answers for people.

#[cfg(test)]
pub(crate) mod fixture;
mod html;
mod plot;
mod scale;
mod series;
mod table;
mod time;

pub(crate) use html::html;
pub(crate) use plot::plot;
pub(crate) use table::{counted, explanation, number, table, table_of};
