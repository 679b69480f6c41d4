//! Answers for people.

mod html;
mod plot;
mod table;

pub(crate) use html::html;
pub(crate) use plot::plot;
pub(crate) use table::{counted, explanation, left_out, remarks, table};
