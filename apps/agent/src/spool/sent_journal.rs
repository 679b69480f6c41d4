//! The journal of sent messages: one line for each message since the last snapshot, and before them the ticks of all
//! earlier ones.
//!
//! A line is a checksum and a JSON object. Each is synced before the next is written, so a crash can tear the last line
//! only. Reading ends there and says so.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::durable::{self, Audience};
use super::error::SpoolError;
use super::numbers::Listed;
use super::private;
use super::reserve::{Reserve, is_full};
use super::runs::Runs;
use super::totals::Totals;

const FILE: &str = "sent.journal";
/// Hexadecimal digits of a checksum.
const DIGITS: usize = 16;
/// Maximum bytes of a line: the ticks of one channel, about 14 bytes a run.
const LARGEST_LINE: u64 = 256 << 20;
/// A journal is rewritten when its lines since the last snapshot exceed its snapshot by this many bytes.
const SLACK: u64 = 256 << 10;

/// One line: a message, or a part of a snapshot.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Line {
    pub(super) stream: String,
    /// `None` for a part of a snapshot, which `state.json` counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) message: Option<Counts>,
    /// Times whose ticks count no more, by the name of their channel. They come before the ticks of the message.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) cleared: BTreeMap<String, Runs>,
    /// The ticks by the name of their channel.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) sent: BTreeMap<String, Runs>,
    /// Windows of a snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) windows: Option<Listed>,
}

/// The number of a message, and its counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Counts {
    pub(super) sequence: u64,
    /// The number that the message had before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) moved: Option<u64>,
    /// The start of its window in milliseconds since 1970; `None` in lines of earlier versions, or if it is counted already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) start: Option<i64>,
    /// The end of its window in milliseconds since 1970; `None` if that is unknown or counted already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<i64>,
    pub(super) totals: Totals,
}

impl Line {
    fn write(&self) -> io::Result<Vec<u8>> {
        let json = serde_json::to_vec(self)?;
        let mut line = checksum(&json).into_bytes();
        line.push(b' ');
        line.extend(json);
        line.push(b'\n');
        Ok(line)
    }

    /// Parses a line with its end; `None` if it is torn or damaged.
    fn read(line: &[u8]) -> Option<Self> {
        let line = line.strip_suffix(b"\n")?;
        let (digits, json) = (line.get(..DIGITS)?, line.get(DIGITS + 1..)?);
        if checksum(json).as_bytes() != digits || line[DIGITS] != b' ' {
            return None;
        }
        serde_json::from_slice(json).ok()
    }
}

fn checksum(json: &[u8]) -> String {
    hex::encode(&blake3::hash(json).as_bytes()[..DIGITS / 2])
}

/// An opened journal, not yet read.
pub(super) struct Unread {
    path: PathBuf,
    /// `None` if there is no file.
    file: Option<File>,
}

/// The journal on disk.
#[derive(Debug)]
pub(super) struct SentJournal {
    path: PathBuf,
    file: Option<File>,
    /// Bytes of all whole lines.
    bytes: u64,
    /// Bytes at which the journal is rewritten.
    most: u64,
    /// True if the last line is torn.
    pub(super) torn: bool,
}

impl Unread {
    /// Opens the journal in a folder. Changes nothing. A journal that is replaced afterwards is read as it was.
    pub(super) fn open(folder: &Path) -> Result<Self, SpoolError> {
        let path = folder.join(FILE);
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            opened => Some(opened.map_err(SpoolError::io(&path))?),
        };
        Ok(Self { path, file })
    }

    /// Returns true if there is no file.
    pub(super) fn is_missing(&self) -> bool {
        self.file.is_none()
    }

    /// Returns an error if there is no file.
    pub(super) fn must_be_there(&self) -> Result<(), SpoolError> {
        let missing = || SpoolError::State { path: self.path.clone(), reason: "it is missing".to_owned() };
        if self.is_missing() { Err(missing()) } else { Ok(()) }
    }

    /// Passes each line on, in order, up to a torn one at the end.
    ///
    /// # Errors
    /// [`SpoolError::State`] for a damaged line before the last one.
    pub(super) fn read(self, mut each: impl FnMut(Line)) -> Result<SentJournal, SpoolError> {
        let mut journal = SentJournal { path: self.path, file: None, bytes: 0, most: SLACK, torn: false };
        let Some(file) = self.file else { return Ok(journal) };
        let (mut reader, mut line) = (BufReader::new(file), Vec::new());
        let mut snapshot = 0;
        loop {
            line.clear();
            let read = reader.by_ref().take(LARGEST_LINE).read_until(b'\n', &mut line);
            let read = read.map_err(SpoolError::io(&journal.path))?;
            if read == 0 {
                journal.most = 2 * snapshot + SLACK;
                return Ok(journal);
            }
            if journal.torn {
                let reason = format!("the line at byte {}", journal.bytes);
                return Err(SpoolError::State { path: journal.path, reason });
            }
            match Line::read(&line) {
                Some(found) => {
                    journal.bytes += read as u64;
                    if found.message.is_none() {
                        snapshot = journal.bytes;
                    }
                    each(found);
                }
                None => journal.torn = true,
            }
        }
    }
}

impl SentJournal {
    /// Makes an empty file if there is none.
    pub(super) fn make(&mut self) -> Result<(), SpoolError> {
        self.file().map(drop).map_err(SpoolError::io(&self.path))
    }

    /// Adds a line durably. On a full disk, uses the reserved space. After an error the journal is as before.
    pub(super) fn append(&mut self, line: &Line, reserve: &Reserve) -> Result<(), SpoolError> {
        let append = |journal: &mut Self, line: &[u8]| match journal.write(line) {
            Err(error) if is_full(&error) && reserve.release() => journal.write(line),
            written => written,
        };
        let appended = line.write().and_then(|line| append(self, &line));
        appended.map_err(SpoolError::io(&self.path))
    }

    fn write(&mut self, line: &[u8]) -> io::Result<()> {
        let (bytes, torn) = (self.bytes, std::mem::take(&mut self.torn));
        let file = self.file()?;
        if torn {
            file.set_len(bytes)?;
        }
        file.seek(SeekFrom::Start(bytes))?;
        if let Err(error) = file.write_all(line).and_then(|()| file.sync_data()) {
            self.torn = self.file()?.set_len(bytes).is_err();
            return Err(error);
        }
        self.bytes += line.len() as u64;
        Ok(())
    }

    /// Closes the file until the next line: many devices of one process would have many files open.
    pub(super) fn rest(&mut self) {
        self.file = None;
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns true if the journal has become long beside its snapshot.
    pub(super) fn is_long(&self) -> bool {
        self.bytes > self.most
    }

    /// Replaces the journal by a snapshot, at once.
    pub(super) fn replace(&mut self, lines: impl Iterator<Item = Line>) -> Result<(), SpoolError> {
        let replace = || {
            let mut bytes = Vec::new();
            for line in lines {
                bytes.extend(line.write()?);
            }
            durable::write(&self.path, &bytes, Audience::Owner)?;
            Ok(bytes.len() as u64)
        };
        let bytes = replace().map_err(SpoolError::io(&self.path))?;
        (self.file, self.bytes, self.torn) = (None, bytes, false);
        self.most = 2 * bytes + SLACK;
        Ok(())
    }

    /// Puts off the next snapshot, after one that could not be written.
    pub(super) fn put_off(&mut self) {
        self.most = self.bytes + SLACK;
    }

    fn file(&mut self) -> io::Result<&mut File> {
        if self.file.is_none() {
            let is_new = !self.path.exists();
            let file = private::options().create(true).truncate(false).write(true).open(&self.path)?;
            if is_new {
                durable::sync_folder_of(&self.path)?;
            }
            return Ok(self.file.insert(file));
        }
        self.file.as_mut().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(sequence: u64) -> Line {
        let (totals, none) = (Totals::default(), BTreeMap::new());
        let counts = Counts { sequence, moved: None, start: Some(0), until: Some(5), totals };
        Line { stream: "s".into(), message: Some(counts), cleared: none.clone(), sent: none, windows: None }
    }

    fn read(folder: &Path) -> Result<(Vec<Line>, SentJournal), SpoolError> {
        let mut lines = Vec::new();
        let journal = Unread::open(folder)?.read(|line| lines.push(line))?;
        Ok((lines, journal))
    }

    fn written(folder: &Path, lines: &[Line]) -> Vec<u8> {
        let (_, mut journal) = read(folder).unwrap();
        let reserve = Reserve::in_folder(folder);
        lines.iter().for_each(|line| journal.append(line, &reserve).unwrap());
        std::fs::read(folder.join(FILE)).unwrap()
    }

    #[test]
    fn a_torn_end_is_told_and_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let (first, second) = (line(0), line(1));
        let whole = written(folder.path(), &[first.clone(), second.clone()]);
        let begin = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for end in begin..whole.len() {
            for zeros in [0, 7] {
                // A crash may leave the length of a file without its bytes.
                let torn = [&whole[..end], &vec![0; zeros]].concat();
                std::fs::write(folder.path().join(FILE), &torn).unwrap();
                let (lines, journal) = read(folder.path()).unwrap();
                assert_eq!((lines, journal.torn), (vec![first.clone()], torn.len() > begin), "{end} {zeros}");
                assert_eq!(written(folder.path(), std::slice::from_ref(&second)), whole, "{end} {zeros}");
            }
        }
    }

    #[test]
    fn a_damaged_line_before_the_end_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let whole = written(folder.path(), &[line(0), line(1)]);
        let begin = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            std::fs::write(folder.path().join(FILE), &damaged).unwrap();
            // Without the end of a line, it is one with the next, which is the last one here.
            match read(folder.path()) {
                Err(SpoolError::State { .. }) => assert!(at + 1 < begin, "byte {at}"),
                read => assert!(read.unwrap().1.torn && at + 1 >= begin, "byte {at}"),
            }
        }
    }

    #[test]
    fn a_snapshot_takes_the_place_of_all_lines() {
        let folder = tempfile::tempdir().unwrap();
        let (_, mut journal) = read(folder.path()).unwrap();
        let reserve = Reserve::in_folder(folder.path());
        let mut count = 0;
        while !journal.is_long() {
            journal.append(&line(count), &reserve).unwrap();
            count += 1;
        }
        let part = Line { message: None, ..line(0) };
        journal.replace(std::iter::once(part.clone())).unwrap();
        assert!(!journal.is_long());
        journal.append(&line(count), &reserve).unwrap();
        assert_eq!(read(folder.path()).unwrap().0, [part, line(count)]);
    }
}
