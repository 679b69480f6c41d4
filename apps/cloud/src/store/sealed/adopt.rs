//! Segments that no catalogue names: the database is an older copy than they are, or was lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_wire::{Digest, Frontier, StreamHeader};

use super::super::bodies::Folder;
use super::super::error::failed_to;
use super::super::{Store, StoreError, now, recover, upload};
use super::blocks::{name_of, unreadable};
use super::build::make_log;
use super::runs::{self, SealedRun};
use super::seal::{frontier, keep_frontier};
use super::window::unread;
use crate::segment::{Block, Kind, Placed, Segment};

/// Outcome for a segment.
enum Adopted {
    /// Its windows are in the catalogue now.
    Windows(usize),
    /// Each of its windows is stored already.
    Redundant,
    /// Positions and messages of windows that are not stored, while others are: they come into the database.
    Some(Vec<(u64, Vec<u8>)>),
    /// The reason why it is put aside.
    Aside(String),
}

impl Store {
    /// Takes segments into the catalogue that no row names. Returns the number of windows, and of files that were put aside.
    pub(in super::super) fn adopt_segments(&self) -> Result<(usize, usize), StoreError> {
        let rows = recover::names(&self.connection(), Folder::Segments)?;
        let files: BTreeSet<String> = self.bodies.names(Folder::Segments)?.into_iter().collect();
        let (mut windows, mut aside) = (0, 0);
        let strangers: Vec<&String> = files.difference(&rows).collect();
        if strangers.is_empty() {
            return Ok((0, 0));
        }
        self.drop_missing(&files)?;
        for name in strangers {
            match self.adopt(name)? {
                Adopted::Windows(more) => windows += more,
                Adopted::Redundant => self.bodies.remove(Folder::Segments, name),
                Adopted::Some(messages) => {
                    for (position, message) in messages {
                        match self.insert_message(position, message)? {
                            Ok(()) => windows += 1,
                            Err(why) => {
                                tracing::warn!(name, why, "a window of a segment is not stored again");
                            }
                        }
                    }
                    self.bodies.put_aside(Folder::Segments, name)?;
                    aside += 1;
                }
                Adopted::Aside(why) => {
                    tracing::warn!(name, why, "a segment without a row is put aside");
                    self.bodies.put_aside(Folder::Segments, name)?;
                    aside += 1;
                }
            }
        }
        if windows > 0 {
            self.transaction(|transaction| {
                for (_, device, stream) in runs::logs(transaction, None, None)? {
                    self.complete_tree(transaction, &device, &stream)?;
                }
                Ok(())
            })?;
        }
        Ok((windows, aside))
    }

    /// Takes segments whose files are missing out of the catalogue: another file may have their windows.
    fn drop_missing(&self, files: &BTreeSet<String>) -> Result<(), StoreError> {
        self.transaction(|transaction| {
            let mut query = transaction.prepare("SELECT id, digest FROM segments")?;
            let all = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            let all: Vec<(i64, Digest)> = all.collect::<Result<_, _>>()?;
            for (id, digest) in all.into_iter().filter(|(_, digest)| !files.contains(&name_of(digest))) {
                tracing::error!(
                    name = name_of(&digest),
                    "this segment is missing: other files are searched for its windows"
                );
                transaction.execute("DELETE FROM runs WHERE segment = ?1", [id])?;
                transaction.execute("DELETE FROM segments WHERE id = ?1", [id])?;
            }
            Ok(())
        })
    }

    fn adopt(&self, name: &str) -> Result<Adopted, StoreError> {
        let path = self.segment_path(name);
        let bytes = fs::read(&path).map_err(failed_to("read a segment"))?;
        let digest = *blake3::hash(&bytes).as_bytes();
        let length = bytes.len() as u64;
        drop(bytes);
        if name_of(&digest) != *name {
            return Ok(Adopted::Aside("its bytes are not those that its name says".to_owned()));
        }
        let segment = match Segment::open(&path, digest).map_err(unreadable(name)) {
            Ok(segment) => segment,
            Err(StoreError::Damaged(reason)) => return Ok(Adopted::Aside(reason)),
            Err(error) => return Err(error),
        };
        self.transaction(|transaction| {
            transaction.execute_batch("SAVEPOINT adopt")?;
            let adopted = self.adopt_in(transaction, &segment, name, digest, length);
            let end = match &adopted {
                Ok(Adopted::Windows(_)) => "RELEASE adopt",
                _ => "ROLLBACK TO adopt; RELEASE adopt",
            };
            transaction.execute_batch(end)?;
            match adopted {
                Err(StoreError::Damaged(reason)) => Ok(Adopted::Aside(reason)),
                adopted => adopted,
            }
        })
    }

    fn adopt_in(
        &self,
        connection: &Connection,
        segment: &Segment,
        name: &str,
        digest: Digest,
        bytes: u64,
    ) -> Result<Adopted, StoreError> {
        let mut insert = connection.prepare_cached(
            "INSERT INTO segments (digest, bytes, windows, sealed_at) VALUES (?1, ?2, ?3, ?4)",
        )?;
        insert.execute(params![digest, bytes.cast_signed(), 0, now()])?;
        let id = connection.last_insert_rowid();
        let (mut windows, mut stored, mut found) = (0, 0, Vec::<SealedRun>::new());
        let mut messages = Vec::new();
        for number in 0..segment.blocks() {
            let block = segment.block(number).map_err(unreadable(name))?;
            segment.load_parts(number, &block).map_err(unreadable(name))?;
            let is_device: Option<()> = connection
                .query_row("SELECT 1 FROM devices WHERE name = ?1", [block.device()], |_| Ok(()))
                .optional()?;
            if is_device.is_none() {
                return Ok(Adopted::Aside(format!("device {} is not registered", block.device())));
            }
            let log = make_log(connection, block.device(), block.stream())?;
            for row in 0..block.rows() {
                let header = match block.tag(row) {
                    Some(tag) => Some(self.header_of(connection, tag)?),
                    None => None,
                };
                match self.compare_row(connection, log, &block, row, header.as_ref())? {
                    Compared::New => {
                        windows += 1;
                        if let Some(header) = header.as_ref().filter(|_| block.kind(row) == Kind::Whole) {
                            let message = block.message(row, header).map_err(unread)?;
                            messages.push((block.position(row), message));
                        }
                    }
                    Compared::Stored => stored += 1,
                    Compared::Other(why) => return Ok(Adopted::Aside(why)),
                }
                let written = block.row(row, header.as_ref()).map_err(unread)?;
                let placed = Placed { block: number as u32, row: row as u32 };
                let run = SealedRun::of(log, id, placed, &written);
                let next = match found.last_mut() {
                    Some(last) => last.extend(run),
                    None => Some(run),
                };
                found.extend(next);
            }
        }
        if windows == 0 {
            return Ok(Adopted::Redundant);
        }
        if stored > 0 {
            return Ok(Adopted::Some(messages));
        }
        found.iter().try_for_each(|run| run.insert(connection))?;
        connection
            .execute("UPDATE segments SET windows = ?2 WHERE id = ?1", params![id, i64::from(windows)])?;
        Ok(Adopted::Windows(windows as usize))
    }

    fn compare_row(
        &self,
        connection: &Connection,
        log: i64,
        block: &Block,
        row: usize,
        header: Option<&Arc<StreamHeader>>,
    ) -> Result<Compared, StoreError> {
        let (number, position) = (block.sequence(row), block.position(row));
        let leaf = block.leaf(row, header).map_err(unread)?;
        if let Some(run) = runs::run_of(connection, log, number)? {
            let other = self.sealed_in(connection, &run, number, true)?;
            return Ok(match other.leaf()? == leaf {
                true => Compared::Stored,
                false => Compared::Other(format!("another window has the number {number}")),
            });
        }
        let there =
            "SELECT leaf FROM log WHERE device = ?1 AND stream = ?2 AND (sequence = ?3 OR position = ?4)";
        let there: Option<Digest> = connection
            .prepare_cached(there)?
            .query_row(
                params![block.device(), block.stream(), number.cast_signed(), position.cast_signed()],
                |row| row.get(0),
            )
            .optional()?;
        match there {
            Some(other) if other == leaf => return Ok(Compared::Stored),
            Some(_) => {
                return Ok(Compared::Other(format!("another window has the place of window {number}")));
            }
            None => {}
        }
        if runs::run_of_position(connection, log, position)?.is_some_and(|run| run.position <= position) {
            return Ok(Compared::Other(format!("another window has the position of window {number}")));
        }
        if block.kind(row) != Kind::Deleted {
            let signed = header.map(|header| block.signed(row, header)).transpose().map_err(unread)?;
            let is_registered = match &signed {
                Some(signed) => upload::was_registered(connection, signed)?,
                None => false,
            };
            if !is_registered {
                let why = "no device is registered with the signature and the key of its windows";
                return Ok(Compared::Other(why.to_owned()));
            }
        }
        Ok(Compared::New)
    }

    /// Makes the tree of a log again, over the windows in segments and those in the database. Positions whose windows are
    /// lost get a leaf of zeros: the owner sees another log.
    fn complete_tree(&self, connection: &Connection, device: &str, stream: &str) -> Result<(), StoreError> {
        let Some(log) = runs::log_of(connection, device, stream)? else { return Ok(()) };
        let end = runs::position_end(connection, device, stream)?;
        let kept = frontier(connection, device, stream)?;
        if kept.size() >= end {
            return Ok(());
        }
        let mut leaves: BTreeMap<u64, Digest> = BTreeMap::new();
        let mut query = connection.prepare_cached(
            "SELECT position, leaf FROM log WHERE device = ?1 AND stream = ?2 AND position < ?3",
        )?;
        let rows = query.query_map(params![device, stream, end.cast_signed()], |row| {
            Ok((row.get::<_, i64>(0)?.cast_unsigned(), row.get(1)?))
        })?;
        for row in rows {
            let (position, leaf) = row?;
            leaves.insert(position, leaf);
        }
        let mut tree = Frontier::default();
        while tree.size() < end {
            let at = tree.size();
            match runs::run_of_position(connection, log, at)?.filter(|run| run.position <= at) {
                Some(run) => {
                    let block = self.block(connection, &run, true)?;
                    for number in run.number + (at - run.position)..run.end() {
                        let row = run.row_of(number);
                        let header = block.tag(row).map(|tag| self.header_of(connection, tag)).transpose()?;
                        tree.push(block.leaf(row, header.as_ref()).map_err(unread)?);
                    }
                }
                None => {
                    let leaf = leaves.get(&at).copied();
                    if leaf.is_none() {
                        lost(connection, device, stream, at)?;
                    }
                    tree.push(leaf.unwrap_or_default());
                }
            }
        }
        keep_frontier(connection, device, stream, &tree)
    }
}

/// Notes a position of a log whose window is lost.
fn lost(connection: &Connection, device: &str, stream: &str, position: u64) -> Result<(), StoreError> {
    tracing::error!(device, stream, position, "the window at this position of the log is lost");
    connection.execute(
        "INSERT INTO log (device, stream, position, sequence, leaf, envelope) VALUES (?1, ?2, ?3, ?3, zeroblob(32), NULL)",
        params![device, stream, position.cast_signed()],
    )?;
    Ok(())
}

/// A row beside what is stored.
enum Compared {
    New,
    /// The same window is stored.
    Stored,
    Other(String),
}
