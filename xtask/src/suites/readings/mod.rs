//! Readings as they really come: files of public reports with their right results, and messes made of a clean series, which
//! must give the clean answer.

mod cases;
mod forgetful;
mod messes;
mod page;
mod series;

use anyhow::Result;

use super::ask::run_parts;
use super::compile::passes;
use crate::cargo;
use crate::suite::{Context, Outcome};
pub(crate) use cases::command;

/// Runs every case, and 100 messes.
pub(crate) fn run(context: &Context) -> Result<Outcome> {
    run_parts(context, &[("cases", cases::run), ("messes", messes::run)])
}

/// Makes 20,000 messes up to the packed windows, of plain gauges and of all kinds, by the agent's property tests.
pub(crate) fn deep(context: &Context) -> Result<Outcome> {
    let mut test = cargo::cargo();
    test.args(["test", "--locked", "--release", "--package=sotto-agent", "--lib", "set_of_readings"]);
    test.args(["--", "--nocapture"]).env("SOTTO_MESSES", "20000");
    passes(context, test)
}
