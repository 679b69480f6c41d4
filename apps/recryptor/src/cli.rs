//! The command line.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};

use crate::config::{Config, Settings};

/// Holds the keys of the partially homomorphic lane, and answers what the cloud cannot compute without them.
#[derive(Debug, Parser)]
#[command(name = "sotto-recryptor", version)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answer batches until a signal comes.
    Run(Box<RunArguments>),
    /// Show what was asked: counts a day and caller, never values. While it runs or not.
    Audit {
        /// Folder of the ledger.
        #[arg(long, env = "SOTTO_RECRYPTOR_DATA", value_name = "DIR")]
        data: PathBuf,
        /// As JSON.
        #[arg(long)]
        json: bool,
    },
    /// Show or check configuration files.
    #[command(subcommand)]
    Config(ConfigCommand),
}

/// Configuration files.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print a file with every key, its default and what it does.
    PrintDefault,
}

/// A flag goes before its environment variable, that before the file, that before the default.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// A configuration file; `config print-default` shows one.
    #[arg(long, env = "SOTTO_RECRYPTOR_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

impl RunArguments {
    /// The configuration that these arguments and the file that they name make.
    pub fn settle(self) -> anyhow::Result<Config> {
        let file = match &self.config {
            Some(file) => Settings::read(file)?,
            None => Settings::default(),
        };
        Config::new(self.settings.or(file)).context("the configuration cannot be used")
    }
}
