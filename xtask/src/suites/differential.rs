//! Runs random programs against other libraries: `conformance/tests/differential`. Installs the engines first; a failed
//! installation is a fault.

use super::compile::passes;
use crate::cargo;
use crate::ci::{Context, Outcome};
use anyhow::Result;
use sotto_harness::{Engine, LATTIGO, SEAL};

/// Programs of each scheme, in the usual run and in a deep one.
const SAMPLE: u32 = 50;
const ALL: u32 = 1000;

pub(crate) fn sample(context: &Context) -> Result<Outcome> {
    against(context, &[&SEAL], SAMPLE, &["seal_"])
}

pub(crate) fn all(context: &Context) -> Result<Outcome> {
    against(context, &[&SEAL, &LATTIGO], ALL, &[])
}

fn against(context: &Context, engines: &[&Engine], programs: u32, only: &[&str]) -> Result<Outcome> {
    for engine in engines {
        let installed = engine.install()?;
        println!("{}: {}", engine.name, installed.program.display());
    }
    let mut test = cargo::cargo();
    test.args(["test", "--release", "--locked", "--package=sotto-conformance", "--test=differential", "--"]);
    test.args(only).arg("--nocapture").env("SOTTO_DIFFERENTIAL", programs.to_string());
    passes(context, test)
}
