//! The command line.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};

use crate::pinned::CloudKey;

/// The program on a device: reads sensors, packs and encrypts windows of readings, keeps them in a spool and sends them
/// to the cloud.
#[derive(Debug, Parser)]
#[command(name = "sotto-agent", version, about)]
pub struct Arguments {
    /// The subcommand.
    #[command(subcommand)]
    pub command: Command,
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
    /// Make the device's signing key if it does not exist, and print its public half
    Enrol(EnrolArguments),
    /// Show the readings of this machine's sensors now
    Sources(SourcesArguments),
}

/// Arguments of `run`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("key").required(true).args(["bundle", "secret_key", "public_key"]))]
pub struct RunArguments {
    /// The device's bundle: its keys, the address of its cloud, and its profile
    #[arg(long, value_name = "FILE", conflicts_with_all = ["profile", "signing_key"])]
    pub bundle: Option<PathBuf>,
    /// Without a bundle: the profile that the owner wrote
    #[arg(long, value_name = "FILE", required_unless_present = "bundle")]
    pub profile: Option<PathBuf>,
    /// Where to send: http://… or https://… [default: the address in the bundle]
    #[arg(long, value_name = "URL", required_unless_present = "bundle")]
    pub cloud: Option<String>,
    /// PEM file with the certificate of the authority that signs the cloud's certificate [default: the one in the
    /// bundle, else Mozilla's list]
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Key with which the cloud signs receipts, 64 hexadecimal digits; may be repeated [default: those in the bundle]
    #[arg(long, value_name = "KEY")]
    pub cloud_key: Vec<CloudKey>,
    /// Without a bundle: the device's secret key; ciphertexts are half as long as under a public key
    #[arg(long, value_name = "FILE")]
    pub secret_key: Option<PathBuf>,
    /// Without a bundle: a public key for the parameters of one or more streams; may be repeated. The process then
    /// holds no secret key
    #[arg(long, value_name = "FILE")]
    pub public_key: Vec<PathBuf>,
    /// Without a bundle: the device's signing key, see `enrol`
    #[arg(long, value_name = "FILE", required_unless_present = "bundle")]
    pub signing_key: Option<PathBuf>,
    /// Folder of this device alone, for unconfirmed messages and sequence numbers [default: beside the bundle]
    #[arg(long, value_name = "DIR", required_unless_present = "bundle")]
    pub spool: Option<PathBuf>,
    /// Limit in bytes on the waiting messages, and on the refused ones by themselves; reading stops while the waiting
    /// messages leave no room
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    pub spool_limit: u64,
    /// The source
    #[command(flatten)]
    pub read: ReadArguments,
    /// Send exactly one window per stream, and end when the cloud has confirmed all messages in the spool
    #[arg(long)]
    pub once: bool,
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
pub struct CheckArguments {
    /// The device's bundle
    #[arg(long, value_name = "FILE")]
    pub bundle: PathBuf,
    /// The device's spool: readings before the end of its last window count as already sent [default: beside the
    /// bundle]
    #[arg(long, value_name = "DIR")]
    pub spool: Option<PathBuf>,
    /// The source
    #[command(flatten)]
    pub read: ReadArguments,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// Arguments of `requeue`.
#[derive(Args, Debug)]
pub struct RequeueArguments {
    /// The device's bundle
    #[arg(long, value_name = "FILE")]
    pub bundle: PathBuf,
    /// The spool [default: beside the bundle]
    #[arg(long, value_name = "DIR")]
    pub spool: Option<PathBuf>,
    /// Where to send [default: the address in the bundle]
    #[arg(long, value_name = "URL")]
    pub cloud: Option<String>,
    /// PEM file with the certificate of the authority that signs the cloud's certificate [default: the one in the
    /// bundle, else Mozilla's list]
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// Key with which the cloud signs receipts, 64 hexadecimal digits; may be repeated [default: those in the bundle]
    #[arg(long, value_name = "KEY")]
    pub cloud_key: Vec<CloudKey>,
    /// Limit in bytes on the waiting messages, and on the refused ones by themselves
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    pub spool_limit: u64,
}

/// Arguments of `status`.
#[derive(Args, Debug)]
#[command(group = ArgGroup::new("of").required(true).multiple(true).args(["bundle", "spool"]))]
pub struct StatusArguments {
    /// The device's bundle: times are shown in its time zone
    #[arg(long, value_name = "FILE")]
    pub bundle: Option<PathBuf>,
    /// The spool [default: beside the bundle]
    #[arg(long, value_name = "DIR")]
    pub spool: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// The source of readings.
#[derive(Args, Debug, Clone, Default)]
pub struct ReadArguments {
    /// Sensors of this machine, a file, or a seeded generator [default: the file given, otherwise sensors]
    #[arg(long, value_enum)]
    pub source: Option<SourceKind>,
    /// A text file with columns; may be repeated
    #[arg(long, value_name = "FILE")]
    pub csv: Vec<PathBuf>,
    /// A file with one JSON object per line; may be repeated
    #[arg(long, value_name = "FILE")]
    pub json_lines: Vec<PathBuf>,
    /// Read columns or JSON lines from standard input
    #[arg(long)]
    pub stdin: bool,
    /// At the end of the last file, wait for more rows
    #[arg(long)]
    pub follow: bool,
    /// The column of the time; give it twice if date and time of day have separate columns [default: found by its name]
    #[arg(long, value_name = "COLUMN")]
    pub time: Vec<String>,
    /// The format of times, such as '%d.%m.%Y %H:%M' [default: found in the first rows]
    #[arg(long, value_name = "FORMAT")]
    pub time_format: Option<String>,
    /// The time of the first row, for a file without times: row k is k periods later
    #[arg(long, value_name = "TIME", conflicts_with = "time")]
    pub start: Option<String>,
    /// The column of a channel [default: the column of the same name]; may be repeated. COLUMN alone means the only
    /// channel
    #[arg(long, value_name = "CHANNEL=COLUMN")]
    pub column: Vec<String>,
    /// Read only rows with this text in this column; may be repeated
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    pub conditions: Vec<Pair>,
    /// The character between columns, or "tab" [default: found in the first line]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<char>,
    /// Decimals are written with a comma [default: found in the first rows]
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    pub decimal_comma: Option<bool>,
    /// The encoding of the text [default: utf8]
    #[arg(long, value_enum)]
    pub encoding: Option<TextEncoding>,
    /// Take times that are more than a day ahead of this machine's clock, such as simulated ones; otherwise such rows
    /// are left out
    #[arg(long)]
    pub allow_future: bool,
    /// The first line holds readings, not names: columns are called 1, 2, 3 …
    #[arg(long)]
    pub no_header: bool,
    /// With --profile: read only these rows, counted from 0 without the header; TO is excluded
    #[arg(long, value_name = "FROM..TO", requires = "csv")]
    pub rows: Option<RowRange>,
    /// With --profile: the smallest possible value [default: the smallest in the whole file]
    #[arg(long, value_name = "X", requires_all = ["csv", "maximum"], allow_negative_numbers = true)]
    pub minimum: Option<f64>,
    /// With --profile: the largest possible value [default: the largest in the whole file]
    #[arg(long, value_name = "Y", requires_all = ["csv", "minimum"], allow_negative_numbers = true)]
    pub maximum: Option<f64>,
    /// Seed of the generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// The source of readings for a profile whose streams declare no channels.
#[derive(Debug, Clone, Default)]
pub struct SourceArguments {
    /// Sensors of this machine, a file, or a seeded generator. Default: the file if there is one, else the sensors.
    pub source: Option<SourceKind>,
    /// A file of comma-separated values with a header.
    pub csv: Option<PathBuf>,
    /// The column to read.
    pub column: Option<String>,
    /// Only these rows, counted from 0 without the header.
    pub rows: Option<RowRange>,
    /// The smallest possible value; without it, the smallest in the whole file.
    pub minimum: Option<f64>,
    /// The largest possible value; without it, the largest in the whole file.
    pub maximum: Option<f64>,
    /// Seed of the generator.
    pub seed: u64,
}

/// Options that exclude or require each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTogether {
    /// An option for bundles.
    #[error(
        "{0} goes with --bundle: a profile without channels reads one column of one --csv file, row by row"
    )]
    BundleOnly(&'static str),
    /// An option for profiles.
    #[error("{0} goes with --profile: the channels of a bundle have their ranges, and its rows have times")]
    ProfileOnly(&'static str),
    /// A file without a column, or a column without a file.
    #[error("--csv and --column go together: name the column to read")]
    Column,
    /// A column without a channel.
    #[error(
        "--column {column}: say which channel it is for, --column CHANNEL={column}; there are {channels}"
    )]
    NoChannel {
        /// The column.
        column: String,
        /// The available channels.
        channels: String,
    },
    /// A file and another source.
    #[error("a file does not go with --source sensors or generate: leave one of them out")]
    TwoSources,
    /// An option for files without a file.
    #[error("{0} needs a file: give --csv FILE, --json-lines FILE or --stdin")]
    NoFile(&'static str),
}

impl ReadArguments {
    /// Returns the source for a profile whose streams declare no channels.
    ///
    /// # Errors
    /// [`NotTogether`] names an option that does not apply to this kind of source.
    pub fn series(&self) -> Result<SourceArguments, NotTogether> {
        let more = self.csv.len() > 1 || self.column.len() > 1;
        let several = more.then_some("a second --csv or --column");
        if let Some(option) = self.json_or_stdin().or(self.of_files()).or(several) {
            return Err(NotTogether::BundleOnly(option));
        }
        let needs = !self.csv.is_empty() || self.source == Some(SourceKind::Csv) || !self.column.is_empty();
        if needs && (self.csv.is_empty() || self.column.is_empty()) {
            return Err(NotTogether::Column);
        }
        Ok(SourceArguments {
            source: self.source,
            csv: self.csv.first().cloned(),
            column: self.column.first().cloned(),
            rows: self.rows,
            minimum: self.minimum,
            maximum: self.maximum,
            seed: self.seed,
        })
    }

    /// Returns true if the arguments name files or standard input.
    ///
    /// # Errors
    /// [`NotTogether`] if options for files are given without a file or with another source, or belong to --profile.
    pub fn reads_files(&self) -> Result<bool, NotTogether> {
        let of_profile = [("--rows", self.rows.is_some()), ("--minimum", self.minimum.is_some())];
        if let Some((option, _)) = of_profile.into_iter().find(|(_, given)| *given) {
            return Err(NotTogether::ProfileOnly(option));
        }
        let files = !self.csv.is_empty() || self.json_or_stdin().is_some();
        match (files, self.source) {
            (true, Some(SourceKind::Sensors | SourceKind::Generate)) => Err(NotTogether::TwoSources),
            (false, Some(SourceKind::Csv)) => Err(NotTogether::NoFile("--source csv")),
            (false, _) => self.of_files().map_or(Ok(false), |option| Err(NotTogether::NoFile(option))),
            (true, _) => Ok(true),
        }
    }

    /// Returns (channel, column) pairs from `--column`.
    ///
    /// # Errors
    /// [`NotTogether::NoChannel`] for a column without a channel, unless there is exactly one channel.
    pub fn columns(&self, channels: &[&str]) -> Result<Vec<(String, String)>, NotTogether> {
        let pair = |text: &String| match (text.split_once('='), channels) {
            (Some((channel, column)), _) => Ok((channel.to_owned(), column.to_owned())),
            (None, [only]) => Ok(((*only).to_owned(), text.clone())),
            (None, _) => Err(NotTogether::NoChannel { column: text.clone(), channels: channels.join(", ") }),
        };
        self.column.iter().map(pair).collect()
    }

    fn json_or_stdin(&self) -> Option<&'static str> {
        let given = [("--json-lines", !self.json_lines.is_empty()), ("--stdin", self.stdin)];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }

    /// Returns the first option that only applies to files.
    fn of_files(&self) -> Option<&'static str> {
        let given = [
            ("--follow", self.follow),
            ("--time", !self.time.is_empty()),
            ("--time-format", self.time_format.is_some()),
            ("--start", self.start.is_some()),
            ("--where", !self.conditions.is_empty()),
            ("--delimiter", self.delimiter.is_some()),
            ("--decimal-comma", self.decimal_comma.is_some()),
            ("--encoding", self.encoding.is_some()),
            ("--no-header", self.no_header),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }
}

/// Encodings of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum TextEncoding {
    /// UTF-8.
    Utf8,
    /// ISO 8859-1.
    Latin1,
}

/// A `NAME=VALUE` argument.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The text before the first =.
    pub name: String,
    /// The text after it.
    pub value: String,
}

/// The text is not `NAME=VALUE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("write it as COLUMN=VALUE")]
pub struct NotAPair;

impl FromStr for Pair {
    type Err = NotAPair;

    fn from_str(text: &str) -> Result<Self, NotAPair> {
        let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty()).ok_or(NotAPair)?;
        Ok(Self { name: name.to_owned(), value: value.to_owned() })
    }
}

fn delimiter(text: &str) -> Result<char, &'static str> {
    let mut characters = text.chars();
    match (text, characters.next(), characters.next()) {
        ("tab" | "\\t", ..) => Ok('\t'),
        (_, Some(character), None) => Ok(character),
        _ => Err("give one character, or tab"),
    }
}

/// Kinds of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SourceKind {
    /// This machine's sensors.
    Sensors,
    /// A column of a file.
    Csv,
    /// A seeded generator of synthetic readings; windows are marked as synthetic.
    Generate,
}

/// Arguments of `enrol`.
#[derive(Args, Debug)]
pub struct EnrolArguments {
    /// The file; made with mode 0600 if it does not exist
    #[arg(long, value_name = "FILE")]
    pub signing_key: PathBuf,
}

/// Arguments of `sources`.
#[derive(Args, Debug)]
pub struct SourcesArguments {
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

/// A half-open range of rows: `from..to`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowRange {
    /// The first row.
    pub from: u64,
    /// The row after the last.
    pub to: u64,
}

/// The text is not `FROM..TO`.
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
    fn a_bundle_takes_the_place_of_four_files() {
        let run = |extra: &[&str]| {
            let all = ["sotto-agent", "run", "--bundle", "b"].iter().chain(extra);
            match Arguments::try_parse_from(all)?.command {
                Command::Run(run) => Ok(*run),
                other => panic!("{other:?}"),
            }
        };
        assert!(run(&[]).is_ok());
        assert!(run(&["--cloud", "http://c", "--spool", "d"]).is_ok());
        for other in ["--profile", "--secret-key", "--public-key", "--signing-key"] {
            let refused: Result<RunArguments, clap::Error> = run(&[other, "f"]);
            assert!(refused.is_err(), "{other}");
        }
        let read =
            run(&["--csv", "a", "--csv", "b", "--column", "x=y=z", "--where", "s=1", "--delimiter", "tab"]);
        let read = read.unwrap().read;
        assert_eq!(read.columns(&["x", "w"]), Ok(vec![("x".into(), "y=z".into())]));
        assert_eq!((read.csv.len(), read.delimiter, &*read.conditions[0].value), (2, Some('\t'), "1"));
        let one = run(&["--csv", "a", "--column", "y", "--decimal-comma"]).unwrap().read;
        assert_eq!(one.columns(&["x"]), Ok(vec![("x".into(), "y".into())]));
        assert_eq!(one.decimal_comma, Some(true));
        assert!(one.columns(&["x", "w"]).is_err_and(|error| error.to_string().contains("x, w")));
        assert!(one.reads_files().unwrap());
        assert_eq!(run(&["--ticks", "3"]).unwrap().ticks, Some(3));
        assert!(run(&["--ticks", "0"]).is_err());
        for (extra, says) in [
            (&["--time", "t"][..], "--time needs a file"),
            (&["--csv", "f", "--rows", "0..2"], "--rows goes with --profile"),
            (&["--csv", "f", "--source", "sensors"], "leave one of them out"),
        ] {
            let why = run(extra).unwrap().read.reads_files().unwrap_err().to_string();
            assert!(why.contains(says), "{why}");
        }
    }

    #[test]
    fn a_file_needs_its_column_and_a_range_both_its_ends() {
        let with = |extra: &[&str]| run(&[&["--secret-key", "k"], extra].concat());
        let series = |extra: &[&str]| with(extra).unwrap().read.series();
        assert_eq!(series(&["--source", "csv"]).err(), Some(NotTogether::Column));
        assert_eq!(series(&["--csv", "f"]).err(), Some(NotTogether::Column));
        assert_eq!(series(&["--column", "c"]).err(), Some(NotTogether::Column));
        assert!(matches!(series(&["--stdin"]), Err(NotTogether::BundleOnly("--stdin"))));
        assert!(with(&["--csv", "f", "--column", "c", "--minimum", "-4"]).is_err());
        let all = ["--csv", "f", "--column", "c", "--minimum", "-4", "--maximum", "-1.5", "--rows", "3..7"];
        let source = series(&all).unwrap();
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
