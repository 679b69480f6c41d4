//! A segment that is being written, with the runs of its windows.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::{Connection, params};
use sotto_wire::{Digest, StreamHeader};

use super::super::bodies::{Folder, sync_folder};
use super::super::error::failed_to;
use super::super::{Store, StoreError, now};
use super::blocks::{name_of, unreadable};
use super::runs::SealedRun;
use super::window::unread;
use crate::id::Id;
use crate::segment::{Block, Kind, Placed, Row, Writer};

/// A segment that is being written.
pub(super) struct Building<'s> {
    store: &'s Store,
    writer: Writer,
    path: PathBuf,
    log: i64,
    runs: Vec<SealedRun>,
    windows: u64,
}

/// A segment that is durable under its name, and in no catalogue yet.
pub(super) struct Built {
    digest: Digest,
    bytes: u64,
    windows: u64,
    runs: Vec<SealedRun>,
}

impl<'s> Building<'s> {
    pub(super) fn new(store: &'s Store) -> Result<Self, StoreError> {
        let path = store.bodies.incoming(&Id::random()?.to_string());
        let writer = Writer::create(&path).map_err(unreadable("incoming"))?;
        Ok(Self { store, writer, path, log: 0, runs: Vec::new(), windows: 0 })
    }

    /// Begins the windows of a log.
    pub(super) fn begin(&mut self, log: i64, device: &str, stream: &str) -> Result<(), StoreError> {
        self.log = log;
        self.writer.begin(device, stream).map_err(unreadable("incoming"))
    }

    /// Appends a window of the log, whose number is above those before it.
    pub(super) fn push(&mut self, row: Row) -> Result<(), StoreError> {
        let mut run = SealedRun::of(self.log, 0, Placed { block: 0, row: 0 }, &row);
        let placed = self.writer.push(row).map_err(unreadable("incoming"))?;
        (run.block, run.row) = (placed.block, placed.row);
        let next = match self.runs.last_mut() {
            Some(last) => last.extend(run),
            None => Some(run),
        };
        self.runs.extend(next);
        self.windows += 1;
        Ok(())
    }

    /// Removes the file.
    pub(super) fn abandon(self) {
        let _ = fs::remove_file(&self.path);
    }

    /// Makes the file durable under its name.
    pub(super) fn finish(self) -> Result<Built, StoreError> {
        let (digest, bytes) = self.writer.finish().map_err(unreadable("incoming"))?;
        fs::rename(&self.path, self.store.segment_path(&name_of(&digest)))
            .map_err(failed_to("name a segment"))?;
        sync_folder(&self.store.bodies.folder(Folder::Segments))?;
        Ok(Built { digest, bytes, windows: self.windows, runs: self.runs })
    }
}

impl Built {
    /// Puts the segment into the catalogue.
    pub(super) fn insert(mut self, connection: &Connection) -> Result<(), StoreError> {
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
    let mut insert = connection.prepare_cached(
        "INSERT INTO logs (device, stream, size, frontier) VALUES (?1, ?2, 0, x'') ON CONFLICT DO NOTHING",
    )?;
    insert.execute([device, stream])?;
    let mut query = connection.prepare_cached("SELECT id FROM logs WHERE device = ?1 AND stream = ?2")?;
    Ok(query.query_row([device, stream], |row| row.get(0))?)
}

/// The windows of a damaged segment that are right, in a new one.
pub(in super::super) struct Salvage<'s> {
    building: Building<'s>,
    log: Option<i64>,
}

impl<'s> Salvage<'s> {
    pub(in super::super) fn new(store: &'s Store) -> Result<Self, StoreError> {
        Ok(Self { building: Building::new(store)?, log: None })
    }

    /// Appends a row of a block, whose number is above those before it in its log.
    pub(in super::super) fn push(
        &mut self,
        (log, device, stream): (i64, &str, &str),
        block: &Block,
        row: usize,
        header: Option<&Arc<StreamHeader>>,
    ) -> Result<(), StoreError> {
        if self.log != Some(log) {
            self.log = Some(log);
            self.building.begin(log, device, stream)?;
        }
        let header = header.filter(|_| block.kind(row) != Kind::Deleted);
        self.building.push(block.row(row, header).map_err(unread)?)
    }

    /// Puts the new segment in the place of another one, whose file stays.
    pub(in super::super) fn replace(self, connection: &Connection, segment: i64) -> Result<(), StoreError> {
        connection.execute("DELETE FROM runs WHERE segment = ?1", [segment])?;
        connection.execute("DELETE FROM segments WHERE id = ?1", [segment])?;
        self.building.store.held.forget(segment);
        if self.log.is_none() {
            self.building.abandon();
            return Ok(());
        }
        self.building.finish()?.insert(connection)
    }
}
