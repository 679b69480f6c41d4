//! The stored windows of one stream of sums in a database of their own, so that `cargo bench -p sotto-cloud --bench
//! streams` measures the table, scan and sum of the service.

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use sotto_api::streams::WindowsOf;
use sotto_wire::{Envelope, StreamHeader};

use crate::store::SumsFile;
use crate::streams;

/// A database with windows of one stream of sums.
pub struct Windows {
    file: SumsFile,
    header: Arc<StreamHeader>,
}

impl Windows {
    /// Creates the database for a stream of sums.
    ///
    /// # Errors
    /// The database cannot be created.
    pub fn create(file: &Path, header: &Arc<StreamHeader>) -> anyhow::Result<Self> {
        Ok(Self { file: SumsFile::create(file, header)?, header: Arc::clone(header) })
    }

    /// Inserts windows of the stream in one transaction.
    ///
    /// # Errors
    /// The database refuses an insert.
    pub fn insert(&mut self, windows: impl Iterator<Item = Envelope>) -> anyhow::Result<()> {
        Ok(self.file.insert(windows)?)
    }

    /// Returns the frame of sums, as the route `POST /v1/streams/{stream}/sums` does. Uses one core.
    ///
    /// # Errors
    /// The database cannot be read, or the cloud refuses the request.
    pub fn sums(&self, request: &WindowsOf) -> anyhow::Result<Vec<u8>> {
        let scan = |take: streams::Take<'_>| self.file.scan(&self.header, &request.windows, take);
        streams::add(&self.header, request, scan).map_err(|problem| anyhow!("{}", problem.detail))
    }
}
