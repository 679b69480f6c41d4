//! The command line.

#[cfg(feature = "gateway")]
mod collect;
#[cfg(feature = "gateway")]
mod gateway;
mod read;
mod refused;
mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{ArgGroup, Args, Parser, Subcommand};

#[cfg(feature = "gateway")]
pub use collect::{CollectArguments, MqttVersion};
#[cfg(feature = "gateway")]
pub use gateway::{GatewayArguments, Listen, NotAnEndpoint};
pub use read::{NotAPair, NotTogether, Pair, ReadArguments, SourceKind};
pub use values::{DecimalMark, NoMark, OfChannel};

use crate::bundle::spool_of;
use crate::pinned::CloudKey;
use crate::spool::Keep;

/// The program on a device: reads sensors, packs and encrypts windows of readings, keeps them in a spool and sends them
/// to the cloud.
#[derive(Debug, Parser)]
#[command(name = "sotto-agent", version, about)]
pub struct Arguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
}

impl Arguments {
    /// Parses a command line, the program's name first.
    ///
    /// # Errors
    /// [`clap::Error`] with the text to show and the exit code.
    pub fn read(words: impl IntoIterator<Item: Into<OsString> + Clone>) -> Result<Self, clap::Error> {
        Self::try_parse_from(words).map_err(refused::explained)
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Read, pack, encrypt, spool, send
    Run(Box<RunArguments>),
    /// Read a source to its end and count the readings that `run` would send; send nothing
    Check(Box<CheckArguments>),
    /// Show the waiting and the refused messages, and the time up to which each stream is sent; works while `run` is
    /// active
    Status(StatusArguments),
    /// Send refused messages again; a message whose sequence number is taken gets a new one
    Requeue(RequeueArguments),
    /// Show the readings of this machine's sensors now
    Sources(SourcesArguments),
}

/// The device, its spool and its cloud.
#[derive(Args, Clone, Debug)]
pub struct DeviceArguments {
    /// The device's bundle: its keys, the address of its cloud, and its profile
    #[arg(long, value_name = "FILE", required = false, default_value = ".", hide_default_value = true)]
    pub bundle: PathBuf,
    /// Where to send: http://… or https://… [default: the address in the bundle]
    #[arg(long, value_name = "URL")]
    pub cloud: Option<String>,
    /// PEM file with the certificate of the authority that signs the cloud's certificate [default: the one in the
    /// bundle, else Mozilla's list]
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Key with which the cloud signs receipts, 64 hexadecimal digits; may be repeated [default: those in the bundle]
    #[arg(long, value_name = "KEY")]
    pub cloud_key: Vec<CloudKey>,
    /// Folder of this device alone, for unconfirmed messages and sequence numbers [default: beside the bundle]
    #[arg(long, value_name = "DIR")]
    pub spool: Option<PathBuf>,
    /// Limit in bytes on the waiting messages, and on the refused ones by themselves; reading stops while the waiting
    /// messages leave no room
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    pub spool_limit: u64,
    /// For how long messages are kept that the cloud has confirmed. A cloud that was restored from an older backup lacks
    /// them: they are sent again once the owner has accepted its log (`sotto cloud accept`). 0s keeps none
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = values::long_duration)]
    pub keep: i64,
    /// Limit in bytes on the messages that are kept, each counted with at least 4,096; the oldest go first
    #[arg(long, value_name = "BYTES", default_value_t = 64 << 20)]
    pub keep_bytes: u64,
}

impl DeviceArguments {
    /// Returns the folder of the spool.
    #[must_use]
    pub fn spool_folder(&self) -> PathBuf {
        self.spool.clone().unwrap_or_else(|| spool_of(&self.bundle))
    }

    /// Returns for how long confirmed messages are kept, and how many.
    #[must_use]
    pub fn keep(&self) -> Keep {
        Keep { time: self.keep, bytes: self.keep_bytes }
    }
}

/// Arguments of `run`.
#[derive(Args, Debug)]
#[cfg_attr(feature = "gateway", command(group = ArgGroup::new("of").required(true).args(["bundle", "devices"])))]
#[cfg_attr(not(feature = "gateway"), command(group = ArgGroup::new("of").required(true).args(["bundle"])))]
pub struct RunArguments {
    /// The device
    #[command(flatten)]
    pub device: DeviceArguments,
    /// The source
    #[command(flatten)]
    pub read: ReadArguments,
    /// Many devices
    #[cfg(feature = "gateway")]
    #[command(flatten)]
    pub gateway: GatewayArguments,
    /// Send exactly one window per stream, and end when the cloud has confirmed all messages in the spool
    #[arg(long)]
    pub once: bool,
    /// Send the readings of the files in the place of those that were sent of their time
    #[arg(long)]
    pub correct: bool,
    /// With --correct: take readings out that were sent and are not in the files
    #[arg(long, requires = "correct")]
    pub allow_missing: bool,
    /// For how long the readings of states, counters, amounts, held channels and products are kept after they were sent:
    /// a late reading of that time changes them
    #[arg(long, value_name = "TIME", default_value = "7d", value_parser = values::long_duration)]
    pub late: i64,
    /// Send pieces of windows that are still open, at multiples of this time by the clock: answers and alarms are as old at
    /// most. For sources that arrive over time. The whole window comes in their place at its end
    #[arg(long, value_name = "TIME", value_parser = values::duration, conflicts_with = "correct")]
    pub fresh: Option<u32>,
    /// End after N rows of the source, as at the end of a file: partly filled windows are closed and sent
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub ticks: Option<u64>,
    /// Print the summary at the end to standard output, as JSON
    #[arg(long)]
    pub json: bool,
    /// Write a report of the run to this file at the end, as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// For demonstrations and tests only: write the readings to this file IN THE CLEAR at the end, as JSON
    #[arg(long, value_name = "FILE")]
    pub clear_log: Option<PathBuf>,
    /// End as soon as standard input ends
    #[arg(long, conflicts_with = "stdin")]
    pub exit_with_stdin: bool,
}

/// Arguments of `check`.
#[derive(Args, Debug)]
#[cfg_attr(feature = "gateway", command(group = ArgGroup::new("of").required(true).multiple(true).args(collect::OF_CHECK)))]
#[cfg_attr(not(feature = "gateway"), command(group = ArgGroup::new("of").required(true).args(["bundle"])))]
pub struct CheckArguments {
    /// The device's bundle
    #[arg(long, value_name = "FILE", required = false, default_value = ".", hide_default_value = true)]
    pub bundle: PathBuf,
    /// The device's spool: readings before the end of its last window count as already sent [default: beside the
    /// bundle]
    #[arg(long, value_name = "DIR")]
    pub spool: Option<PathBuf>,
    /// The source
    #[command(flatten)]
    pub read: ReadArguments,
    /// Many devices
    #[cfg(feature = "gateway")]
    #[command(flatten)]
    pub gateway: GatewayArguments,
    /// With --devices or --mqtt and the like: how long to listen
    #[cfg(feature = "gateway")]
    #[arg(id = "for", long = "for", value_name = "TIME", default_value = "1m", value_parser = values::duration)]
    pub time: u32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `requeue`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("of").required(true).args(["bundle"]))]
pub struct RequeueArguments {
    /// The device
    #[command(flatten)]
    pub device: DeviceArguments,
}

/// Arguments of `status`.
#[derive(Args, Debug)]
#[cfg_attr(feature = "gateway", command(group = ArgGroup::new("of").required(true).multiple(true).args(["bundle", "spool", "devices"])))]
#[cfg_attr(not(feature = "gateway"), command(group = ArgGroup::new("of").required(true).multiple(true).args(["bundle", "spool"])))]
pub struct StatusArguments {
    /// The device's bundle: times are shown in its time zone
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
    /// The spool [default: beside the bundle]
    #[arg(long, value_name = "DIR")]
    pub spool: Option<PathBuf>,
    /// A folder of bundles: shows all of its devices, and the gateway that runs them
    #[cfg(feature = "gateway")]
    #[arg(long, value_name = "DIR", conflicts_with_all = ["bundle", "spool"])]
    pub devices: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `sources`.
#[derive(Args, Debug)]
pub struct SourcesArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}
