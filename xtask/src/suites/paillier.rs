//! Runs Paillier against python-paillier in both directions: `spec/paillier_compare.py`.

use super::compile::passes;
use crate::suite::{Context, Outcome};
use anyhow::Result;
use sotto_harness::PYTHON_PAILLIER;
use std::process::Command;

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let installed = match PYTHON_PAILLIER.install() {
        Ok(installed) => installed,
        Err(error) => return Ok(Outcome::Skipped(format!("python-paillier cannot be installed: {error}"))),
    };
    let ours = context.built()?.example("crates/decrypt", "paillier_lines")?;
    let mut compare = Command::new(installed.program);
    compare.arg("spec/paillier_compare.py").arg(ours);
    passes(context, compare)
}
