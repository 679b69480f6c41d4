//! Segments that no catalogue names: the database is an older copy than they are, or was lost.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_wire::{Digest, Frontier, StreamHeader};

use super::super::bodies::Folder;
use super::super::error::failed_to;
use super::super::rolled::{self, SealedSum};
use super::super::{Store, StoreError, log, recover, upload};
use super::blocks::{name_of, unreadable};
use super::build::{Building, Built, make_log};
use super::runs::{self, SealedRun};
use super::tree::{frontier, keep_frontier};
use super::window::unread;
use sotto_segment::{Block, Kind, Placed, Segment, Window};

/// Outcome for a segment.
enum Adopted {
    /// Its windows are in the catalogue now.
    Windows(usize),
    /// Each of its windows is stored already.
    Redundant,
    /// Positions and messages of windows that are not stored, while others are: they come into the database. Heads and deleted
    /// windows of the segment that were not stored came into one of their own.
    Some(Vec<(u64, Vec<u8>)>),
    /// The reason why it is put aside.
    Aside(String),
}

impl Store {
    /// Takes segments into the catalogue that no row names, with the roll-ups that they have. Returns the number of windows, and of
    /// files that were put aside.
    pub(in super::super) fn adopt_segments(&self) -> Result<(usize, usize), StoreError> {
        let rows = recover::names(&self.connection(), Folder::Segments)?;
        let files: BTreeSet<String> = self.bodies.names(Folder::Segments)?.into_iter().collect();
        let (mut windows, mut aside) = (0, 0);
        let mut strangers: Vec<&String> = files.difference(&rows).collect();
        if strangers.is_empty() {
            return Ok((0, 0));
        }
        strangers.sort_by_cached_key(|name| self.rank(name));
        self.drop_missing(&files.union(&self.segments_there()?).cloned().collect())?;
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
        match self.settle_roll_ups() {
            // `seal` tries again.
            Err(StoreError::Away(_) | StoreError::Objects(_)) => {}
            settled => settled?,
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
                runs::delete_segment(transaction, id)?;
            }
            Ok(())
        })
    }

    /// Returns the place of a segment in the order in which they are taken. Two have the same windows if the process ended while
    /// one took the place of the other: deleted windows stay deleted, and bodies stay.
    fn rank(&self, name: &str) -> (Reverse<usize>, usize) {
        let (mut deleted, mut heads) = (0, 0);
        if let Ok(segment) = Segment::open(&self.segment_path(name), Digest::default()) {
            for kind in (0..segment.blocks()).flat_map(|number| segment.kinds(number).unwrap_or_default()) {
                deleted += usize::from(kind == Kind::Deleted);
                heads += usize::from(kind == Kind::Head);
            }
        }
        (Reverse(deleted), heads)
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
            let adopted = self.adopt_in(transaction, &segment, name, (digest, length));
            let end = match &adopted {
                Ok(Adopted::Windows(_) | Adopted::Redundant | Adopted::Some(_)) => "RELEASE adopt",
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
        (digest, bytes): (Digest, u64),
    ) -> Result<Adopted, StoreError> {
        let (mut windows, mut stored, mut found) = (0_u64, 0, Vec::new());
        let (mut messages, mut rest, mut rolled_up) = (Vec::new(), Vec::new(), Vec::new());
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
                let written = block.row(row, header.as_ref()).map_err(unread)?;
                if let Window::Head { sum, .. } = &written.window {
                    rolled_up.extend(SealedSum::read(sum).map(|sum| (log, sum)));
                }
                let placed = Placed { block: number as u32, row: row as u32 };
                runs::append(&mut found, SealedRun::of(log, placed, &written));
                match self.compare_row(connection, log, &block, row, header.as_ref())? {
                    Compared::New => {
                        windows += 1;
                        match header.as_ref().filter(|_| block.kind(row) == Kind::Whole) {
                            Some(header) => {
                                let message = block.message(row, header).map_err(unread)?;
                                messages.push((block.position(row), message));
                            }
                            None => {
                                let of = (block.device().to_owned(), block.stream().to_owned());
                                rest.push((log, of, written));
                            }
                        }
                    }
                    Compared::Stored => stored += 1,
                    Compared::Other(why) => return Ok(Adopted::Aside(why)),
                }
            }
        }
        // Also those of a redundant segment: another one that it belongs to may have heads alone.
        for (log, sum) in rolled_up {
            rolled::adopt(connection, log, &sum)?;
        }
        let adopted = match stored {
            _ if windows == 0 => Adopted::Redundant,
            0 => {
                Built { digest, bytes, windows, runs: found }.insert(connection)?;
                Adopted::Windows(windows as usize)
            }
            _ => {
                let mut building = Building::new(self)?;
                for (log, (device, stream), row) in rest {
                    building.push((log, &device, &stream), row)?;
                }
                building.finish()?.map_or(Ok(()), |built| built.insert(connection))?;
                Adopted::Some(messages)
            }
        };
        Ok(adopted)
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
        let signed = header.map(|header| block.signed(row, header)).transpose().map_err(unread)?;
        let leaf = match &signed {
            Some(signed) => signed.leaf(),
            None => block.leaf(row, None).map_err(unread)?,
        };
        if let Some(run) = runs::run_of(connection, log, number)? {
            let other = self.sealed_in(connection, &run, number)?;
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
        let end = runs::position_end(connection, device, stream)?;
        if frontier(connection, device, stream)?.size() >= end {
            return Ok(());
        }
        let mut tree = Frontier::default();
        self.walk_leaves(connection, (device, stream), 0..end, |at, leaf| {
            if leaf.is_none() {
                // Its number is unknown.
                log::note_lost(connection, (device, stream), at, at)?;
            }
            tree.push(leaf.unwrap_or_default());
            Ok(true)
        })?;
        keep_frontier(connection, device, stream, &tree)
    }
}

/// Outcome of comparing a row with the stored windows.
enum Compared {
    New,
    /// The same window is stored.
    Stored,
    Other(String),
}
