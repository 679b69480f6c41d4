//! Sequence numbers, which are never used twice: not after a restart, not after a crash.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::durable::{self, Audience};
use super::error::SpoolError;

const FILE: &str = "state.json";
/// Some 45,000 streams of the longest names: those of all profiles that the device ever had.
const LARGEST_STATE: u64 = 4 << 20;

/// The next sequence number of each stream, kept in the spool's folder.
#[derive(Debug)]
pub(crate) struct Sequences {
    path: PathBuf,
    state: State,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct State {
    device: String,
    next: BTreeMap<String, u64>,
}

impl Sequences {
    /// Reads them, or begins at 0 where there are none.
    pub(crate) fn open(folder: &Path, device: &str) -> Result<Self, SpoolError> {
        let path = folder.join(FILE);
        let state = match File::open(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                State { device: device.to_owned(), next: BTreeMap::new() }
            }
            Err(error) => return Err(SpoolError::io(&path)(error)),
            Ok(file) => {
                let mut json = Vec::new();
                file.take(LARGEST_STATE + 1).read_to_end(&mut json).map_err(SpoolError::io(&path))?;
                readable(&json, &path)?;
                let damaged = |error: serde_json::Error| SpoolError::State {
                    path: path.clone(),
                    reason: error.to_string(),
                };
                serde_json::from_slice(&json).map_err(damaged)?
            }
        };
        if state.device != device {
            let (path, expected) = (folder.to_owned(), device.to_owned());
            return Err(SpoolError::OtherDevice { path, expected, found: state.device });
        }
        Ok(Self { path, state })
    }

    /// A number was seen in the spool: it is used.
    pub(crate) fn used(&mut self, stream: &str, sequence: u64) {
        let next = self.state.next.entry(stream.to_owned()).or_default();
        *next = (*next).max(sequence.saturating_add(1));
    }

    /// Takes a number. That it is taken is on disk before anybody can use it: a crash leaves a gap, never a repetition.
    pub(crate) fn take(&mut self, stream: &str) -> Result<u64, SpoolError> {
        let next = self.state.next.entry(stream.to_owned()).or_default();
        let taken = *next;
        let none_left = || SpoolError::NoneLeft { path: self.path.clone(), stream: stream.to_owned() };
        *next = taken.checked_add(1).ok_or_else(none_left)?;
        self.write()?;
        Ok(taken)
    }

    /// Writes them to disk.
    pub(crate) fn write(&self) -> Result<(), SpoolError> {
        let failed = SpoolError::io(&self.path);
        match serde_json::to_vec(&self.state) {
            // What could not be read again is not written.
            Ok(json) => readable(&json, &self.path)
                .and_then(|()| durable::write(&self.path, &json, Audience::Default).map_err(failed)),
            Err(error) => Err(failed(error.into())),
        }
    }
}

fn readable(json: &[u8], path: &Path) -> Result<(), SpoolError> {
    let too_many = || SpoolError::TooManyStreams { path: path.to_owned(), limit: LARGEST_STATE };
    (json.len() as u64 <= LARGEST_STATE).then_some(()).ok_or_else(too_many)
}
