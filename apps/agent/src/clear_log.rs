//! For demonstrations and tests: the readings as they were read, in the clear.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Serialize;
use sotto_pack::Channel;
use zeroize::Zeroizing;

use crate::spool::durable::{self, Audience};

/// The readings of each stream, tick by tick.
#[derive(Debug)]
pub struct ClearLog {
    path: PathBuf,
    channels: Vec<Channel>,
    values: BTreeMap<String, Vec<Zeroizing<Vec<Option<f64>>>>>,
}

#[derive(Serialize)]
struct StreamLog<'l> {
    channels: &'l [Channel],
    values: Vec<&'l [Option<f64>]>,
}

impl ClearLog {
    /// To be written to this file.
    #[must_use]
    pub fn new(path: &Path, channels: &[Channel]) -> Self {
        Self { path: path.to_owned(), channels: channels.to_vec(), values: BTreeMap::new() }
    }

    /// Adds a window.
    pub fn add(&mut self, stream: &str, rows: Vec<Zeroizing<Vec<Option<f64>>>>) {
        self.values.entry(stream.to_owned()).or_default().extend(rows);
    }

    /// Writes it, for its owner's eyes only (mode 0600).
    ///
    /// # Errors
    /// What the system says.
    pub fn write(&self) -> std::io::Result<()> {
        let streams: BTreeMap<&str, StreamLog<'_>> = self
            .values
            .iter()
            .map(|(stream, rows)| {
                let values = rows.iter().map(|row| row.as_slice()).collect();
                (stream.as_str(), StreamLog { channels: &self.channels, values })
            })
            .collect();
        let json = Zeroizing::new(serde_json::to_vec(&streams)?);
        durable::write(&self.path, &json, Audience::Owner)
    }
}
