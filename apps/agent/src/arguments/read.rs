//! The arguments that name a source of readings.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};
use sotto_pack::Clock;

use super::values::{DecimalMark, OfChannel, delimiter, duration};

use crate::source::{Decimal, Encoding, FormatName};

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
    /// A file of any format; may be repeated
    #[arg(long, value_name = "FILE")]
    pub file: Vec<PathBuf>,
    /// The format of the files, such as csv or json-lines [default: found in their first bytes]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["csv", "json_lines"])]
    pub format: Option<FormatName>,
    /// Read rows of any format from standard input
    #[arg(long)]
    pub stdin: bool,
    /// At the end of the last file, wait for more rows
    #[arg(long)]
    pub follow: bool,
    /// The column of the time. Repeat it for a date and a time of day, or for year, month, day, hour, minute and second
    /// [default: found by name]
    #[arg(long, value_name = "COLUMN")]
    pub time: Vec<String>,
    /// The format of times, such as '%d.%m.%Y %H:%M'; seconds, milliseconds, microseconds or nanoseconds since 1970; or
    /// excel for days of a spreadsheet [default: found in the first rows]
    #[arg(long, value_name = "FORMAT")]
    pub time_format: Option<String>,
    /// The time zone of times without an offset, such as Europe/Vienna [default: the plant's]
    #[arg(long, value_name = "NAME", value_parser = Clock::new)]
    pub zone: Option<Clock>,
    /// The time of the first row, for a file without times: row k is k periods later
    #[arg(long, value_name = "TIME", conflicts_with = "time")]
    pub start: Option<String>,
    /// The column of a channel [default: the column of the same name]; may be repeated. COLUMN alone means the only
    /// channel. COLUMN[NAME=TEXT] takes the rows with this text in column NAME alone, as state[entity_id=sensor.hum]
    #[arg(long, value_name = "CHANNEL=COLUMN")]
    pub column: Vec<String>,
    /// Read only rows with this text in this column; may be repeated
    #[arg(long = "where", value_name = "COLUMN=VALUE")]
    pub conditions: Vec<Pair>,
    /// The character between columns, or "tab" [default: found with the names of the columns]
    #[arg(long, value_name = "CHARACTER", value_parser = delimiter)]
    pub delimiter: Option<char>,
    /// The decimal mark: . or , [default: found in the numbers of the file]
    #[arg(long, value_name = ".|,", conflicts_with = "decimal_comma")]
    pub decimal: Option<DecimalMark>,
    /// The mark between groups of thousands: . or , [default: the mark that is not the decimal one]
    #[arg(long, value_name = ".|,", conflicts_with = "decimal_comma")]
    pub thousands: Option<DecimalMark>,
    /// Decimals are written with a comma: the same as --decimal , or with false as --decimal .
    #[arg(long, value_name = "true|false", num_args = 0..=1, default_missing_value = "true")]
    pub decimal_comma: Option<bool>,
    /// The encoding of the text, such as utf-16le, latin1 or windows-1250 [default: found in the first bytes]
    #[arg(long, value_name = "NAME")]
    pub encoding: Option<Encoding>,
    /// The number of the line that names the columns, from 1 [default: the first line that has all names]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with = "no_header")]
    pub header_line: Option<u64>,
    /// Skip N lines at the beginning of each file
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub skip_lines: u64,
    /// The sheet of a workbook or the table of a database [default: the only one with the columns]
    #[arg(long, value_name = "NAME")]
    pub table: Option<String>,
    /// A text or number that stands for no reading, such as -999, of one channel or of all; may be repeated
    #[arg(long, value_name = "[CHANNEL=]TEXT", allow_hyphen_values = true)]
    pub missing: Vec<OfChannel>,
    /// Multiply the numbers of a channel; may be repeated. The number alone means the only channel
    #[arg(long, value_name = "[CHANNEL=]NUMBER", allow_hyphen_values = true)]
    pub scale: Vec<OfChannel>,
    /// Add to the numbers of a channel, after --scale; may be repeated
    #[arg(long, value_name = "[CHANNEL=]NUMBER", allow_hyphen_values = true)]
    pub offset: Vec<OfChannel>,
    /// The unit of the numbers of a channel, which are converted to the channel's unit; may be repeated
    #[arg(long, value_name = "[CHANNEL=]UNIT")]
    pub from_unit: Vec<OfChannel>,
    /// Take times that are more than a day ahead of this machine's clock, such as simulated ones; otherwise such rows
    /// are left out
    #[arg(long)]
    pub allow_future: bool,
    /// The time after the ticks at which a sensor reports, such as 7m, before its first window [default: found in the first
    /// rows]
    #[arg(long, value_name = "TIME", value_parser = duration)]
    pub phase: Option<u32>,
    /// The first line holds readings, not names: columns are called 1, 2, 3 …
    #[arg(long)]
    pub no_header: bool,
    /// Seed of the generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Options that exclude or require each other.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotTogether {
    /// A column without a channel.
    #[error(
        "--column {column}: say which channel it is for, --column CHANNEL={column}; there are {channels}"
    )]
    NoChannel {
        /// The column as it was typed.
        column: String,
        /// The available channels.
        channels: String,
    },
    /// A value without a channel, or of a channel that no stream has.
    #[error("{option} {value}: say which channel it is for, {option} CHANNEL={value}; there are {channels}")]
    NoChannelOf {
        /// The option.
        option: &'static str,
        /// The value as it was typed.
        value: String,
        /// The available channels.
        channels: String,
    },
    /// A value that is no number.
    #[error("{option} {value}: give a number")]
    NoNumber {
        /// The option.
        option: &'static str,
        /// The value as it was typed.
        value: String,
    },
    /// The same mark for decimals and thousands.
    #[error("--decimal and --thousands name the same mark: leave out one of them")]
    SameMark,
    /// A file and another source.
    #[error("a file does not go with --source sensors or generate: leave one of them out")]
    TwoSources,
    /// An option for files without a file.
    #[error("{0} needs a file: give --csv FILE, --json-lines FILE or --stdin")]
    NoFile(&'static str),
}

impl ReadArguments {
    /// Returns true if the arguments name files or standard input.
    ///
    /// # Errors
    /// [`NotTogether`] if options for files are given without a file or with another source.
    pub fn reads_files(&self) -> Result<bool, NotTogether> {
        let paths = [&self.csv, &self.json_lines, &self.file];
        let files = self.stdin || paths.iter().any(|paths| !paths.is_empty());
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

    /// Returns the decimal mark, if given.
    ///
    /// # Errors
    /// [`NotTogether::SameMark`] if the decimal mark also separates thousands.
    pub fn decimal(&self) -> Result<Option<Decimal>, NotTogether> {
        let comma = self.decimal_comma.map(|comma| if comma { Decimal::Comma } else { Decimal::Point });
        let (decimal, thousands) =
            (self.decimal.map(|mark| mark.0), self.thousands.map(|mark| mark.0.other()));
        match (decimal, thousands) {
            (Some(decimal), Some(by_thousands)) if decimal != by_thousands => Err(NotTogether::SameMark),
            _ => Ok(decimal.or(thousands).or(comma)),
        }
    }

    /// Returns the first option that only applies to files.
    fn of_files(&self) -> Option<&'static str> {
        let given = [
            ("--follow", self.follow),
            ("--format", self.format.is_some()),
            ("--time", !self.time.is_empty()),
            ("--time-format", self.time_format.is_some()),
            ("--zone", self.zone.is_some()),
            ("--start", self.start.is_some()),
            ("--where", !self.conditions.is_empty()),
            ("--delimiter", self.delimiter.is_some()),
            ("--decimal", self.decimal.is_some()),
            ("--thousands", self.thousands.is_some()),
            ("--decimal-comma", self.decimal_comma.is_some()),
            ("--header-line", self.header_line.is_some()),
            ("--skip-lines", self.skip_lines > 0),
            ("--table", self.table.is_some()),
            ("--missing", !self.missing.is_empty()),
            ("--scale", !self.scale.is_empty()),
            ("--offset", !self.offset.is_empty()),
            ("--from-unit", !self.from_unit.is_empty()),
            ("--encoding", self.encoding.is_some()),
            ("--no-header", self.no_header),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(option, _)| option)
    }
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

/// Kinds of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SourceKind {
    /// This machine's sensors.
    Sensors,
    /// A file.
    Csv,
    /// A seeded generator of synthetic readings; windows are marked as synthetic.
    Generate,
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::{Arguments, Command, RunArguments};
    use super::{Decimal, FormatName};

    fn run(extra: &[&str]) -> Result<RunArguments, clap::Error> {
        let all = ["sotto-agent", "run", "--bundle", "b"].iter().chain(extra);
        match Arguments::try_parse_from(all)?.command {
            Command::Run(run) => Ok(*run),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn files_and_their_options_go_together() {
        assert!(run(&[]).is_ok());
        assert!(run(&["--cloud", "http://c", "--spool", "d"]).is_ok());
        let read =
            run(&["--csv", "a", "--csv", "b", "--column", "x=y=z", "--where", "s=1", "--delimiter", "tab"]);
        let read = read.unwrap().read;
        assert_eq!(read.columns(&["x", "w"]), Ok(vec![("x".into(), "y=z".into())]));
        assert_eq!((read.csv.len(), read.delimiter, &*read.conditions[0].value), (2, Some('\t'), "1"));
        let one = run(&["--csv", "a", "--column", "y", "--decimal-comma"]).unwrap().read;
        assert_eq!(one.columns(&["x"]), Ok(vec![("x".into(), "y".into())]));
        assert_eq!(one.decimal(), Ok(Some(Decimal::Comma)));
        let marks = |extra: &[&str]| run(&[&["--csv", "a"], extra].concat()).unwrap().read.decimal();
        assert_eq!(marks(&["--thousands", "."]), Ok(Some(Decimal::Comma)));
        assert_eq!(marks(&["--decimal", ".", "--thousands", ","]), Ok(Some(Decimal::Point)));
        assert!(marks(&["--decimal", ".", "--thousands", "."]).is_err());
        let missing = run(&["--csv", "a", "--missing", "-999", "--missing", "x=-1"]).unwrap().read.missing;
        assert_eq!((missing[0].of(&["x"]), missing[1].of(&["x"])), ((None, "-999"), (Some("x"), "-1")));
        assert_eq!(missing[1].of(&["y"]), (None, "x=-1"));
        assert!(one.columns(&["x", "w"]).is_err_and(|error| error.to_string().contains("x, w")));
        assert!(one.reads_files().unwrap());
        assert_eq!(run(&["--ticks", "3"]).unwrap().ticks, Some(3));
        assert!(run(&["--ticks", "0"]).is_err());
        for (extra, says) in [
            (&["--time", "t"][..], "--time needs a file"),
            (&["--source", "csv"], "--source csv needs a file"),
            (&["--format", "csv"], "--format needs a file"),
            (&["--file", "f", "--source", "sensors"], "leave one of them out"),
            (&["--csv", "f", "--source", "sensors"], "leave one of them out"),
            (&["--stdin", "--source", "generate"], "leave one of them out"),
        ] {
            let why = run(extra).unwrap().read.reads_files().unwrap_err().to_string();
            assert!(why.contains(says), "{why}");
        }
        let lines = run(&["--file", "a", "--format", "json-lines"]).unwrap().read;
        assert_eq!((lines.file.len(), lines.format), (1, Some(FormatName::JSON_LINES)));
        let unknown = run(&["--file", "a", "--format", "ods"]).unwrap_err().to_string();
        assert!(unknown.contains("there are the formats") && unknown.contains("json-lines"), "{unknown}");
        assert!(run(&["--csv", "a", "--format", "csv"]).is_err());
    }
}
