//! Builds the lake with its own lock file, tests it, and runs its guide.

use anyhow::Result;

use super::compile::{passes, side_target};
use crate::cargo;
use crate::guide;
use crate::suite::{Context, Outcome};

/// The lake is no part of the workspace.
const MANIFEST: &str = "apps/lake/Cargo.toml";

pub(crate) fn run(context: &Context) -> Result<Outcome> {
    let target = side_target(context, "lake")?;
    let cargo = |command: &str| {
        let mut cargo = cargo::command("cargo");
        cargo.args([command, "--release", "--locked", "--manifest-path", MANIFEST]);
        cargo.arg("--target-dir").arg(&target);
        cargo
    };
    let mut lints = cargo("clippy");
    lints.args(["--all-targets", "--", "--deny", "warnings"]);
    for command in [cargo("build"), cargo("test"), lints] {
        match passes(context, command)? {
            Outcome::Passed => {}
            other => return Ok(other),
        }
    }
    guide::of_lake(context, &target.join("release"))
}
