//! The command line.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};

use crate::config::{Config, Settings};

/// Holds the keys of the partially homomorphic schemes, and answers requests that the cloud cannot compute without
/// them.
#[derive(Debug, Parser)]
#[command(name = "sotto-recryptor", version)]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Answer batches until a signal comes.
    Run(Box<RunArguments>),
    /// Show counts by day and caller, never values; works while the recryptor runs.
    Audit {
        /// Folder of the ledger.
        #[arg(long, env = "SOTTO_RECRYPTOR_DATA", value_name = "DIR")]
        data: PathBuf,
        /// Print JSON.
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
    /// Print a file with every key, its default and its meaning.
    PrintDefault,
}

/// Sources of settings. A flag overrides its environment variable, which overrides the file, which overrides the
/// default.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The configuration file; `config print-default` prints an example.
    #[arg(long, env = "SOTTO_RECRYPTOR_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

impl RunArguments {
    /// Merges these arguments with the file that they name into a configuration.
    ///
    /// # Errors
    /// The file cannot be read, or a setting is invalid.
    pub fn settle(self) -> anyhow::Result<Config> {
        let file = match &self.config {
            Some(file) => Settings::read(file)?,
            None => Settings::default(),
        };
        Config::new(self.settings.or(file)).context("the configuration cannot be used")
    }
}
