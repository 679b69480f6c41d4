//! The stored bodies of one fleet in a database of their own, so that `cargo bench -p sotto-cloud --bench fleet`
//! measures the table, scan and sum of the service.

use std::path::Path;

use anyhow::Context as _;
use sotto_compact::{Form, Sum};
use sotto_rlwe::KeyId;
use sotto_wire::StreamHeader;

use crate::fleets::{self, Added};
use crate::store::{FleetFile, Selected};

/// A database with the windows of one fleet.
pub struct Columns {
    file: FleetFile,
    ticks: u32,
}

impl Columns {
    /// Creates the database for the fleet of a stream. All of its windows send all ticks.
    ///
    /// # Errors
    /// The stream belongs to no fleet, or the database cannot be created.
    pub fn create(file: &Path, header: &StreamHeader) -> anyhow::Result<Self> {
        let file = FleetFile::create(file, header)?.context("the stream is of no fleet")?;
        Ok(Self { file, ticks: header.layout().ticks() })
    }

    /// Inserts windows that start at `start`, in milliseconds since 1970.
    ///
    /// # Errors
    /// The database refuses an insert, for example a second window of one key.
    pub fn insert(
        &mut self,
        start: i64,
        windows: impl Iterator<Item = (KeyId, Vec<u8>)>,
    ) -> anyhow::Result<()> {
        Ok(self.file.insert(start, self.ticks, windows)?)
    }

    /// Returns the keys of all windows that start at `start`, in order, and one sum for each `most` of them. Uses one
    /// core.
    ///
    /// # Errors
    /// The database cannot be read, or a body does not have this form.
    pub fn sums(&self, places: &Form, start: i64, most: usize) -> anyhow::Result<(Vec<KeyId>, Vec<Sum>)> {
        let selected = Selected { start, ticks: self.ticks, after: None, limit: i64::MAX as usize };
        let Added { keys, sums, .. } = fleets::add(places, most, |take| self.file.bodies(&selected, take))?;
        Ok((keys, sums))
    }
}
