//! Facts about a file, for people: how it was read, and which of its rows gave no reading.

use std::path::PathBuf;

use serde::Serialize;
use sotto_pack::Reason;

use super::encoding::Encoding;
use super::packed::Packing;

/// Number of lines that are listed.
const LISTED: usize = 5;

/// A count of lines, and the first of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Lines {
    /// Number of lines.
    pub count: u64,
    /// The first lines, at most five.
    pub first: Vec<u64>,
}

impl Lines {
    /// Counts a line.
    pub(crate) fn add(&mut self, line: u64) {
        self.count += 1;
        if self.first.len() < LISTED {
            self.first.push(line);
        }
    }

    /// Returns the lines in words, such as `line 3` or `lines 3, 7, 9 …`; `None` if there is none.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let list = self.first.iter().map(u64::to_string).collect::<Vec<_>>().join(", ");
        match self.count {
            0 => None,
            1 => Some(format!("line {list}")),
            count if count > self.first.len() as u64 => Some(format!("lines {list} …")),
            _ => Some(format!("lines {list}")),
        }
    }
}

/// The shape of a file, as its format finds it.
#[derive(Clone, Debug, Default)]
pub(in crate::source) struct Shape {
    pub(in crate::source) delimiter: Option<char>,
    /// The line of the names.
    pub(in crate::source) header_line: Option<u64>,
    /// The names of the time columns.
    pub(in crate::source) time: Vec<String>,
    /// Words under the names of the channels' columns.
    pub(in crate::source) units: Vec<String>,
    pub(in crate::source) packing: Option<Packing>,
    /// True if cells have types: then the file has no encoding.
    pub(in crate::source) typed: bool,
    /// How times are read, if their cells have a type of their own.
    pub(in crate::source) stamps: Option<&'static str>,
    /// The name of the table, if the file may have several.
    pub(in crate::source) table: Option<String>,
    /// The encoding, if it is not UTF-8.
    pub(in crate::source) encoding: Option<Encoding>,
    /// Rows whose quotes do not match.
    pub(in crate::source) mended: Lines,
    /// Rows of several lines.
    pub(in crate::source) joined: Lines,
    /// Rows with more values than there are names.
    pub(in crate::source) wide: Lines,
    /// Rows that name the columns again.
    pub(in crate::source) again: Lines,
    /// Lines that begin with #.
    pub(in crate::source) comments: u64,
}

/// How a file was read.
#[derive(Clone, Debug, Default, Serialize)]
pub struct FileFacts {
    /// The file.
    pub path: PathBuf,
    /// The name of its format.
    pub format: &'static str,
    /// Its compression: `gzip` or `Zstandard`.
    pub compression: Option<&'static str>,
    /// The name of its table, if it may have several.
    pub table: Option<String>,
    /// The encoding of its text; `None` if cells have types.
    pub encoding: Option<&'static str>,
    /// The character between values.
    pub delimiter: Option<char>,
    /// The line that names the columns, from 1.
    pub header_line: Option<u64>,
    /// The decimal mark, if a number shows it.
    pub decimal: Option<char>,
    /// The column of each channel, as it was requested.
    pub columns: Vec<String>,
    /// The columns of the time; empty if the times are counted from a start.
    pub time_columns: Vec<String>,
    /// How times are read.
    pub time_format: Option<String>,
    /// True if the newest row comes first.
    pub newest_first: bool,
    /// Words under the names of the channels' columns, such as units.
    pub words: Vec<String>,
    /// Number of rows.
    pub rows: u64,
    /// Rows whose quotes do not match, read as they were meant.
    pub mended_quotes: Lines,
    /// Rows of several lines.
    pub of_several_lines: Lines,
    /// Rows with more values than there are names: no value is taken.
    pub too_many_values: Lines,
    /// Rows that name the columns again.
    pub names_again: Lines,
    /// Lines that begin with #.
    pub comments: u64,
    /// For each reason and channel (`None` if it concerns the whole row), the rows that gave no reading.
    pub left_out: Vec<Fault>,
    /// For each channel with states, the first cell that names none of them.
    pub unknown_states: Vec<UnknownState>,
}

/// A cell that names none of the states of its channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct UnknownState {
    /// The channel.
    pub channel: String,
    /// The line.
    pub line: u64,
    /// The first characters of the cell.
    pub cell: String,
    /// The states of the channel.
    pub states: Vec<String>,
}

impl UnknownState {
    /// Returns it in words, with the way out.
    #[must_use]
    pub fn words(&self) -> String {
        let Self { channel, line, cell, states } = self;
        format!(
            "line {line}: {cell:?} is none of the states of channel {channel}, {}: declare it, or pass --missing {channel}={cell}",
            states.join(", ")
        )
    }
}

/// Rows that gave no reading for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// The channel; `None` if the reason concerns all channels.
    pub channel: Option<String>,
    /// The reason.
    pub reason: Reason,
    /// The rows.
    pub lines: Lines,
}

/// Counts faults by reason and channel.
pub(in crate::source) fn count(faults: &mut Vec<Fault>, channel: Option<&str>, reason: Reason, line: u64) {
    let same = |fault: &&mut Fault| fault.reason == reason && fault.channel.as_deref() == channel;
    match faults.iter_mut().find(same) {
        Some(fault) => fault.lines.add(line),
        None => {
            let mut lines = Lines::default();
            lines.add(line);
            faults.push(Fault { channel: channel.map(str::to_owned), reason, lines });
        }
    }
}
