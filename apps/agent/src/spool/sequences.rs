//! The state of a spool: sequence numbers, which are never reused, and the time up to which each stream is sent.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use super::error::SpoolError;
use super::reserve::Reserve;
use super::totals::Totals;

const FILE: &str = "state.json";
/// Enough for about 45,000 streams with the longest names, over all profiles that the device ever had.
const LARGEST_STATE: u64 = 4 << 20;

/// The state of each stream, stored in the spool's folder.
#[derive(Debug)]
pub(crate) struct Sequences {
    path: PathBuf,
    state: State,
    /// True if the file did not exist.
    new: bool,
    reserve: Reserve,
}

/// The content of the file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct State {
    /// The device's name.
    pub(crate) device: String,
    /// The next sequence number of each stream.
    pub(crate) next: BTreeMap<String, u64>,
    /// For each stream, the end of its last window in the spool: milliseconds since 1970.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) sent_until: BTreeMap<String, i64>,
    /// For each stream, the sum over all windows that were put into the spool.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) totals: BTreeMap<String, Totals>,
    /// Shared masks, which earlier versions recorded here.
    #[serde(default, rename = "shared", skip_serializing)]
    _shared: IgnoredAny,
}

impl State {
    /// Reads the state in a spool's folder; `None` if there is no file.
    pub(crate) fn read(folder: &Path) -> Result<Option<Self>, SpoolError> {
        let path = folder.join(FILE);
        let file = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            opened => opened.map_err(SpoolError::io(&path))?,
        };
        let mut json = Vec::new();
        file.take(LARGEST_STATE + 1).read_to_end(&mut json).map_err(SpoolError::io(&path))?;
        readable(&json, &path)?;
        let damaged =
            |error: serde_json::Error| SpoolError::State { path: path.clone(), reason: error.to_string() };
        serde_json::from_slice(&json).map(Some).map_err(damaged)
    }
}

impl Sequences {
    /// Reads the state, or begins at 0 if there is no file.
    pub(crate) fn open(folder: &Path, device: &str) -> Result<Self, SpoolError> {
        let read = State::read(folder)?;
        let new = read.is_none();
        let state = read.unwrap_or_else(|| State { device: device.to_owned(), ..State::default() });
        if state.device != device {
            let (path, expected) = (folder.to_owned(), device.to_owned());
            return Err(SpoolError::OtherDevice { path, expected, found: state.device });
        }
        let reserve = Reserve::in_folder(folder);
        if !new {
            reserve.keep();
        }
        Ok(Self { path: folder.join(FILE), state, new, reserve })
    }

    /// Returns true if the file did not exist.
    pub(crate) fn is_new(&self) -> bool {
        self.new
    }

    /// Returns a copy of the state in memory.
    pub(crate) fn clone_state(&self) -> State {
        self.state.clone()
    }

    /// Returns the sequence number of a stream's next message.
    ///
    /// # Errors
    /// [`SpoolError::NoneLeft`] after the last one.
    pub(crate) fn next(&self, stream: &str) -> Result<u64, SpoolError> {
        let next = self.state.next.get(stream).copied().unwrap_or_default();
        let none_left = || SpoolError::NoneLeft { path: self.path.clone(), stream: stream.to_owned() };
        (next < u64::MAX).then_some(next).ok_or_else(none_left)
    }

    /// Returns true if the number counts as used.
    pub(crate) fn is_used(&self, stream: &str, sequence: u64) -> bool {
        self.state.next.get(stream).is_some_and(|next| sequence < *next)
    }

    /// Returns the time up to which a stream is sent; `None` before its first window.
    pub(crate) fn sent_until(&self, stream: &str) -> Option<i64> {
        self.state.sent_until.get(stream).copied()
    }

    /// Counts a message that is in the spool, in memory only.
    pub(crate) fn used(&mut self, stream: &str, sequence: u64, until: Option<i64>, totals: Option<&Totals>) {
        Self::count(&mut self.state, stream, sequence, until, totals);
    }

    /// Counts a message that is in the spool, on disk. If the write fails, the state does not change.
    pub(crate) fn record(
        &mut self,
        stream: &str,
        sequence: u64,
        until: Option<i64>,
        totals: &Totals,
    ) -> Result<(), SpoolError> {
        let (state, json) = self.with(stream, sequence, until, totals)?;
        self.reserve.write(&self.path, &json).map_err(SpoolError::io(&self.path))?;
        self.reserve.keep();
        self.state = state;
        Ok(())
    }

    /// Returns the error that [`Sequences::record`] would return. Writes nothing.
    pub(crate) fn check(&self, stream: &str, sequence: u64, totals: &Totals) -> Result<(), SpoolError> {
        self.with(stream, sequence, Some(i64::MIN), totals).map(drop)
    }

    /// Writes the state to disk.
    pub(crate) fn write(&self) -> Result<(), SpoolError> {
        let json = self.json(&self.state)?;
        self.reserve.write(&self.path, &json).map_err(SpoolError::io(&self.path))?;
        self.reserve.keep();
        Ok(())
    }

    fn with(
        &self,
        stream: &str,
        sequence: u64,
        until: Option<i64>,
        totals: &Totals,
    ) -> Result<(State, Vec<u8>), SpoolError> {
        let mut state = self.state.clone();
        Self::count(&mut state, stream, sequence, until, Some(totals));
        let json = self.json(&state)?;
        Ok((state, json))
    }

    fn count(state: &mut State, stream: &str, sequence: u64, until: Option<i64>, totals: Option<&Totals>) {
        let next = state.next.entry(stream.to_owned()).or_default();
        *next = (*next).max(sequence.saturating_add(1));
        if let Some(until) = until {
            let sent_until = state.sent_until.entry(stream.to_owned()).or_insert(until);
            *sent_until = (*sent_until).max(until);
        }
        if let Some(totals) = totals.filter(|totals| **totals != Totals::default()) {
            state.totals.entry(stream.to_owned()).or_default().add(totals);
        }
    }

    /// Serialises the state. Refuses one that is too long to be read again.
    fn json(&self, state: &State) -> Result<Vec<u8>, SpoolError> {
        let json = serde_json::to_vec(state).map_err(|error| SpoolError::io(&self.path)(error.into()))?;
        readable(&json, &self.path)?;
        Ok(json)
    }
}

fn readable(json: &[u8], path: &Path) -> Result<(), SpoolError> {
    let too_many = || SpoolError::TooManyStreams { path: path.to_owned(), limit: LARGEST_STATE };
    (json.len() as u64 <= LARGEST_STATE).then_some(()).ok_or_else(too_many)
}
