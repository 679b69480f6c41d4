//! The object store: sealed segments go there, too, and the disk keeps those that were used last.
//!
//! The catalogue says which segments it has. A file is removed here only after its copy was read again and is right.

mod tend;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use sotto_wire::{Digest, StreamHeader};

use super::bodies::{Folder, Incoming};
use super::error::failed_to;
use super::sealed::{digest_of, name_of, runs};
use super::{Store, StoreError};
use crate::objects::{Objects, ObjectsError};
use sotto_segment::{self as segment, Kind};

/// Segments that are fetched at the same time.
const TOGETHER: usize = 4;
/// Segments of one request that are fetched before it is tried again, and runs that are looked at for them.
const AHEAD: usize = 64;
const MOST_STEPS: usize = 4096;
/// A segment that is nowhere is looked for again after this time.
const LOST: Duration = Duration::from_secs(60);

/// An object store beside the folder.
pub(crate) struct Tier {
    objects: Objects,
    /// Bytes of segments that stay on the disk.
    cache: u64,
    /// True if readers of a segment wait for it. False in a service, where the lock of the store would wait, too.
    waits: AtomicBool,
    wanted: Mutex<BTreeMap<i64, Digest>>,
    /// Held while segments are fetched.
    bringing: Mutex<()>,
    used: Mutex<HashMap<i64, Instant>>,
    lost: Mutex<HashMap<i64, Instant>>,
}

fn locked<T>(of: &Mutex<T>) -> MutexGuard<'_, T> {
    of.lock().unwrap_or_else(PoisonError::into_inner)
}

fn object(name: &str) -> String {
    format!("{}/{name}", Folder::Segments.name())
}

impl Tier {
    pub(crate) fn new(objects: Objects, cache: u64) -> Self {
        Self {
            objects,
            cache,
            waits: AtomicBool::new(true),
            wanted: Mutex::default(),
            bringing: Mutex::default(),
            used: Mutex::default(),
            lost: Mutex::default(),
        }
    }

    pub(super) fn objects(&self) -> &Objects {
        &self.objects
    }

    pub(super) fn note_use(&self, id: i64) {
        locked(&self.used).insert(id, Instant::now());
    }

    /// Forgets that a segment was used: its sums were made, for nobody yet.
    pub(super) fn forget_use(&self, id: i64) {
        locked(&self.used).remove(&id);
    }

    fn is_lost(&self, id: i64) -> bool {
        locked(&self.lost).get(&id).is_some_and(|since| since.elapsed() < LOST)
    }
}

impl Store {
    /// Adds an object store.
    pub(crate) fn with_tier(mut self, tier: Option<Tier>) -> Self {
        self.tier = tier;
        self
    }

    /// If `waits`, readers of a segment wait for the object store while the store is locked, as commands do. Else
    /// [`StoreError::Away`] names the missing segment, and [`Store::bring`] fetches it.
    pub(crate) fn wait_for_tier(&self, waits: bool) {
        if let Some(tier) = &self.tier {
            tier.waits.store(waits, Ordering::Relaxed);
        }
    }

    /// Notes that a segment is wanted whose file is not here. Returns once the file is, or the error that says so.
    pub(super) fn want(&self, connection: &Connection, id: i64, digest: &Digest) -> Result<(), StoreError> {
        let missing = || StoreError::Damaged(format!("{} is missing", object(&name_of(digest))));
        let tier = self.tier.as_ref().filter(|tier| !tier.is_lost(id)).ok_or_else(missing)?;
        locked(&tier.wanted).insert(id, *digest);
        if tier.waits.load(Ordering::Relaxed) {
            self.bring()?;
            self.evict_verified(tier, connection)?;
            return if tier.is_lost(id) { Err(missing()) } else { Ok(()) };
        }
        Err(StoreError::Away(name_of(digest)))
    }

    /// Notes that the segments of these runs of numbers of a stream are wanted that are not here, some of them.
    pub(super) fn want_ahead(&self, header: &StreamHeader, wanted: &[(u64, u32)]) -> Result<(), StoreError> {
        let Some(tier) = &self.tier else { return Ok(()) };
        let connection = self.connection();
        let Some(log) = runs::log_of(&connection, header.device(), header.stream())? else { return Ok(()) };
        let (mut seen, mut steps) = (HashSet::new(), 0);
        for (first, count) in wanted {
            let (mut number, end) = (*first, first.saturating_add(u64::from(*count)));
            while number < end
                && let Some(run) = runs::first_run_from(&connection, log, number)?
            {
                steps += 1;
                if seen.len() >= AHEAD || steps > MOST_STEPS || run.number >= end {
                    break;
                }
                number = run.end();
                if run.kind == Kind::Whole && seen.insert(run.segment) {
                    let digest = digest_of(&connection, run.segment)?;
                    if !self.segment_path(&name_of(&digest)).exists() {
                        locked(&tier.wanted).insert(run.segment, digest);
                    }
                }
            }
        }
        Ok(())
    }

    /// Fetches the wanted segments. Those without a copy, or with a copy of other bytes, count as damaged from now on.
    ///
    /// # Errors
    /// The object store does not answer, or the disk is full.
    pub(crate) fn bring(&self) -> Result<(), StoreError> {
        let Some(tier) = &self.tier else { return Ok(()) };
        let _one = locked(&tier.bringing);
        let wanted: Vec<(i64, Digest)> = std::mem::take(&mut *locked(&tier.wanted)).into_iter().collect();
        for some in wanted.chunks(TOGETHER) {
            thread::scope(|scope| {
                let fetched: Vec<_> = some
                    .iter()
                    .map(|(id, digest)| scope.spawn(|| self.bring_one(tier, *id, digest)))
                    .collect();
                let ended = |thread: thread::ScopedJoinHandle<'_, Result<(), StoreError>>| {
                    thread
                        .join()
                        .unwrap_or_else(|_| Err(StoreError::Objects("a thread ended early".to_owned())))
                };
                fetched.into_iter().map(ended).collect::<Vec<_>>().into_iter().collect::<Result<(), _>>()
            })?;
        }
        Ok(())
    }

    /// Fetches a copy of a segment. Returns None if there is none, or one with other bytes.
    pub(super) fn fetch_segment(
        &self,
        from: &Objects,
        digest: &Digest,
    ) -> Result<Option<Incoming>, StoreError> {
        let incoming = self.bodies.incoming()?;
        match from.fetch(&object(&name_of(digest)), incoming.path()) {
            Err(ObjectsError::Missing { .. }) => return Ok(None),
            fetched => fetched?,
        }
        Ok((hashed(incoming.path())? == *digest).then_some(incoming))
    }

    fn bring_one(&self, tier: &Tier, id: i64, digest: &Digest) -> Result<(), StoreError> {
        let name = name_of(digest);
        let path = self.segment_path(&name);
        if path.exists() {
            tier.note_use(id);
            return Ok(());
        }
        let Some(fetched) = self.fetch_segment(&tier.objects, digest)? else {
            tracing::error!(name, "a segment is neither here nor, with its bytes, in the object store");
            locked(&tier.lost).insert(id, Instant::now());
            return Ok(());
        };
        self.name_segment(&fetched, digest)?;
        tier.note_use(id);
        tracing::info!(name, "fetched from the object store");
        Ok(())
    }
}

/// Returns the digest of a file.
pub(super) fn hashed(file: &Path) -> Result<Digest, StoreError> {
    File::open(file).and_then(segment::hashed).map_err(failed_to("read a segment"))
}
