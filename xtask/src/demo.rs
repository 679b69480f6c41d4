//! `cargo demo`: builds the programs, then becomes `sotto demo`.

use crate::{cargo, tools};
use anyhow::{Context as _, Result, bail};
use std::process::{Command, ExitCode};

pub(crate) fn run(args: &[String]) -> Result<ExitCode> {
    if tools::C_COMPILER.version().is_none() {
        bail!("cargo demo needs {}: {}", tools::C_COMPILER.name, tools::C_COMPILER.get);
    }
    let sotto = cargo::build_programs(&cargo::root()?)?;
    let mut command = cargo::command(&sotto);
    command.arg("demo").args(args);
    become_it(command).with_context(|| format!("cannot run {}", sotto.display()))
}

/// Replaces this process, so that signals go straight to the demo. Returns only if that fails.
#[cfg(unix)]
fn become_it(mut command: Command) -> std::io::Result<ExitCode> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_it(mut command: Command) -> std::io::Result<ExitCode> {
    let status = command.status()?;
    Ok(if status.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
