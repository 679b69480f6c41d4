//! Commands.

use std::process::ExitCode;

/// A command of `sotto` with its arguments.
pub(crate) trait Run {
    /// Returns the exit code; an error is printed by `main`.
    fn run(self) -> anyhow::Result<ExitCode>;
}
