//! Lost readings, for people and for programs: their number by reason, their lines, and the way out.

use std::path::PathBuf;

use serde::Serialize;
use sotto_pack::{LeftOut, Reason};

use crate::nouns::counted;
use crate::source::FileFacts;
use crate::windows::{Lost, LostReading};

/// Readings that are lost: finite values with a valid time that end in no window.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LostSummary {
    /// Their number.
    pub readings: u64,
    /// Their number by reason; `already-sent` ones have another value than the one that was sent.
    pub by_reason: LeftOut,
    /// The first of them.
    pub first: Vec<LostRow>,
    /// Cells that name none of the states of their channel.
    #[serde(skip)]
    unknown_states: Vec<String>,
}

/// A lost reading.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostRow {
    /// The file; null if the source is none.
    pub file: Option<PathBuf>,
    /// The line; null if the source has none.
    pub line: Option<u32>,
    /// The channel.
    pub channel: String,
    /// The reason.
    pub reason: Reason,
}

/// The run is done, but readings are lost.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct ReadingsLost(String);

impl LostSummary {
    /// Returns the lost readings of a run over these files.
    #[must_use]
    pub fn of(lost: &Lost, files: &[FileFacts]) -> Self {
        let row = |LostReading { row, channel, reason }: &LostReading| LostRow {
            file: files.get(usize::from(row.file)).map(|file| file.path.clone()),
            line: (row.line > 0).then_some(row.line),
            channel: channel.clone(),
            reason: *reason,
        };
        let is_counted = |row: &LostRow| lost.by_reason.count(row.reason) > 0;
        let unknown = files.iter().flat_map(|file| &file.unknown_states);
        Self {
            readings: lost.by_reason.total(),
            by_reason: lost.by_reason.clone(),
            first: lost.first.iter().map(row).filter(is_counted).collect(),
            unknown_states: unknown.map(crate::source::UnknownState::words).collect(),
        }
    }

    /// Returns the number of readings and their reasons in words; `None` if none is lost.
    #[must_use]
    pub fn words(&self) -> Option<String> {
        let of = |(reason, count)| format!("{count} {}", words(reason));
        let all: Vec<String> = self.by_reason.iter().map(of).collect();
        let verb = if self.readings == 1 { "is" } else { "are" };
        (self.readings > 0)
            .then(|| format!("{} {verb} lost: {}", counted(self.readings, "reading"), all.join(", ")))
    }

    /// Returns the first rows in words, a line each.
    #[must_use]
    pub fn rows(&self) -> Vec<String> {
        let several = self.first.iter().any(|row| row.file != self.first[0].file);
        let row = |row: &LostRow| {
            let line = row.line.map(|line| format!("line {line}"));
            let file = row.file.as_ref().filter(|_| several).map(|file| format!("of {}", file.display()));
            let place: Vec<String> = line.into_iter().chain(file).collect();
            let place = if place.is_empty() { String::new() } else { format!("{}: ", place.join(" ")) };
            format!("{place}{}, {}", row.channel, words(row.reason))
        };
        self.first.iter().map(row).collect()
    }

    /// Returns the ways out, a line for each reason.
    #[must_use]
    pub fn ways_out(&self) -> Vec<String> {
        let way = |(reason, _)| format!("{}: {}", words(reason), way_out(reason));
        self.by_reason.iter().map(way).chain(self.unknown_states.iter().cloned()).collect()
    }

    /// Returns an error if readings are lost. The summary of the run has their number.
    ///
    /// # Errors
    /// [`ReadingsLost`] with the first rows and the ways out.
    pub fn check(&self) -> Result<(), ReadingsLost> {
        if self.readings == 0 {
            return Ok(());
        }
        let head = "lost readings, and the way out:".to_owned();
        let lines = std::iter::once(head).chain(self.rows()).chain(self.ways_out());
        Err(ReadingsLost(lines.collect::<Vec<_>>().join("\n  ")))
    }
}

fn words(reason: Reason) -> &'static str {
    match reason {
        Reason::AlreadySent => "already sent with another value",
        Reason::Text => "of no declared state",
        other => other.words(),
    }
}

fn way_out(reason: Reason) -> &'static str {
    match reason {
        Reason::OutOfRange => {
            "widen `range` in sotto.toml and make a new bundle with `sotto device renew`, or mend the rows"
        }
        Reason::OffGrid => {
            "declare a shorter `every`, or with --several which reading a tick takes, and make a new bundle"
        }
        Reason::Future => "set this machine's clock right, or take such times with --allow-future",
        Reason::TooLate => {
            "send the file with --correct, and keep readings for longer with --late: their windows are kept no more"
        }
        Reason::AlreadySent => {
            "if the new value is the right one, send it with --correct; if most values differ, it is the file of another device, or of another column"
        }
        Reason::Text => "declare the state, or name the word as missing with --missing CHANNEL=WORD",
        _ => "mend the rows",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::windows::{FirstLost, RowPlace};

    #[test]
    fn lost_readings_are_named_with_the_way_out() {
        assert!(LostSummary::default().check().is_ok());
        let (mut by_reason, mut first) = (LeftOut::default(), FirstLost::default());
        by_reason.add(Reason::OutOfRange, 2);
        by_reason.add(Reason::AlreadySent, 1);
        first.note(RowPlace { file: 0, line: 7 }, "load", Reason::OutOfRange);
        first.note(RowPlace { file: 0, line: 3 }, "door", Reason::AlreadySent);
        // One that was counted by an earlier run.
        first.note(RowPlace { file: 0, line: 1 }, "door", Reason::Future);
        let file = FileFacts { path: "a.csv".into(), ..FileFacts::default() };
        let lost = LostSummary::of(&Lost { by_reason, first }, &[file]);
        let words = lost.check().unwrap_err().to_string();
        let lines: Vec<&str> = words.lines().map(str::trim).collect();
        assert_eq!(
            lost.words().unwrap(),
            "3 readings are lost: 2 out of range, 1 already sent with another value"
        );
        assert!(!lines[0].contains('3'), "the summary has the number");
        assert_eq!(
            lines[1..3],
            ["line 3: door, already sent with another value", "line 7: load, out of range"]
        );
        assert!(words.contains("sotto device renew") && words.contains("--correct"), "{words}");
    }
}
