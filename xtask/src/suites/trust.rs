//! Runs clouds that lie, whose lies the owner must find.

use anyhow::{Context as _, Result};

use super::compile::passes;
use crate::suite::{Context, Outcome};

/// Runs the lies of `conformance/tests/trust` against the programs.
pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let built = context.built()?;
    let programs = built.program("sotto")?.parent().context("a program is in a folder")?;
    let mut test = built.target("conformance", "trust")?;
    test.arg("--nocapture").env("SOTTO_PROGRAMS", programs);
    passes(context, test)
}
