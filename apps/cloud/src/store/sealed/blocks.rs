//! Reads blocks of segments.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _};
use sotto_wire::Digest;

use super::super::bodies::{Folder, Incoming, sync_folder};
use super::super::error::failed_to;
use super::super::held::{MOST_BLOCKS, MOST_OPEN};
use super::super::{Store, StoreError};
use super::runs::SealedRun;
use sotto_segment::{Block, Segment, SegmentError};

/// Returns the name of a segment's file.
pub(in super::super) fn name_of(digest: &Digest) -> String {
    hex::encode(&digest[..16])
}

/// Returns the digest of a segment of the catalogue.
pub(in super::super) fn digest_of(connection: &Connection, id: i64) -> Result<Digest, StoreError> {
    let mut query = connection.prepare_cached("SELECT digest FROM segments WHERE id = ?1")?;
    let digest = query.query_row([id], |row| row.get(0)).optional()?;
    digest.ok_or_else(|| StoreError::Damaged(format!("segment {id} has no row")))
}

/// `.map_err(unreadable(&name))`
pub(in super::super) fn unreadable(name: &str) -> impl FnOnce(SegmentError) -> StoreError {
    let name = name.to_owned();
    move |error| match error {
        SegmentError::Files(error) if error.kind() != std::io::ErrorKind::NotFound => {
            StoreError::Files { doing: "read a segment", error }
        }
        SegmentError::Files(_) => StoreError::Damaged(format!("segments/{name} is missing")),
        error => StoreError::Damaged(format!("segments/{name}: {error}")),
    }
}

impl Store {
    pub(in super::super) fn segment_path(&self, name: &str) -> PathBuf {
        self.bodies.path(Folder::Segments, name)
    }

    /// Gives a segment its name, durably.
    pub(in super::super) fn name_segment(
        &self,
        written: &Incoming,
        digest: &Digest,
    ) -> Result<(), StoreError> {
        let path = self.segment_path(&name_of(digest));
        fs::rename(written.path(), path).map_err(failed_to("name a segment"))?;
        sync_folder(&self.bodies.folder(Folder::Segments))
    }

    /// Opens a segment of the catalogue. Returns it with the name of its file.
    pub(in super::super) fn segment(
        &self,
        connection: &Connection,
        id: i64,
    ) -> Result<(Arc<Segment>, String), StoreError> {
        let digest = digest_of(connection, id)?;
        let name = name_of(&digest);
        if let Some(tier) = &self.tier {
            tier.note_use(id);
        }
        if let Some(segment) = self.held.read().segments.get(&id) {
            return Ok((Arc::clone(segment), name));
        }
        let path = self.segment_path(&name);
        let segment = match Segment::open(&path, digest) {
            Err(SegmentError::Files(error)) if error.kind() == io::ErrorKind::NotFound => {
                self.want(connection, id, &digest)?;
                Segment::open(&path, digest)
            }
            opened => opened,
        };
        let segment = segment.map_err(unreadable(&name))?;
        let (segment, mut read) = (Arc::new(segment), self.held.read());
        if read.segments.len() >= MOST_OPEN {
            read.segments.clear();
        }
        read.segments.insert(id, Arc::clone(&segment));
        Ok((segment, name))
    }

    /// Returns the block of a run, with the bodies if they are wanted.
    pub(in super::super) fn block(
        &self,
        connection: &Connection,
        run: &SealedRun,
        with_bodies: bool,
    ) -> Result<Arc<Block>, StoreError> {
        let (segment, name) = self.segment(connection, run.segment)?;
        self.block_of(&segment, &name, (run.segment, run.block), with_bodies)
    }

    /// Like [`Store::block`]. Locks the database only to find the segment: reading takes long.
    pub(in super::super) fn block_apart(
        &self,
        run: &SealedRun,
        with_bodies: bool,
    ) -> Result<Arc<Block>, StoreError> {
        let (segment, name) = self.segment(&self.connection(), run.segment)?;
        self.block_of(&segment, &name, (run.segment, run.block), with_bodies)
    }

    /// Like [`Store::block`], without the database.
    pub(in super::super) fn block_of(
        &self,
        segment: &Segment,
        name: &str,
        key: (i64, u32),
        with_bodies: bool,
    ) -> Result<Arc<Block>, StoreError> {
        let (number, held) = (key.1 as usize, self.held_block(key));
        let block = match held {
            Some(block) => block,
            None => {
                let block = Arc::new(segment.block(number).map_err(unreadable(name))?);
                let mut read = self.held.read();
                if read.blocks.len() >= MOST_BLOCKS {
                    read.blocks.pop_front();
                }
                read.blocks.push_back((key, Arc::clone(&block)));
                block
            }
        };
        if with_bodies {
            segment.load_parts(number, &block).map_err(unreadable(name))?;
        }
        Ok(block)
    }

    fn held_block(&self, key: (i64, u32)) -> Option<Arc<Block>> {
        let mut read = self.held.read();
        let at = read.blocks.iter().position(|(of, _)| *of == key)?;
        let found = read.blocks.remove(at)?;
        let block = Arc::clone(&found.1);
        read.blocks.push_back(found);
        Some(block)
    }
}
