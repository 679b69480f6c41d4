//! Runs random programs against other libraries: `conformance/tests/it/differential`. Installs the engines first; a failed
//! installation is a fault.

use super::compile::passes;
use crate::suite::{Context, Outcome};
use anyhow::Result;
use sotto_harness::{Engine, LATTIGO, SEAL};

/// Programs of each scheme, in the usual run and in a deep one.
const SAMPLE: u32 = 50;
const ALL: u32 = 1000;

pub(crate) fn sample(context: &Context) -> Result<Outcome> {
    against(context, &[&SEAL], SAMPLE, &["differential::seal_"])
}

pub(crate) fn all(context: &Context) -> Result<Outcome> {
    against(context, &[&SEAL, &LATTIGO], ALL, &["differential::"])
}

fn against(context: &Context, engines: &[&Engine], programs: u32, only: &[&str]) -> Result<Outcome> {
    for engine in engines {
        let installed = engine.install()?;
        println!("{}: {}", engine.name, installed.program.display());
    }
    let mut test = context.built()?.tests_of("conformance", only)?;
    test.env("SOTTO_DIFFERENTIAL", programs.to_string());
    passes(context, test)
}
