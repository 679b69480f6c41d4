//! Keeps the state of a spool on disk: sequence numbers, which are never reused, and the ticks that are sent.
//!
//! A message is one line of the journal. From time to time a snapshot takes the place of the lines: first `state.json`
//! counts them, then the journal is replaced by the ticks of all. After a crash between the two, the lines are read
//! again and change nothing.

use std::collections::{BTreeMap, VecDeque};
use std::path::{Path, PathBuf};

use super::contents::Contents;
use super::error::SpoolError;
use super::reserve::{Reserve, is_full};
use super::runs::Runs;
use super::sent::Sent;
use super::sent_journal::{Counts, Line, SentJournal};
use super::state::{Found, Known, LARGEST_STATE, State};

/// Maximum bytes of a state that takes another stream: the rest is for larger numbers.
const LARGEST_GROWING: u64 = LARGEST_STATE - LARGEST_STATE / 8;

/// The state of each stream, stored in the spool's folder.
#[derive(Debug)]
pub(super) struct Sequences {
    path: PathBuf,
    known: Known,
    journal: SentJournal,
    /// Lines that are counted in memory and not yet in the journal.
    unwritten: VecDeque<Line>,
    /// True if `state.json` did not exist.
    new: bool,
    /// True if a snapshot has to come before the next line.
    stale: bool,
    reserve: Reserve,
}

impl Sequences {
    /// Reads the state, or begins at 0 if there is no file.
    pub(super) fn open(folder: &Path, device: &str) -> Result<Self, SpoolError> {
        let Found { mut known, journal, is_new: new, is_earlier } = Known::read(folder)?;
        if new {
            device.clone_into(&mut known.state.device);
        }
        if known.state.device != device {
            let (path, expected) = (folder.to_owned(), device.to_owned());
            return Err(SpoolError::OtherDevice { path, expected, found: known.state.device });
        }
        let reserve = Reserve::in_folder(folder);
        if !new {
            reserve.keep();
        }
        let (path, unwritten, stale) = (State::path(folder), VecDeque::new(), new || is_earlier);
        Ok(Self { path, known, journal, unwritten, new, stale, reserve })
    }

    /// Returns true if `state.json` did not exist.
    pub(super) fn is_new(&self) -> bool {
        self.new
    }

    /// Returns the sequence number of a stream's next message.
    ///
    /// # Errors
    /// [`SpoolError::NoneLeft`] after the last one.
    pub(super) fn next(&self, stream: &str) -> Result<u64, SpoolError> {
        let next = self.known.state.next.get(stream).copied().unwrap_or_default();
        let none_left = || SpoolError::NoneLeft { path: self.path.clone(), stream: stream.to_owned() };
        (next < u64::MAX).then_some(next).ok_or_else(none_left)
    }

    /// Returns true if the number counts as used.
    pub(super) fn is_used(&self, stream: &str, sequence: u64) -> bool {
        self.known.state.next.get(stream).is_some_and(|next| sequence < *next)
    }

    /// Returns the end of a stream's last window; `None` before the first one.
    pub(super) fn sent_until(&self, stream: &str) -> Option<i64> {
        self.known.state.sent_until.get(stream).copied()
    }

    /// Returns true if a window was ever put into this spool.
    pub(super) fn has_counted_windows(&self) -> bool {
        self.known.state.totals.values().any(|totals| totals.windows > 0)
    }

    /// Returns the ticks that a stream has sent.
    pub(super) fn sent(&self, stream: &str) -> Sent {
        self.known.sent(stream)
    }

    /// Sets the last used number of a stream, in memory only.
    pub(super) fn used(&mut self, stream: &str, sequence: u64) {
        self.known.count(stream, sequence, &Contents::default());
    }

    /// Sets the time before which every tick of a stream counts as sent, in memory only. It does not decrease.
    pub(super) fn sent_before(&mut self, stream: &str, before: i64) {
        self.known.state.sent_before(stream, before);
        self.stale = true;
    }

    /// Replaces the ticks that a stream has sent, in memory only.
    pub(super) fn learn(&mut self, stream: &str, sent: Sent) {
        self.known.learn(stream, sent);
        // On disk before `state.json`, which may count fewer ticks by time than before.
        self.unwritten.extend(self.known.lines_of(stream));
        self.stale = true;
    }

    /// Counts messages that are in the folder and not in the state, in order. A full disk puts off writing them. Returns false
    /// if it is not known which ticks they take out: more than those count as not sent then.
    ///
    /// # Errors
    /// [`SpoolError::State`] if the journal's last line is damaged and not torn: a torn line is that of a message in the
    /// folder.
    pub(super) fn recover(&mut self, found: Vec<(String, u64, Contents)>) -> Result<bool, SpoolError> {
        if self.journal.torn && found.is_empty() {
            let reason = "its last line is damaged".to_owned();
            return Err(SpoolError::State { path: self.journal.path().to_owned(), reason });
        }
        let mut is_exact = true;
        for (stream, sequence, mut contents) in found {
            let (cleared, exactly) = self.known.cleared_by(&stream, &contents);
            contents.cleared = cleared;
            is_exact &= exactly;
            self.known.count(&stream, sequence, &contents);
            self.unwritten.push_back(line(&stream, sequence, &contents));
        }
        // The state of a new spool is written once the positions are known.
        if !self.new {
            self.settle()?;
        }
        Ok(is_exact)
    }

    /// Returns the times, by channel, whose ticks a message takes out, by its own header.
    pub(super) fn cleared_by(&self, stream: &str, contents: &Contents) -> BTreeMap<String, Runs> {
        self.known.cleared_by(stream, contents).0
    }

    /// Writes what is counted in memory only; puts it off on a full disk.
    pub(super) fn settle(&mut self) -> Result<(), SpoolError> {
        match self.write_ahead() {
            Err(SpoolError::Io { error, .. }) if is_full(&error) => Ok(()),
            written => written,
        }
    }

    fn write_ahead(&mut self) -> Result<(), SpoolError> {
        if self.stale {
            return self.write();
        }
        while let Some(line) = self.unwritten.front() {
            self.journal.append(line, &self.reserve)?;
            self.unwritten.pop_front();
        }
        Ok(())
    }

    /// Counts a message that is in the spool, on disk. If the write fails, the state does not change.
    pub(super) fn record(
        &mut self,
        stream: &str,
        sequence: u64,
        contents: &Contents,
    ) -> Result<(), SpoolError> {
        self.write_ahead()?;
        self.journal.append(&line(stream, sequence, contents), &self.reserve)?;
        self.reserve.keep();
        self.known.count(stream, sequence, contents);
        if self.journal.is_long() {
            match self.write() {
                // The line is durable.
                Err(SpoolError::Io { error, .. }) if is_full(&error) => self.journal.put_off(),
                written => written?,
            }
        }
        self.journal.rest();
        Ok(())
    }

    /// Returns an error if the next start could not read the state with this message. Writes nothing.
    pub(super) fn check(&self, stream: &str, contents: &Contents) -> Result<(), SpoolError> {
        let state = &self.known.state;
        let totals = state.totals.get(stream);
        let is_known = |channel| totals.is_some_and(|totals| totals.channels.contains_key(channel));
        if state.next.contains_key(stream) && contents.totals.channels.keys().all(is_known) {
            return Ok(());
        }
        let mut state = state.clone();
        state.count(stream, u64::MAX, Some(i64::MIN), &contents.totals);
        state.json(LARGEST_GROWING, &self.path).map(drop)
    }

    /// Writes a snapshot to disk.
    pub(super) fn write(&mut self) -> Result<(), SpoolError> {
        // The journal is made first: without one, `state.json` is refused.
        self.journal.make()?;
        let json = self.known.state.json(LARGEST_STATE, &self.path)?;
        // The ticks of unwritten lines are in the journal's snapshot only: it must not come after their count alone.
        while let Some(line) = self.unwritten.front() {
            self.journal.append(line, &self.reserve)?;
            self.unwritten.pop_front();
        }
        self.reserve.write(&self.path, &json).map_err(SpoolError::io(&self.path))?;
        self.stale = false;
        self.journal.replace(self.known.lines())?;
        self.reserve.keep();
        Ok(())
    }
}

fn line(stream: &str, sequence: u64, contents: &Contents) -> Line {
    let Contents { start, until, totals, sent, cleared, moved, .. } = contents.clone();
    let message = Some(Counts { sequence, moved, start, until, totals });
    Line { stream: stream.to_owned(), message, cleared, sent, windows: None }
}
