//! Runs clouds that lie, whose lies the owner must find.

use anyhow::Result;

use super::compile::passes;
use crate::suite::{Context, Outcome};

/// Runs the lies of `conformance/tests/trust` against the programs.
pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let mut test = context.built()?.target("conformance", "trust")?;
    test.arg("--nocapture").env("SOTTO_PROGRAMS", context.programs()?);
    passes(context, test)
}
