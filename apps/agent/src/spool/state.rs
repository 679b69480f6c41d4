//! The state of a device's streams: sequence numbers, counts, and the ticks that are sent.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::contents::Contents;
use super::error::SpoolError;
use super::numbers::{Listed, SentWindows};
use super::runs::Runs;
use super::sent::Sent;
use super::sent_journal::{Counts, Line, SentJournal, Unread};
use super::totals::Totals;

const FILE: &str = "state.json";
/// Enough for about 45,000 streams with the longest names, over all profiles that the device ever had.
pub(super) const LARGEST_STATE: u64 = 4 << 20;

/// The content of `state.json`: numbers and counts as of the last snapshot.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    /// The device's name.
    pub(super) device: String,
    /// The next sequence number of each stream.
    pub(super) next: BTreeMap<String, u64>,
    /// For each stream, the end of its last window in the spool: milliseconds since 1970.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) sent_until: BTreeMap<String, i64>,
    /// For each stream, a time before which every tick counts as sent: milliseconds since 1970. `None` in the files of
    /// earlier versions, which had no journal; always written, so that they refuse this file.
    #[serde(default)]
    pub(super) before: Option<BTreeMap<String, i64>>,
    /// For each stream, the sum over all windows that were put into the spool.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) totals: BTreeMap<String, Totals>,
    /// Shared masks, which earlier versions recorded here.
    #[serde(default, rename = "shared", skip_serializing)]
    _shared: IgnoredAny,
}

/// The state of a device's streams, as snapshot and journal say.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) state: State,
    /// The ticks that are sent, by stream and channel.
    pub(super) ticks: BTreeMap<String, BTreeMap<String, Runs>>,
    /// The windows that are sent, by stream.
    windows: BTreeMap<String, SentWindows>,
}

/// The files of a spool's state, read.
pub(super) struct Found {
    pub(super) known: Known,
    pub(super) journal: SentJournal,
    /// True if there is no `state.json`.
    pub(super) is_new: bool,
    /// True if an earlier version wrote `state.json`.
    pub(super) is_earlier: bool,
}

impl State {
    /// Returns the path of the file in a spool's folder.
    pub(super) fn path(folder: &Path) -> PathBuf {
        folder.join(FILE)
    }

    fn read(folder: &Path) -> Result<Option<Self>, SpoolError> {
        let path = Self::path(folder);
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(SpoolError::io(&path))?,
        };
        let mut json = Vec::new();
        file.take(LARGEST_STATE + 1).read_to_end(&mut json).map_err(SpoolError::io(&path))?;
        fits(&json, LARGEST_STATE, &path)?;
        let damaged =
            |error: serde_json::Error| SpoolError::State { path: path.clone(), reason: error.to_string() };
        serde_json::from_slice(&json).map(Some).map_err(damaged)
    }

    /// Serialises the state. Refuses one of more than `limit` bytes.
    pub(super) fn json(&self, limit: u64, path: &Path) -> Result<Vec<u8>, SpoolError> {
        let json = serde_json::to_vec(self).map_err(|error| SpoolError::io(path)(error.into()))?;
        fits(&json, limit, path)?;
        Ok(json)
    }

    /// Counts a message. Its counts are added once: its number is below the next one afterwards.
    pub(super) fn count(&mut self, stream: &str, sequence: u64, until: Option<i64>, totals: &Totals) {
        let next = self.next.entry(stream.to_owned()).or_default();
        if sequence < *next {
            return;
        }
        *next = sequence.saturating_add(1);
        if let Some(until) = until {
            later(&mut self.sent_until, stream, until);
        }
        if *totals != Totals::default() {
            self.totals.entry(stream.to_owned()).or_default().add(totals);
        }
    }

    /// Sets the time before which every tick counts as sent. It does not decrease.
    pub(super) fn sent_before(&mut self, stream: &str, before: i64) {
        later(&mut self.sent_until, stream, before);
        later(self.before.get_or_insert_default(), stream, before);
    }
}

impl Known {
    /// Reads the state in a spool's folder without changing it. Works while an agent uses the folder.
    pub(super) fn read(folder: &Path) -> Result<Found, SpoolError> {
        // A snapshot writes `state.json` first: it counts all lines of a journal that was opened before.
        let mut unread = Unread::open(folder)?;
        let found = State::read(folder)?;
        let is_new = found.is_none();
        let mut state = found.unwrap_or_default();
        let is_earlier = !is_new && state.before.is_none();
        match &state.before {
            Some(_) => {
                if unread.is_missing() {
                    // An agent may have made both files in the meantime.
                    unread = Unread::open(folder)?;
                }
                unread.must_be_there()?;
            }
            // Earlier versions knew a time only.
            None => state.before = Some(state.sent_until.clone()),
        }
        let mut known = Self { state, ticks: BTreeMap::new(), windows: BTreeMap::new() };
        let journal = unread.read(|line| known.apply(&line))?;
        Ok(Found { known, journal, is_new, is_earlier })
    }

    /// Adds a line of the journal. The same line again changes nothing.
    fn apply(&mut self, line: &Line) {
        let Line { stream, message, cleared, sent, windows } = line;
        if let Some(Counts { sequence, moved, start, until, totals }) = message {
            self.state.count(stream, *sequence, *until, totals);
            self.add_window(stream, *sequence, start.zip(*until), (*moved, sent));
        }
        if let Some(listed) = windows {
            self.windows.entry(stream.clone()).or_default().add_listed(listed);
        }
        self.clear_ticks(stream, cleared);
        self.add_ticks(stream, sent);
    }

    /// Counts a message.
    pub(super) fn count(&mut self, stream: &str, sequence: u64, contents: &Contents) {
        let Contents { start, until, totals, sent, cleared, moved, .. } = contents;
        self.state.count(stream, sequence, *until, totals);
        self.add_window(stream, sequence, start.zip(*until), (*moved, sent));
        self.clear_ticks(stream, cleared);
        self.add_ticks(stream, sent);
    }

    /// Returns the times, by channel, whose ticks a message takes out, by its own header. False if the journal does not tell
    /// which ticks they had: of windows in that time that it does not name, for example.
    pub(super) fn cleared_by(&self, stream: &str, contents: &Contents) -> (BTreeMap<String, Runs>, bool) {
        if contents.names.is_empty() {
            return (BTreeMap::new(), true);
        }
        let own = contents.start.zip(contents.until).unwrap_or_default();
        let none = SentWindows::default();
        self.windows.get(stream).unwrap_or(&none).named(&contents.names, own)
    }

    fn add_window(
        &mut self,
        stream: &str,
        number: u64,
        time: Option<(i64, i64)>,
        (moved, sent): (Option<u64>, &BTreeMap<String, Runs>),
    ) {
        let windows = self.windows.entry(stream.to_owned()).or_default();
        if let Some(moved) = moved {
            windows.renumber(moved, number);
        } else if let Some(time) = time {
            windows.add(number, time, sent.keys().cloned().collect());
        }
    }

    fn clear_ticks(&mut self, stream: &str, cleared: &BTreeMap<String, Runs>) {
        let Some(of_stream) = self.ticks.get_mut(stream) else { return };
        for (channel, times) in cleared {
            let Some(runs) = of_stream.get_mut(channel) else { continue };
            runs.subtract(times);
        }
    }

    /// Replaces the ticks that a stream has sent. The end of its last window does not decrease.
    pub(super) fn learn(&mut self, stream: &str, sent: Sent) {
        let Sent { before, until, channels, windows } = sent;
        if let Some(until) = until {
            later(&mut self.state.sent_until, stream, until);
        }
        let times = self.state.before.get_or_insert_default();
        match before {
            Some(before) => times.insert(stream.to_owned(), before),
            None => times.remove(stream),
        };
        self.ticks.insert(stream.to_owned(), channels);
        self.windows.insert(stream.to_owned(), windows);
    }

    fn add_ticks(&mut self, stream: &str, sent: &BTreeMap<String, Runs>) {
        for (channel, runs) in sent {
            let of_stream = self.ticks.entry(stream.to_owned()).or_default();
            of_stream.entry(channel.clone()).or_default().add(runs);
        }
    }

    /// Returns the ticks that a stream has sent.
    pub(super) fn sent(&self, stream: &str) -> Sent {
        Sent {
            before: self.state.before.as_ref().and_then(|before| before.get(stream).copied()),
            until: self.state.sent_until.get(stream).copied(),
            channels: self.ticks.get(stream).cloned().unwrap_or_default(),
            windows: self.windows.get(stream).cloned().unwrap_or_default(),
        }
    }

    /// Iterates over the lines of a snapshot.
    pub(super) fn lines(&self) -> impl Iterator<Item = Line> + '_ {
        self.ticks
            .keys()
            .chain(self.windows.keys())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .flat_map(|stream| self.lines_of(stream))
    }

    /// Returns the lines of a snapshot that are about a stream.
    pub(super) fn lines_of(&self, stream: &str) -> Vec<Line> {
        let ticks = self.ticks.get(stream).into_iter().flatten();
        let line =
            |(channel, runs): (&String, &Runs)| part(stream, [(channel.clone(), runs.clone())].into(), None);
        let listed = self.windows.get(stream).into_iter().flat_map(SentWindows::lines);
        let windows = listed.map(|listed| part(stream, BTreeMap::new(), Some(listed)));
        ticks.map(line).chain(windows).collect()
    }
}

/// Returns a line of a snapshot.
fn part(stream: &str, sent: BTreeMap<String, Runs>, windows: Option<Listed>) -> Line {
    Line { stream: stream.to_owned(), message: None, cleared: BTreeMap::new(), sent, windows }
}

fn later(times: &mut BTreeMap<String, i64>, stream: &str, time: i64) {
    let latest = times.entry(stream.to_owned()).or_insert(time);
    *latest = (*latest).max(time);
}

fn fits(json: &[u8], limit: u64, path: &Path) -> Result<(), SpoolError> {
    let too_many = || SpoolError::TooManyStreams { path: path.to_owned(), limit };
    (json.len() as u64 <= limit).then_some(()).ok_or_else(too_many)
}
