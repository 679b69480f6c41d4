//! Keeps the object store in step with the catalogue, and the disk within its bytes.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::time::Duration;

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_wire::Digest;

use super::super::bodies::{Folder, sync_folder};
use super::super::error::failed_to;
use super::super::sealed::name_of;
use super::super::{Store, StoreError, count, startup};
use super::{Tier, hashed, locked, object};
use crate::id::Id;
use crate::objects::ObjectsError;

/// Segments that one call sends.
const MOST_SENT: u32 = 64;
/// A file stays this long after it was used: who brought it may need others beside it.
const STAYS: Duration = Duration::from_secs(60);
/// The folder's name in records of files that are to be removed from the object store.
pub(in super::super) const REMOVALS: &str = "objects";

/// A segment whose file may go.
struct Evictable {
    id: i64,
    digest: Digest,
    /// Its copy was read again.
    is_verified: bool,
}

impl Store {
    /// Sends segments to the object store, removes there what is dropped, and frees the disk. Returns the number that it sent.
    ///
    /// # Errors
    /// The object store does not answer; what was done stays.
    pub(crate) fn tend_tier(&self) -> Result<usize, StoreError> {
        let Some(tier) = &self.tier else { return Ok(0) };
        self.bring()?;
        let sent = self.send_segments(tier)?;
        self.remove_objects(tier)?;
        self.evict(tier)?;
        Ok(sent)
    }

    fn send_segments(&self, tier: &Tier) -> Result<usize, StoreError> {
        let waiting: Vec<(i64, Digest)> = {
            let connection = self.connection();
            let mut query = connection
                .prepare_cached("SELECT id, digest FROM segments WHERE object = 0 ORDER BY id LIMIT ?1")?;
            query.query_map([MOST_SENT], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?
        };
        let mut sent = 0;
        for (id, digest) in waiting {
            let name = name_of(&digest);
            let path = self.segment_path(&name);
            // It may be dropped meanwhile, or be missing, which `check` says.
            if !path.exists() {
                continue;
            }
            tier.objects.put(&object(&name), &path)?;
            self.set_object(id, 1)?;
            sent += 1;
        }
        Ok(sent)
    }

    fn set_object(&self, id: i64, state: i64) -> Result<(), StoreError> {
        self.connection().execute("UPDATE segments SET object = ?2 WHERE id = ?1", params![id, state])?;
        Ok(())
    }

    /// Notes that a segment's file is to be removed from the object store, too.
    pub(in super::super) fn note_object(&self, name: &str) -> Result<(), StoreError> {
        if self.tier.is_some() {
            let insert = "INSERT INTO removals (folder, name) VALUES (?1, ?2) ON CONFLICT DO NOTHING";
            self.connection().execute(insert, params![REMOVALS, name])?;
        }
        Ok(())
    }

    fn remove_objects(&self, tier: &Tier) -> Result<(), StoreError> {
        let noted: Vec<String> = {
            let connection = self.connection();
            let mut query = connection.prepare_cached("SELECT name FROM removals WHERE folder = ?1")?;
            query.query_map([REMOVALS], |row| row.get(0))?.collect::<Result<_, _>>()?
        };
        for name in noted {
            let named = "SELECT 1 FROM segments WHERE lower(hex(substr(digest, 1, 16))) = ?1";
            let is_named: Option<i64> =
                self.connection().query_row(named, [&name], |row| row.get(0)).optional()?;
            if is_named.is_none() {
                tier.objects.remove(&object(&name))?;
            }
            let delete = "DELETE FROM removals WHERE folder = ?1 AND name = ?2";
            self.connection().execute(delete, params![REMOVALS, name])?;
        }
        Ok(())
    }

    /// Removes files of segments that the object store has, until at most the cache's bytes are here. Each copy is read again
    /// first.
    fn evict(&self, tier: &Tier) -> Result<(), StoreError> {
        let chosen = self.evictable(tier, &self.connection())?;
        for Evictable { id, digest, is_verified } in chosen {
            if is_verified || self.is_right_there(tier, id, &digest)? {
                self.held.forget(id);
                self.bodies.remove(Folder::Segments, &name_of(&digest));
            }
        }
        Ok(())
    }

    /// Removes files, as [`Store::evict`] does, of segments whose copies were read again before.
    pub(super) fn evict_verified(&self, tier: &Tier, connection: &Connection) -> Result<(), StoreError> {
        for Evictable { id, digest, is_verified } in self.evictable(tier, connection)? {
            if is_verified {
                self.held.forget(id);
                self.bodies.remove(Folder::Segments, &name_of(&digest));
            }
        }
        Ok(())
    }

    /// Chooses segments whose files may go. Those that nobody has asked for come first, the oldest before the others.
    fn evictable(&self, tier: &Tier, connection: &Connection) -> Result<Vec<Evictable>, StoreError> {
        let here: HashSet<String> = self.bodies.names(Folder::Segments)?.into_iter().collect();
        let mut query = connection.prepare_cached("SELECT id, digest, bytes, object FROM segments")?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, count(row, 2)?, row.get(3)?));
        let mut listed: Vec<(i64, Digest, u64, i64)> = query.query_map([], row)?.collect::<Result<_, _>>()?;
        listed.retain(|(_, digest, ..)| here.contains(&name_of(digest)));
        let mut bytes: u64 = listed.iter().map(|(_, _, bytes, _)| bytes).sum();
        let used = |id: &i64| locked(&tier.used).get(id).copied();
        listed.retain(|(id, .., object)| *object > 0 && used(id).is_none_or(|at| at.elapsed() >= STAYS));
        listed.sort_by_cached_key(|(id, ..)| (used(id), *id));
        let mut chosen = Vec::new();
        for (id, digest, of_segment, object) in listed {
            if bytes <= tier.cache {
                break;
            }
            bytes -= of_segment;
            chosen.push(Evictable { id, digest, is_verified: object == 2 });
        }
        Ok(chosen)
    }

    /// Reads a copy in the object store again. One that is wrong or missing is sent again.
    fn is_right_there(&self, tier: &Tier, id: i64, digest: &Digest) -> Result<bool, StoreError> {
        let incoming = self.bodies.incoming(&Id::random()?.to_string());
        let name = name_of(digest);
        let is_right = match tier.objects.fetch(&object(&name), &incoming) {
            Ok(()) => hashed(&incoming).map(|found| found == *digest),
            Err(ObjectsError::Missing { .. }) => Ok(false),
            Err(error) => Err(error.into()),
        };
        let _ = fs::remove_file(&incoming);
        let is_right = is_right?;
        if !is_right {
            tracing::error!(name, "the object store has not what was sent: it is sent again");
        }
        self.set_object(id, if is_right { 2 } else { 0 })?;
        Ok(is_right)
    }

    /// Refuses an empty database while the object store has segments: they would have no rows.
    pub(crate) fn refuse_without_rows(&self) -> Result<(), StoreError> {
        let Some(tier) = &self.tier else { return Ok(()) };
        if !startup::is_empty(&self.connection())? {
            return Ok(());
        }
        match tier.objects.list(Folder::Segments.name())?.len() {
            0 => Ok(()),
            envelopes => Err(StoreError::NoRows { envelopes }),
        }
    }

    /// Returns the names of the segments that the object store has.
    pub(in super::super) fn segments_there(&self) -> Result<BTreeSet<String>, StoreError> {
        if self.tier.is_none() {
            return Ok(BTreeSet::new());
        }
        let connection = self.connection();
        let mut query = connection
            .prepare_cached("SELECT lower(hex(substr(digest, 1, 16))) FROM segments WHERE object > 0")?;
        Ok(query.query_map([], |row| row.get(0))?.collect::<Result<_, _>>()?)
    }

    /// Fetches the segments of the object store that are not here, for a catalogue that is made anew.
    pub(crate) fn fetch_all(&self) -> Result<usize, StoreError> {
        let Some(tier) = &self.tier else { return Ok(0) };
        let here: HashSet<String> = self.bodies.names(Folder::Segments)?.into_iter().collect();
        let there = tier.objects.list(Folder::Segments.name())?;
        let mut fetched = 0;
        for name in there.keys().filter(|name| !here.contains(*name)) {
            let incoming = self.bodies.incoming(&Id::random()?.to_string());
            tier.objects.fetch(&object(name), &incoming)?;
            fs::rename(&incoming, self.segment_path(name)).map_err(failed_to("name a segment"))?;
            fetched += 1;
        }
        sync_folder(&self.bodies.folder(Folder::Segments))?;
        Ok(fetched)
    }
}
