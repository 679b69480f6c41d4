//! The arguments that name a source of readings.

use std::path::PathBuf;
use std::str::FromStr;

use clap::{Args, ValueEnum};

use crate::source::FormatName;

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

    /// Returns the first option that only applies to files.
    fn of_files(&self) -> Option<&'static str> {
        let given = [
            ("--follow", self.follow),
            ("--format", self.format.is_some()),
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
    /// A file.
    Csv,
    /// A seeded generator of synthetic readings; windows are marked as synthetic.
    Generate,
}

#[cfg(test)]
mod tests {
    use clap::Parser as _;

    use super::super::{Arguments, Command, RunArguments};
    use super::FormatName;

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
        assert_eq!(one.decimal_comma, Some(true));
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
        let unknown = run(&["--file", "a", "--format", "xlsx"]).unwrap_err().to_string();
        assert!(unknown.contains("there are the formats") && unknown.contains("json-lines"), "{unknown}");
        assert!(run(&["--csv", "a", "--format", "csv"]).is_err());
    }
}
