//! Runs clouds that lie, whose lies the owner must find.

use super::compile::passes;
use crate::cargo;
use crate::ci::{Context, Outcome};
use anyhow::{Context as _, Result};

/// Builds the programs and runs the lies against them.
pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let sotto = cargo::build_programs(&context.root)?;
    let programs = sotto.parent().context("a program is in a folder")?;
    let mut test = cargo::cargo();
    test.args(["test", "--release", "--workspace", "--test", "trust", "--", "--nocapture"]);
    test.env("SOTTO_PROGRAMS", programs);
    passes(context, test)
}
