//! The readings in the clear, as the source gave them. For demonstrations and tests.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sotto_pack::{Channel, Packed};
use zeroize::Zeroizing;

use crate::spool::durable::{self, Audience};

/// The readings of each stream, tick by tick.
#[derive(Debug)]
pub struct ClearLog {
    path: PathBuf,
    streams: BTreeMap<String, StreamLog>,
}

#[derive(Debug, Default)]
struct StreamLog {
    channels: Vec<Channel>,
    /// For each tick of each window, the value of each channel.
    values: Vec<Zeroizing<Vec<Option<f64>>>>,
    /// When each tick begins: milliseconds since 1970.
    times: Vec<i64>,
}

/// A stream's entry in the JSON file.
#[derive(Serialize)]
struct Written<'l> {
    channels: &'l [Channel],
    values: Vec<&'l [Option<f64>]>,
    times: &'l [i64],
}

impl StreamLog {
    fn written(&self) -> Written<'_> {
        let values = self.values.iter().map(|row| row.as_slice()).collect();
        Written { channels: &self.channels, values, times: &self.times }
    }
}

impl ClearLog {
    /// Creates an empty log, to be written to this file.
    #[must_use]
    pub fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), streams: BTreeMap::new() }
    }

    /// Adds the readings of a window, tick by tick.
    pub fn add(&mut self, stream: &str, window: &Packed, rows: Vec<Zeroizing<Vec<Option<f64>>>>) {
        let log = self.streams.entry(stream.to_owned()).or_default();
        log.channels = window.layout.channels().to_vec();
        let since = |tick: usize| window.period.after(tick as i64);
        log.times.extend((0..rows.len()).map(|tick| window.start.saturating_add(since(tick))));
        log.values.extend(rows);
    }

    /// Writes the file with mode 0600.
    ///
    /// # Errors
    /// The I/O error.
    pub fn write(&self) -> std::io::Result<()> {
        let streams: BTreeMap<&str, Written<'_>> =
            self.streams.iter().map(|(stream, log)| (stream.as_str(), log.written())).collect();
        let json = Zeroizing::new(serde_json::to_vec(&streams)?);
        durable::write(&self.path, &json, Audience::Owner)
    }
}
