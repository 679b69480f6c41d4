//! Why there is no row.

use std::path::PathBuf;

use super::NoSensors;

/// Most names that an error lists.
const LISTED: usize = 50;

/// Why there is no row. Holds no reading.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// There are no more.
    #[error("the source has no more rows")]
    Ended,
    /// A stop was asked for.
    #[error("reading was stopped")]
    Stopped,
    /// This machine has no sensors that can be read.
    #[error("{0}; read a file with --csv FILE, or take made-up readings with --source generate")]
    NoSensors(#[from] NoSensors),
    /// Arguments that do not belong together.
    #[error("--csv does not go with --source {0}: leave one of them out")]
    Arguments(&'static str),
    /// An option that cannot be used.
    #[error("{option}: {reason}")]
    Option {
        /// The option, as the command line spells it.
        option: &'static str,
        /// Why not, and the way out.
        reason: String,
    },
    /// The source has no such channels.
    #[error("no channel {}; there are {}", listed(names), listed(there))]
    UnknownChannels {
        /// The names asked for.
        names: Vec<String>,
        /// The names there are.
        there: Vec<String>,
    },
    /// The file cannot be read.
    #[error("{path} cannot be read: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// There is no such column.
    #[error("{path} has no column {column:?}{}; it has {}", meant(nearest.as_ref()), listed(columns))]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column asked for.
        column: String,
        /// The columns there are.
        columns: Vec<String>,
        /// The most similar name among them.
        nearest: Option<String>,
    },
    /// Several columns have the name.
    #[error("{path} has {count} columns {column:?}: give them different names")]
    AmbiguousColumn {
        /// The file.
        path: PathBuf,
        /// The column asked for.
        column: String,
        /// How many there are.
        count: usize,
    },
    /// A column without numbers.
    #[error("the column {column:?} of {path} holds no number")]
    NoNumbers {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
    },
    /// No column is named as the time, and none can be guessed.
    #[error(
        "the time column of {path} cannot be guessed: it has {}; name it with --time COLUMN (twice for a date and a time of day in two \
         columns), or give the time of the first row with --start TIME",
        listed(columns)
    )]
    NoTimeColumn {
        /// The file.
        path: PathBuf,
        /// The columns there are.
        columns: Vec<String>,
    },
    /// The first rows hold no time that can be read.
    #[error(
        "line {line} of {path}: column {column:?} holds no time of a known format, but {cell:?}; \
         give its format, such as --time-format '%d.%m.%Y %H:%M', or another column with --time COLUMN"
    )]
    UnknownTime {
        /// The file.
        path: PathBuf,
        /// The first line of readings.
        line: u64,
        /// The column.
        column: String,
        /// The first characters of the cell.
        cell: String,
    },
    /// Days and months cannot be told apart.
    #[error(
        "{path}: days and months of column {column:?} cannot be told apart in the first {rows} rows; \
         give --time-format '{day_first}' or '{month_first}'"
    )]
    AmbiguousTime {
        /// The file.
        path: PathBuf,
        /// The column.
        column: String,
        /// Rows looked at.
        rows: usize,
        /// The format with the day first.
        day_first: String,
        /// The format with the month first.
        month_first: String,
    },
    /// Both 3,14 and 3.14 are among the first rows.
    #[error(
        "{path} has numbers with a comma and numbers with a point among its first rows: \
         say which one marks decimals with --decimal-comma true or --decimal-comma false"
    )]
    AmbiguousDecimals {
        /// The file.
        path: PathBuf,
    },
    /// Bytes that are not UTF-8 in a header, a time or a condition.
    #[error(
        "line {line} of {path} is not UTF-8: if the file is Latin-1 (ISO 8859-1), pass --encoding latin1; otherwise convert it"
    )]
    NotUtf8 {
        /// The file.
        path: PathBuf,
        /// The line.
        line: u64,
    },
}

/// Names for people: of many names the first, of a long name its beginning.
fn listed(names: &[String]) -> String {
    let short = |name: &String| format!("{:?}", name.chars().take(64).collect::<String>());
    let shown: Vec<String> = names.iter().take(LISTED).map(short).collect();
    let more = names.len().saturating_sub(LISTED);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

fn meant(nearest: Option<&String>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}
