//! A segment that is being written, with the runs of its windows.

use rusqlite::{Connection, params};
use sotto_wire::Digest;

use super::super::bodies::Incoming;
use super::super::{Store, StoreError, now};
use super::blocks::unreadable;
use super::runs::{self, SealedRun};
use sotto_segment::{Placed, Row, SegmentError, Writer};
use sotto_service::private;

/// A segment that is being written.
pub(in super::super) struct Building<'s> {
    store: &'s Store,
    writer: Writer,
    path: Incoming,
    /// The log of the last window.
    log: Option<i64>,
    runs: Vec<SealedRun>,
    windows: u64,
}

/// A segment that is durable under its name, and in no catalogue yet.
pub(in super::super) struct Built {
    pub(super) digest: Digest,
    pub(super) bytes: u64,
    pub(super) windows: u64,
    pub(super) runs: Vec<SealedRun>,
}

/// The number of a log, its device, its stream.
pub(in super::super) type Log<'l> = (i64, &'l str, &'l str);

impl<'s> Building<'s> {
    pub(in super::super) fn new(store: &'s Store) -> Result<Self, StoreError> {
        let path = store.bodies.incoming()?;
        let file = private::create(path.path()).map_err(SegmentError::from);
        let writer = file.and_then(Writer::new).map_err(unreadable("incoming"))?;
        Ok(Self { store, writer, path, log: None, runs: Vec::new(), windows: 0 })
    }

    /// Appends a window of a log, whose number is above those before it there.
    pub(in super::super) fn push(
        &mut self,
        (log, device, stream): Log<'_>,
        row: Row,
    ) -> Result<(), StoreError> {
        if self.log != Some(log) {
            self.log = Some(log);
            self.writer.begin(device, stream).map_err(unreadable("incoming"))?;
        }
        let mut run = SealedRun::of(log, Placed { block: 0, row: 0 }, &row);
        let placed = self.writer.push(row).map_err(unreadable("incoming"))?;
        (run.block, run.row) = (placed.block, placed.row);
        runs::append(&mut self.runs, run);
        self.windows += 1;
        Ok(())
    }

    /// Makes the file durable under its name. Returns None, and leaves no file, if it has no window.
    pub(in super::super) fn finish(self) -> Result<Option<Built>, StoreError> {
        if self.windows == 0 {
            return Ok(None);
        }
        let (digest, bytes) = self.writer.finish().map_err(unreadable("incoming"))?;
        self.store.name_segment(&self.path, &digest)?;
        Ok(Some(Built { digest, bytes, windows: self.windows, runs: self.runs }))
    }
}

impl Built {
    pub(in super::super) fn digest(&self) -> Digest {
        self.digest
    }

    /// Puts the segment into the catalogue.
    pub(in super::super) fn insert(mut self, connection: &Connection) -> Result<(), StoreError> {
        let mut insert = connection.prepare_cached(
            "INSERT INTO segments (digest, bytes, windows, sealed_at) VALUES (?1, ?2, ?3, ?4)",
        )?;
        insert.execute(params![self.digest, self.bytes.cast_signed(), self.windows.cast_signed(), now()])?;
        let segment = connection.last_insert_rowid();
        for run in &mut self.runs {
            run.segment = segment;
            run.insert(connection)?;
        }
        Ok(())
    }
}

/// Returns the number of a log; makes its row if it has none.
pub(super) fn make_log(connection: &Connection, device: &str, stream: &str) -> Result<i64, StoreError> {
    if let Some(log) = runs::log_of(connection, device, stream)? {
        return Ok(log);
    }
    let mut insert = connection
        .prepare_cached("INSERT INTO logs (device, stream, size, frontier) VALUES (?1, ?2, 0, x'')")?;
    Ok(insert.insert([device, stream])?)
}
