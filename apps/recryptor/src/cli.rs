//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use sotto_service::settings::Given;

use crate::config::Settings;

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
    Run(Box<Given<Settings>>),
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
    /// Check a file, and the certificates, keys, callers and folders that it names, as a start does.
    Validate {
        /// The file.
        file: PathBuf,
    },
}
