//! Merges small segments.

use std::collections::{BTreeMap, HashMap};

use rusqlite::Connection;
use sotto_wire::Digest;

use super::super::bodies::Folder;
use super::super::{Store, StoreError, count, removal};
use super::blocks::name_of;
use super::build::Building;
use super::runs;
use super::window::OpenRun;
use sotto_segment::Kind;

/// Segments of this many bytes are not merged any more.
const LARGE: u64 = 16 << 20;
/// Number of segments of about one size that are merged.
const TOGETHER: usize = 8;
/// Bytes of the smallest class of sizes; each further class is eight times as large.
const SMALLEST: u64 = 64 << 10;

/// A segment of the catalogue.
#[derive(Clone, Debug)]
struct Listed {
    id: i64,
    digest: Digest,
    bytes: u64,
}

impl Listed {
    fn class(&self) -> u32 {
        (self.bytes.max(SMALLEST) / SMALLEST).ilog2() / 3
    }
}

/// Returns segments to merge, if there are enough of one size.
fn choose(connection: &Connection) -> Result<Vec<Listed>, StoreError> {
    let mut query =
        connection.prepare_cached("SELECT id, digest, bytes FROM segments WHERE bytes < ?1 ORDER BY id")?;
    let found = query.query_map([LARGE.cast_signed()], |row| {
        Ok(Listed { id: row.get(0)?, digest: row.get(1)?, bytes: count(row, 2)? })
    })?;
    let mut classes: BTreeMap<u32, Vec<Listed>> = BTreeMap::new();
    for segment in found {
        let segment = segment?;
        classes.entry(segment.class()).or_default().push(segment);
    }
    let full = classes.into_values().find(|of_class| of_class.len() >= TOGETHER);
    let mut chosen = Vec::new();
    let mut bytes = 0;
    for segment in full.into_iter().flatten() {
        if bytes >= LARGE {
            break;
        }
        bytes += segment.bytes;
        chosen.push(segment);
    }
    Ok(chosen)
}

impl Store {
    /// Merges segments until few small ones are left.
    pub(super) fn compact(&self) -> Result<(), StoreError> {
        loop {
            let _sealing = self.sealing();
            let chosen = choose(&self.connection())?;
            if chosen.len() < 2 {
                return Ok(());
            }
            match self.merge(&chosen) {
                Ok(()) => {}
                // The segments stay, and so do their windows that can be read.
                Err(StoreError::Damaged(reason)) => {
                    tracing::error!(reason, "small segments are not merged");
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }

    fn merge(&self, chosen: &[Listed]) -> Result<(), StoreError> {
        let (mut opened, mut headers) = (HashMap::new(), HashMap::new());
        let (names, mut all) = {
            let connection = self.connection();
            let mut all = Vec::new();
            for segment in chosen {
                opened.insert(segment.id, self.segment(&connection, segment.id)?);
                all.extend(runs::runs_in(&connection, segment.id)?);
            }
            for run in all.iter().filter(|run| run.kind != Kind::Deleted) {
                headers.insert(run.tag, self.header_of(&connection, run.tag)?);
            }
            (runs::names(&connection)?, all)
        };
        all.sort_by_cached_key(|run| (names.get(&run.log), run.number));
        let mut building = Building::new(self)?;
        for run in &all {
            let (device, stream) = runs::name(&names, run.log)?;
            // Reading takes long: uploads go on meanwhile.
            let (segment, name) = &opened[&run.segment];
            let block = self.block_of(segment, name, (run.segment, run.block), true)?;
            let open = OpenRun::new(
                run,
                block,
                headers.get(&run.tag).filter(|_| run.kind != Kind::Deleted).cloned(),
            );
            for number in run.number..run.end() {
                building.push((run.log, device, stream), open.at(number)?.row()?)?;
            }
        }
        let built = building.finish()?;
        self.transaction(|transaction| {
            for segment in chosen {
                drop_segment(transaction, segment.id, &segment.digest)?;
            }
            built.map_or(Ok(()), |built| built.insert(transaction))
        })?;
        chosen.iter().for_each(|segment| self.held.forget(segment.id));
        self.finish_removals()
    }
}

/// Takes a segment out of the catalogue, and notes that its file is to be removed.
pub(super) fn drop_segment(connection: &Connection, id: i64, digest: &Digest) -> Result<(), StoreError> {
    runs::delete_segment(connection, id)?;
    removal::note(connection, Folder::Segments, &name_of(digest))
}
