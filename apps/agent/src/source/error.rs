//! Errors of sources.

use std::path::PathBuf;

/// Maximum number of names that an error lists.
const LISTED: usize = 50;

/// Reason why there is no row. Contains no reading.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// There are no more rows.
    #[error("the source has no more rows")]
    Ended,
    /// No row has come yet: the source does not block.
    #[error("no row has come yet")]
    Waiting,
    /// A stop was requested.
    #[error("reading was stopped")]
    Stopped,
    /// This machine has no sensors that can be read.
    #[error("{0}; read a file with --csv FILE, or take made-up readings with --source generate")]
    NoSensors(NoSensors),
    /// An option that cannot be used.
    #[error("{option}: {reason}")]
    Option {
        /// The option, as the command line spells it.
        option: &'static str,
        /// The reason and the way out.
        reason: String,
    },
    /// The source has no such channels.
    #[error("no channel {}; there are {}", listed(names), listed(there))]
    UnknownChannels {
        /// The names requested.
        names: Vec<String>,
        /// The available names.
        there: Vec<String>,
    },
    /// The file cannot be read.
    #[error("{path} cannot be read: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// The fault: the system's words, or the reader's.
        reason: String,
    },
    /// The file has no column of this name.
    #[error("{path} has no column {column:?}{}; it has {}", meant(nearest.as_ref()), listed(columns))]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The name requested.
        column: String,
        /// The available columns.
        columns: Vec<String>,
        /// The most similar name among them.
        nearest: Option<String>,
    },
    /// Several columns have the name.
    #[error("{path} has {count} columns {column:?}: give them different names")]
    AmbiguousColumn {
        /// The file.
        path: PathBuf,
        /// The name requested.
        column: String,
        /// Number of columns with the name.
        count: usize,
    },
    /// No time column is given, and none can be guessed.
    #[error(
        "the time column of {path} cannot be guessed: it has {}; name it with --time COLUMN (twice for a date and a time of day in two \
         columns), or give the time of the first row with --start TIME",
        listed(columns)
    )]
    NoTimeColumn {
        /// The file.
        path: PathBuf,
        /// The available columns.
        columns: Vec<String>,
    },
    /// The first rows contain no readable time.
    #[error(
        "line {line} of {path}: column {column:?} holds no time of a known format, but {cell:?}; \
         give its format, such as --time-format '%d.%m.%Y %H:%M', or another column with --time COLUMN"
    )]
    UnknownTime {
        /// The file.
        path: PathBuf,
        /// The first line of readings.
        line: u64,
        /// The names of the columns with the time.
        column: String,
        /// The first characters of the cell.
        cell: String,
    },
    /// The order of day and month is ambiguous.
    #[error(
        "{path}: days and months of column {column:?} cannot be told apart in the first {rows} rows; \
         give --time-format '{day_first}' or '{month_first}'"
    )]
    AmbiguousTime {
        /// The file.
        path: PathBuf,
        /// The names of the columns with the time.
        column: String,
        /// Number of rows examined.
        rows: usize,
        /// The format with the day first.
        day_first: String,
        /// The format with the month first.
        month_first: String,
    },
    /// The first rows contain both 3,14 and 3.14.
    #[error(
        "{path} has numbers with a comma and numbers with a point among its first rows: \
         say which one marks decimals with --decimal , or --decimal ."
    )]
    AmbiguousDecimals {
        /// The file.
        path: PathBuf,
    },
    /// A number has two readings, and no other number of the file decides.
    #[error(
        "line {line} of {path}: a number with {mark:?} before its last three digits can be {fraction} or {whole}, and no other \
         number of the file decides; for {fraction} pass --decimal {mark}, for {whole} pass --thousands {mark}"
    )]
    AmbiguousNumber {
        /// The file.
        path: PathBuf,
        /// The line of the first such number.
        line: u64,
        /// Its mark: a point or a comma.
        mark: char,
        /// The number if the mark is a decimal one.
        fraction: f64,
        /// The number if the mark separates thousands.
        whole: f64,
    },
    /// The first rows hold no number for a channel, but other text.
    #[error(transparent)]
    NoNumber(Box<NoNumber>),
}

/// A channel without a number in the first rows.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "line {line} of {path}: column {column:?} holds no number for channel {channel}, but {cell:?}{}; \
     name another column with --column {channel}=COLUMN, or the text of missing readings with --missing {channel}=TEXT",
    hint.as_deref().unwrap_or_default()
)]
pub struct NoNumber {
    /// The file.
    pub path: PathBuf,
    /// The line of the first such cell.
    pub line: u64,
    /// The column.
    pub column: String,
    /// The channel.
    pub channel: String,
    /// The first characters of the cell.
    pub cell: String,
    /// The way out, if the cell shows it.
    pub hint: Option<String>,
}

/// Reason why there are no sensors.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSensors {
    /// The system is unknown, or refuses access.
    #[error("the sensors of this system cannot be read: {0}")]
    Refused(String),
    /// The system is known but reports nothing.
    #[error("this system gives no load, no memory and no temperature")]
    Nothing,
}

/// Without an error source: the message contains the reason, and a chain would print it twice.
impl From<NoSensors> for SourceError {
    fn from(reason: NoSensors) -> Self {
        Self::NoSensors(reason)
    }
}

/// Lists names for people: at most 50 names, 64 characters of each.
fn listed(names: &[String]) -> String {
    let short = |name: &String| format!("{:?}", name.chars().take(64).collect::<String>());
    let shown: Vec<String> = names.iter().take(LISTED).map(short).collect();
    let more = names.len().saturating_sub(LISTED);
    if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
}

fn meant(nearest: Option<&String>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean {name:?}?"))
}
