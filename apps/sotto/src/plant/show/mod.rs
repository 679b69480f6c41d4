//! Answers for people.

mod columns;
mod cycles;
mod explained;
#[cfg(test)]
pub(crate) mod fixture;
mod histogram;
mod html;
mod number;
mod plot;
mod series;
mod table;

pub(crate) use columns::subject;
pub(crate) use explained::explained;
pub(crate) use html::{html, report};
pub(crate) use number::{ago, counted, number, rounded_up};
pub(crate) use plot::plot;
pub(crate) use series::base;
pub(crate) use table::{answer_text, cycles, steps, table_of};
