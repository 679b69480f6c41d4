//! Readings as they really come: files of public reports with their right results, and messes made of a clean series, which
//! must give the clean answer.

mod cases;
mod messes;
mod page;
mod series;

use anyhow::Result;

use super::ask::run_parts;
use crate::suite::{Context, Outcome};
pub(crate) use cases::command;

/// Runs every case, and a few messes.
pub(crate) fn run(context: &Context) -> Result<Outcome> {
    run_parts(context, &[("cases", cases::run), ("messes", messes::some)])
}

/// Runs 100 messes.
pub(crate) fn deep(context: &Context) -> Result<Outcome> {
    run_parts(context, &[("messes", messes::many)])
}
