//! The stored windows of one stream of sums, so that `cargo bench -p sotto-cloud --bench streams` measures the segments,
//! scan and sum of the service.

use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use sotto_api::Condition;
use sotto_api::streams::WindowsOf;
use sotto_wire::{Envelope, LogEntry, LogPage, PageEntry, StreamHeader};

use crate::store::{Logged, NewDevice, Opening, Sealing, Source, Store};
use crate::streams;

/// A store with windows of one stream of sums.
pub struct Windows {
    store: Store,
    header: Arc<StreamHeader>,
}

impl Windows {
    /// Creates a store for a stream of sums.
    ///
    /// # Errors
    /// The store cannot be created.
    pub fn create(folder: &Path, header: &Arc<StreamHeader>) -> anyhow::Result<Self> {
        let store = Store::open(folder, Opening::Serve)?;
        let source = Source::Request { condition: Condition::New, from: "a benchmark" };
        let (verifying_key, streams) = ([0; 32], [header.as_ref().clone()]);
        let device = NewDevice {
            name: header.device(),
            verifying_key: &verifying_key,
            keys: &[(header.parameters(), header.key())],
            streams: &streams,
            record: None,
            source,
        };
        store.register_device(&device)?;
        Ok(Self { store, header: Arc::clone(header) })
    }

    /// Inserts windows of the stream, some thousands in a transaction, and seals them.
    ///
    /// # Errors
    /// The store refuses an insert.
    pub fn insert(&mut self, windows: impl Iterator<Item = Envelope>) -> anyhow::Result<()> {
        self.store.insert_all(windows)?;
        self.store.seal(Sealing::All)?;
        Ok(())
    }

    /// Makes the sums that are there before anyone asks.
    ///
    /// # Errors
    /// The store cannot be read or written.
    pub fn make_nodes(&self) -> anyhow::Result<()> {
        while streams::make_nodes(&self.store).map_err(|problem| anyhow!("{}", problem.detail))? {}
        Ok(())
    }

    /// Returns the items of a page of the log from a position on, as the route `GET /v1/log` gives them, without a head; and
    /// the number of their windows.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn log(&self, from: u64, most: usize) -> anyhow::Result<(Vec<u8>, u64)> {
        let page = self.store.log(self.header.device(), self.header.stream(), from, most)?;
        let windows = page.windows.iter().map(|logged| logged.windows() as u64).sum();
        let entries = page.windows.into_iter().map(|logged| match logged {
            Logged::Item(item, _) => item.into(),
            Logged::Window { sequence, leaf, envelope, bytes, signed } => PageEntry::from(LogEntry {
                sequence: sequence.unsigned_abs(),
                leaf,
                id: envelope.map(|id| id.0),
                bytes: bytes.unsigned_abs(),
                signed: signed.map(|signed| *signed),
            }),
        });
        Ok((LogPage::of(Vec::new(), entries).write(), windows))
    }

    /// Returns the frame of sums, as the route `POST /v1/streams/{stream}/sums` does. Uses one core.
    ///
    /// # Errors
    /// The store cannot be read, or the cloud refuses the request.
    pub fn sums(&self, request: &WindowsOf) -> anyhow::Result<Vec<u8>> {
        let scan = |take: streams::Take<'_>| self.store.scan_sums(&self.header, request, take);
        streams::add(&self.header, request, scan).map_err(|problem| anyhow!("{}", problem.detail))
    }
}
