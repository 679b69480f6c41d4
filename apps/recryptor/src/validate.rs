//! `sotto-recryptor config validate`: checks a configuration as a start does.

use std::path::Path;

use anyhow::Context as _;
use sotto_service::{check, config, folder};

use crate::callers::Callers;
use crate::config::{Config, Settings};
use crate::recryptor::agent;

/// Checks a file, and the keys, callers and folders that it names, as a start does; makes none of them.
///
/// # Errors
/// Those of a start with this file.
pub fn validate(file: &Path) -> anyhow::Result<()> {
    checked(file).with_context(|| format!("{} cannot be used", file.display()))?;
    config::print(&format!("{}: can be used\n", file.display()))
}

fn checked(file: &Path) -> anyhow::Result<()> {
    let config = Config::new(Settings::read(file)?)?;
    check(&config.listening)?;
    agent(&config)?;
    Callers::read(&config.callers_file)?;
    folder::check(&config.data).with_context(|| format!("cannot open {}", config.data.display()))
}
