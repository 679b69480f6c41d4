//! The command line.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};

use crate::config::{Config, Settings};

/// Stores what devices encrypted and computes on it; holds no secret key.
#[derive(Debug, Parser)]
#[command(name = "sotto-cloud", version)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Take in, store, evaluate and serve until a signal comes.
    Run(Box<RunArguments>),
    /// Copy the store, of a running cloud too, to a folder; one that has an earlier backup takes what is new.
    Backup {
        /// The folder.
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
        /// The configuration.
        #[command(flatten)]
        arguments: Box<RunArguments>,
    },
    /// Put a backup in the place of the store. What is there is moved aside, not deleted.
    Restore {
        /// The folder of the backup.
        #[arg(long, value_name = "DIR")]
        from: PathBuf,
        /// The configuration.
        #[command(flatten)]
        arguments: Box<RunArguments>,
    },
    /// Make the database again from the envelopes: where it was lost, or is older than they are.
    Rebuild(Box<RunArguments>),
    /// Print the key that the owner checks receipts and transcripts with.
    Key(Box<RunArguments>),
    /// Show or check configuration files.
    #[command(subcommand)]
    Config(ConfigCommand),
}

/// Configuration files.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Print a file with every key, its default and what it does.
    PrintDefault,
    /// Check a file.
    Validate {
        /// The file.
        file: PathBuf,
    },
}

/// A flag goes before its environment variable, that before the file, that before the default.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// A configuration file; `config print-default` shows one.
    #[arg(long, env = "SOTTO_CLOUD_CONFIG", value_name = "FILE")]
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
