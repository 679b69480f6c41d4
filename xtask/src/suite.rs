//! The types of suites: a row of the table, its input, its outcome.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use anyhow::{Context as _, Result};

use crate::built::Built;
use crate::tools::Tool;

/// The runs that include a suite that is not named. Each includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// `cargo ci quick`: at most three minutes when little has changed.
    Quick,
    /// `cargo ci`.
    Usual,
    /// `cargo ci deep`.
    Deep,
}

/// One row of the table of suites.
pub(crate) struct Suite {
    pub(crate) name: &'static str,
    /// The property that the suite shows, for `--list` and its headline.
    pub(crate) shows: &'static str,
    pub(crate) depth: Depth,
    /// True if it waits much, or computes on one core, so that it runs beside the others once everything is built.
    pub(crate) beside: bool,
    pub(crate) needs: &'static [&'static Tool],
    pub(crate) run: fn(&Context) -> Result<Outcome>,
}

/// The input of a suite.
pub(crate) struct Context {
    /// The root of the checkout.
    pub(crate) root: PathBuf,
    /// The list of what another process built.
    list: Option<PathBuf>,
    built: OnceLock<Built>,
}

impl Context {
    /// Takes the executables from a list that [`Built::write`] made, if there is one.
    pub(crate) fn new(root: PathBuf, list: Option<PathBuf>) -> Self {
        Self { root, list, built: OnceLock::new() }
    }

    /// Returns true if the executables are known.
    pub(crate) fn is_built(&self) -> bool {
        self.built.get().is_some()
    }

    /// Returns the executables of the workspace. Without a list the first call builds them.
    pub(crate) fn built(&self) -> Result<&Built> {
        if let Some(built) = self.built.get() {
            return Ok(built);
        }
        let built = match &self.list {
            Some(list) => Built::read(&self.root, list)?,
            None => Built::make(&self.root)?,
        };
        Ok(self.built.get_or_init(|| built))
    }

    /// Returns the folder of the workspace's programs.
    pub(crate) fn programs(&self) -> Result<&Path> {
        self.built()?.program("sotto")?.parent().context("a program is in a folder")
    }
}

/// The outcome of a suite. A returned error counts as a failure too.
pub(crate) enum Outcome {
    Passed,
    /// The faults, one line each.
    Failed(Vec<String>),
    /// The reason why it did not run.
    Skipped(String),
}

impl Outcome {
    /// Returns `Passed` if there are no faults.
    pub(crate) fn from_faults(faults: Vec<String>) -> Self {
        if faults.is_empty() { Self::Passed } else { Self::Failed(faults) }
    }
}

/// A suite that has run.
pub(crate) struct Row {
    pub(crate) name: &'static str,
    pub(crate) outcome: Outcome,
    pub(crate) seconds: f64,
}

/// Names the parts of a suite, or the words in names of tests, that run alone, divided by commas.
pub(crate) const PARTS: &str = "SOTTO_PARTS";

/// Returns the parts that run alone, or None if all run.
pub(crate) fn parts() -> Option<Vec<String>> {
    let parts = std::env::var(PARTS).ok()?;
    Some(parts.split(',').map(|part| part.trim().to_owned()).collect())
}
