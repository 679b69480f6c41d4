//! The command line.

use std::path::PathBuf;

use clap::{Parser, Subcommand};
use sotto_service::settings::Given;

use crate::backups::{At, Days};
use crate::config::Settings;
use crate::objects::Place;

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
    Run(Box<Given<Settings>>),
    /// Copy the store to a folder or a bucket, also while the cloud runs. One with an earlier backup only receives new files.
    Backup {
        /// The folder, or s3://BUCKET/PREFIX.
        #[arg(long, value_name = "PLACE")]
        to: Place,
        /// How long the store can be restored to the moment of a backup: a number of days. The last one stays.
        #[arg(long, value_name = "DAYS", default_value_t)]
        keep: Days,
        /// The configuration.
        #[command(flatten)]
        given: Box<Given<Settings>>,
    },
    /// Replace the store by a backup. Existing files are moved aside, not deleted.
    Restore {
        /// The folder of the backup, or s3://BUCKET/PREFIX.
        #[arg(long, value_name = "PLACE")]
        from: Place,
        /// The last backup that is not after this time, in UTC unless it says else; the last of all if none is given.
        #[arg(long, value_name = "TIME")]
        at: Option<At>,
        /// Show the moments that the backup has, and restore nothing.
        #[arg(long)]
        list: bool,
        /// Print the list as JSON.
        #[arg(long, requires = "list")]
        json: bool,
        /// The configuration.
        #[command(flatten)]
        given: Box<Given<Settings>>,
    },
    /// Show what the store holds: windows, bytes, segments, files that could be freed. Also while the cloud runs.
    Store {
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// The configuration.
        #[command(flatten)]
        given: Box<Given<Settings>>,
    },
    /// Read everything and compare it with its digests and logs; exit code 1 if anything is damaged. Also while the cloud
    /// runs.
    Check {
        /// Verify the devices' signatures, too.
        #[arg(long)]
        signatures: bool,
        /// Print JSON.
        #[arg(long)]
        json: bool,
        /// The configuration.
        #[command(flatten)]
        given: Box<Given<Settings>>,
    },
    /// Repair damaged segments: from a backup, or by the windows of them whose signatures hold. Damaged files are moved to
    /// orphans/, not deleted.
    Repair {
        /// The folder of a backup, or s3://BUCKET/PREFIX.
        #[arg(long, value_name = "PLACE")]
        from: Option<Place>,
        /// The configuration.
        #[command(flatten)]
        given: Box<Given<Settings>>,
    },
    /// Bring a store of an earlier version to this one, as the next start does. Can be stopped and run again.
    Migrate {
        /// Show what would be done.
        #[arg(long)]
        dry_run: bool,
        /// The configuration.
        #[command(flatten)]
        given: Box<Given<Settings>>,
    },
    /// Write the windows of sums to Parquet files that other programs read. Also while the cloud runs.
    Export {
        /// The folder; made if it does not exist.
        #[arg(long, value_name = "DIR")]
        to: PathBuf,
        /// Only the streams of this device.
        #[arg(long, value_name = "NAME")]
        device: Option<String>,
        /// The configuration.
        #[command(flatten)]
        given: Box<Given<Settings>>,
    },
    /// Rebuild the database from the envelopes, if it was lost or is older than they are.
    Rebuild(Box<Given<Settings>>),
    /// Print the key with which the owner verifies receipts and transcripts.
    Key(Box<Given<Settings>>),
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
    /// Check a file, and the certificates, keys and folders that it names, as a start does.
    Validate {
        /// The file.
        file: PathBuf,
    },
}
