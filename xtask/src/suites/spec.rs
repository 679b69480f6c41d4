//! Tests the schemes in plain Python, and compares the vectors that they make with the kept ones.

use super::compile::passes;
use crate::cargo;
use crate::suite::{Context, Outcome};
use anyhow::Result;

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let checks: [&[&str]; 4] = [
        &["-m", "unittest", "spec.test_spec"],
        &["-m", "spec.vectors", "--check"],
        &["-m", "spec.gaussian", "--check"],
        &["-m", "spec.sign", "--check"],
    ];
    for args in checks {
        let mut python = cargo::command("python3");
        let outcome = passes(context, {
            python.args(args).env("PYTHONDONTWRITEBYTECODE", "1");
            python
        })?;
        if let Outcome::Failed(_) = outcome {
            return Ok(outcome);
        }
    }
    Ok(Outcome::Passed)
}
