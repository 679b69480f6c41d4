//! Keeps the object store in step with the catalogue, and the disk within its bytes.

use std::collections::{BTreeSet, HashSet};
use std::fs;
use std::time::Duration;

use rusqlite::{Connection, params};
use sotto_wire::Digest;

use super::super::bodies::{Folder, sync_folder};
use super::super::error::failed_to;
use super::super::removal::{self, OBJECTS};
use super::super::sealed::name_of;
use super::super::{Store, StoreError, count, recover, startup};
use super::{Tier, locked, object};

/// Segments that one call sends.
const MOST_SENT: u32 = 64;
/// A file stays this long after it was used: the request that fetched it may need others, too.
const STAYS: Duration = Duration::from_secs(60);

/// A segment whose file may go.
struct Evictable {
    id: i64,
    digest: Digest,
    /// Its copy was read again.
    is_verified: bool,
}

impl Store {
    /// Sends segments to the object store, removes dropped ones there, and frees the disk. Returns the number of segments sent.
    ///
    /// # Errors
    /// The object store does not answer. Segments that were sent or removed before stay so.
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

    /// Notes whether the object store has a segment.
    pub(in super::super) fn set_object(&self, id: i64, state: i64) -> Result<(), StoreError> {
        self.connection().execute("UPDATE segments SET object = ?2 WHERE id = ?1", params![id, state])?;
        Ok(())
    }

    fn remove_objects(&self, tier: &Tier) -> Result<(), StoreError> {
        let noted: Vec<String> = {
            let connection = self.connection();
            let mut query = connection.prepare_cached("SELECT name FROM removals WHERE folder = ?1")?;
            query.query_map([OBJECTS], |row| row.get(0))?.collect::<Result<_, _>>()?
        };
        for name in noted {
            let is_named = recover::names(&self.connection(), Folder::Segments)?.contains(&name);
            if !is_named {
                tier.objects.remove(&object(&name))?;
            }
            removal::delete(&self.connection(), OBJECTS, &name)?;
        }
        Ok(())
    }

    /// Removes files of segments that the object store has, until at most the cache's bytes are here. Each copy is read again
    /// first.
    fn evict(&self, tier: &Tier) -> Result<(), StoreError> {
        let chosen = self.evictable(tier, &self.connection())?;
        for segment in chosen {
            if segment.is_verified || self.is_right_there(tier, segment.id, &segment.digest)? {
                self.remove_file(&segment);
            }
        }
        Ok(())
    }

    /// Removes files, as [`Store::evict`] does, of segments whose copies were read again before.
    pub(super) fn evict_verified(&self, tier: &Tier, connection: &Connection) -> Result<(), StoreError> {
        let chosen = self.evictable(tier, connection)?;
        chosen.iter().filter(|segment| segment.is_verified).for_each(|segment| self.remove_file(segment));
        Ok(())
    }

    fn remove_file(&self, segment: &Evictable) {
        self.held.forget(segment.id);
        self.bodies.remove(Folder::Segments, &name_of(&segment.digest));
    }

    /// Chooses segments whose files may go: those whose sums are made. Those that nobody has asked for come first, the oldest before
    /// the others.
    fn evictable(&self, tier: &Tier, connection: &Connection) -> Result<Vec<Evictable>, StoreError> {
        let mut query =
            connection.prepare_cached("SELECT id, digest, bytes, iif(summed, object, 0) FROM segments")?;
        let row = |row: &rusqlite::Row<'_>| Ok((row.get(0)?, row.get(1)?, count(row, 2)?, row.get(3)?));
        let mut listed: Vec<(i64, Digest, u64, i64)> = query.query_map([], row)?.collect::<Result<_, _>>()?;
        let all =
            |listed: &[(i64, Digest, u64, i64)]| listed.iter().map(|(_, _, bytes, _)| bytes).sum::<u64>();
        if all(&listed) <= tier.cache {
            return Ok(Vec::new());
        }
        let here: HashSet<String> = self.bodies.names(Folder::Segments)?.into_iter().collect();
        listed.retain(|(_, digest, ..)| here.contains(&name_of(digest)));
        let mut bytes = all(&listed);
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
        let is_right = self.fetch_segment(&tier.objects, digest)?.is_some();
        if !is_right {
            let name = name_of(digest);
            tracing::error!(
                name,
                "the object store lacks this segment, or has other bytes: it is sent again"
            );
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
            let incoming = self.bodies.incoming()?;
            tier.objects.fetch(&object(name), incoming.path())?;
            fs::rename(incoming.path(), self.segment_path(name)).map_err(failed_to("name a segment"))?;
            fetched += 1;
        }
        sync_folder(&self.bodies.folder(Folder::Segments))?;
        Ok(fetched)
    }
}
