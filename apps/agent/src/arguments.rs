//! The command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

/// The device: reads sensors, packs and encrypts windows of readings, keeps them in a spool and sends them to the cloud.
#[derive(Debug, Parser)]
#[command(name = "sotto-agent", version, about)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Read, pack, encrypt, spool, send
    Run(Box<RunArguments>),
    /// Make the device's signing key if there is none, and print its public half
    Enrol(EnrolArguments),
    /// Show what this machine's sensors give now
    Sources(SourcesArguments),
}

/// Arguments of `run`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("key").required(true).args(["secret_key", "public_key"]))]
pub struct RunArguments {
    /// What to send: the profile that the owner wrote
    #[arg(long, value_name = "FILE")]
    pub profile: PathBuf,
    /// Where to send it: http://… or https://…
    #[arg(long, value_name = "URL")]
    pub cloud: String,
    /// The device's secret: ciphertexts are half as long
    #[arg(long, value_name = "FILE")]
    pub secret_key: Option<PathBuf>,
    /// A public key for the parameters of one or more streams; may be repeated. No secret key is in the process then
    #[arg(long, value_name = "FILE")]
    pub public_key: Vec<PathBuf>,
    /// The device's signing key, see `enrol`
    #[arg(long, value_name = "FILE")]
    pub signing_key: PathBuf,
    /// Folder for what the cloud has not confirmed yet, and for the sequence numbers: one a device
    #[arg(long, value_name = "DIR")]
    pub spool: PathBuf,
    /// Most bytes of the spool, refused messages included; when it is full, reading stops until there is room
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    pub spool_limit: u64,
    /// What to read
    #[command(flatten)]
    pub source: SourceArguments,
    /// Send exactly one window a stream, and end when the cloud has confirmed all that is in the spool
    #[arg(long)]
    pub once: bool,
    /// Write what was done to this file at the end, as JSON
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// For demonstrations and tests only: write the readings to this file IN THE CLEAR at the end, as JSON
    #[arg(long, value_name = "FILE")]
    pub clear_log: Option<PathBuf>,
    /// End as soon as standard input ends
    #[arg(long)]
    pub exit_with_stdin: bool,
}

/// What to read.
#[derive(Args, Debug, Clone, Default)]
pub struct SourceArguments {
    /// Sensors of this machine, a file, or a seeded generator [default: csv with --csv, otherwise sensors]
    #[arg(long, value_enum)]
    pub source: Option<SourceKind>,
    /// A file of comma-separated values with a header
    #[arg(long, value_name = "FILE", requires = "column", required_if_eq("source", "csv"))]
    pub csv: Option<PathBuf>,
    /// The column to read
    #[arg(long, value_name = "NAME", requires = "csv")]
    pub column: Option<String>,
    /// Only these rows, counted from 0 without the header; TO is not among them
    #[arg(long, value_name = "FROM..TO", requires = "csv")]
    pub rows: Option<RowRange>,
    /// The smallest value there can be; otherwise the smallest in the whole file
    #[arg(long, value_name = "X", requires_all = ["csv", "maximum"], allow_negative_numbers = true)]
    pub minimum: Option<f64>,
    /// The largest value there can be; otherwise the largest in the whole file
    #[arg(long, value_name = "Y", requires_all = ["csv", "minimum"], allow_negative_numbers = true)]
    pub maximum: Option<f64>,
    /// Seed of the generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Kinds of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SourceKind {
    /// This machine's sensors; the generator if they cannot be read.
    Sensors,
    /// A column of a file.
    Csv,
    /// A seeded generator.
    Generate,
}

/// Arguments of `enrol`.
#[derive(Args, Debug)]
pub struct EnrolArguments {
    /// The file, made with mode 0600 if it is not there
    #[arg(long, value_name = "FILE")]
    pub signing_key: PathBuf,
}

/// Arguments of `sources`.
#[derive(Args, Debug)]
pub struct SourcesArguments {
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Rows of a file, from the first and to before the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowRange {
    /// The first.
    pub from: u64,
    /// The one after the last.
    pub to: u64,
}

/// Not `FROM..TO`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rows are given as FROM..TO, two whole numbers, the first below the second")]
pub struct NotRows;

impl FromStr for RowRange {
    type Err = NotRows;

    fn from_str(text: &str) -> Result<Self, NotRows> {
        let (from, to) = text.split_once("..").ok_or(NotRows)?;
        let number = |text: &str| text.parse::<u64>().map_err(|_| NotRows);
        let range = Self { from: number(from)?, to: number(to)? };
        if range.from < range.to { Ok(range) } else { Err(NotRows) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(extra: &[&str]) -> Result<RunArguments, clap::Error> {
        let start = ["sotto-agent", "run", "--profile", "p", "--cloud", "http://c", "--signing-key", "s"];
        let all = start.iter().chain(&["--spool", "d"]).chain(extra);
        match Arguments::try_parse_from(all)?.command {
            Command::Run(run) => Ok(*run),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_device_has_one_secret_key_or_public_keys() {
        assert!(run(&["--secret-key", "k"]).is_ok());
        assert_eq!(run(&["--public-key", "a", "--public-key", "b"]).unwrap().public_key.len(), 2);
        assert!(run(&[]).is_err());
        assert!(run(&["--secret-key", "k", "--public-key", "a"]).is_err());
    }

    #[test]
    fn a_file_needs_its_column_and_a_range_both_its_ends() {
        let with = |extra: &[&str]| run(&[&["--secret-key", "k"], extra].concat());
        assert!(with(&["--source", "csv"]).is_err());
        assert!(with(&["--csv", "f"]).is_err());
        assert!(with(&["--column", "c"]).is_err());
        assert!(with(&["--csv", "f", "--column", "c", "--minimum", "-4"]).is_err());
        let all = ["--csv", "f", "--column", "c", "--minimum", "-4", "--maximum", "-1.5", "--rows", "3..7"];
        let source = with(&all).unwrap().source;
        assert_eq!((source.minimum, source.maximum), (Some(-4.0), Some(-1.5)));
        assert_eq!(source.rows, Some(RowRange { from: 3, to: 7 }));
    }

    #[test]
    fn rows_are_two_numbers_in_order() {
        assert_eq!("0..10".parse(), Ok(RowRange { from: 0, to: 10 }));
        for wrong in ["", "..", "1..", "..2", "2..2", "3..2", "-1..2", "1-2", "a..b"] {
            assert_eq!(wrong.parse::<RowRange>(), Err(NotRows), "{wrong}");
        }
    }
}
