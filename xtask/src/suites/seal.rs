//! Exchanges files with SEAL in both directions: `conformance/tests/it/seal`, and the guide from TenSEAL. The wheel is
//! installed first; without it the suite is skipped. Pyfhel takes minutes to build: it is used if installed, and built
//! only in the deep suite.

use super::compile::passes;
use crate::suite::{Context, Outcome};
use anyhow::Result;
use sotto_harness::{Engine, PYFHEL, SEAL};

pub(crate) fn wheel(context: &Context) -> Result<Outcome> {
    let exchanged = against(context, &SEAL, &["seal::"])?;
    if !matches!(exchanged, Outcome::Passed) {
        return Ok(exchanged);
    }
    let mut guide = context.built()?.tests_of("apps/sotto", &["guide::"])?;
    guide.env("SOTTO_SEAL", SEAL.name);
    passes(context, guide)
}

pub(crate) fn bgv(context: &Context) -> Result<Outcome> {
    against(context, &PYFHEL, &["seal::pyfhel_"])
}

fn against(context: &Context, engine: &Engine, only: &[&str]) -> Result<Outcome> {
    match engine.install() {
        Ok(installed) => println!("{}: {}", engine.name, installed.program.display()),
        Err(error) => return Ok(Outcome::Skipped(error.to_string())),
    }
    let mut test = context.built()?.tests_of("conformance", only)?;
    test.env("SOTTO_SEAL", engine.name);
    passes(context, test)
}
