//! The command line.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Parser, Subcommand};

use crate::config::{Config, Settings};

/// Stores encrypted data of devices and computes on it; holds no secret key.
#[derive(Debug, Parser)]
#[command(name = "sotto-cloud", version)]
pub struct Cli {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Accept uploads, store, evaluate and serve until a signal comes.
    Run(Box<RunArguments>),
    /// Copy the store to a folder, also while the cloud runs. A folder with an earlier backup only receives new files.
    Backup {
        /// The folder.
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
        /// The configuration.
        #[command(flatten)]
        arguments: Box<RunArguments>,
    },
    /// Replace the store by a backup. Existing files are moved aside, not deleted.
    Restore {
        /// The folder of the backup.
        #[arg(long, value_name = "DIR")]
        from: PathBuf,
        /// The configuration.
        #[command(flatten)]
        arguments: Box<RunArguments>,
    },
    /// Rebuild the database from the envelopes, if it was lost or is older than they are.
    Rebuild(Box<RunArguments>),
    /// Print the key with which the owner verifies receipts and transcripts.
    Key(Box<RunArguments>),
    /// Print the HTTP interface as an OpenAPI document.
    Openapi {
        /// Print it as a page of Markdown.
        #[arg(long)]
        markdown: bool,
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
    /// Check a file.
    Validate {
        /// The file.
        file: PathBuf,
    },
}

/// Sources of settings. A flag overrides its environment variable, which overrides the file, which overrides the
/// default.
#[derive(Debug, Args)]
pub struct RunArguments {
    /// The configuration file; `config print-default` prints an example.
    #[arg(long, env = "SOTTO_CLOUD_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

impl RunArguments {
    /// Merges these arguments with the file that they name into a configuration.
    ///
    /// # Errors
    /// The file cannot be read, or a setting is missing or invalid.
    pub fn settle(self) -> anyhow::Result<Config> {
        let file = match &self.config {
            Some(file) => Settings::read(file)?,
            None => Settings::default(),
        };
        Config::new(self.settings.or(file)).context("the configuration cannot be used")
    }
}
