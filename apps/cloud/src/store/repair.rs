//! Repairs segments that are damaged or missing: from a backup, or by the windows of them whose signatures hold.

use std::path::Path;

use serde::Serialize;
use sotto_wire::Digest;

use super::bodies::Folder;
use super::device::{is_signed, verifying_keys};
use super::error::failed_to;
use super::sealed::{Building, name_of, runs, unreadable};
use super::{Store, StoreError, Tier, log, rolled};
use crate::objects::Objects;
use crate::segment::{Kind, Segment, Window};

/// Outcome of a repair.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Repaired {
    /// Names of segments that were put back from copies.
    pub(crate) fetched: Vec<String>,
    /// Windows of other damaged segments that are right: their devices' signatures hold.
    pub(crate) saved: u64,
    /// Windows that are lost, a line for each run.
    pub(crate) lost: Vec<String>,
}

impl Store {
    /// Repairs every segment that is not as it was written. `from` is a backup; the object store has copies, too.
    pub(crate) fn repair(&self, from: Option<&Objects>) -> Result<Repaired, StoreError> {
        let _sealing = self.sealing();
        let all: Vec<(i64, Digest)> = {
            let connection = self.connection();
            let mut query = connection.prepare("SELECT id, digest FROM segments ORDER BY id")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?
        };
        let mut repaired = Repaired::default();
        for (id, digest) in all {
            let name = name_of(&digest);
            let path = self.bodies.path(Folder::Segments, &name);
            if is_right(&path, digest)? {
                continue;
            }
            let object_store = self.tier.as_ref().map(Tier::objects);
            let mut copies = object_store.into_iter().chain(from);
            if copies.any(|copies| self.put_back(copies, &name, &digest)) {
                repaired.fetched.push(name);
            } else {
                self.save_rest(id, digest, &name, &mut repaired)?;
            }
        }
        self.finish_removals()?;
        Ok(repaired)
    }

    /// Puts a segment back, if there is a copy that is right.
    fn put_back(&self, copies: &Objects, name: &str, digest: &Digest) -> bool {
        let put = || -> Result<bool, StoreError> {
            let Some(fetched) = self.fetch_segment(copies, digest)? else { return Ok(false) };
            self.name_segment(&fetched, digest)?;
            Ok(true)
        };
        put().unwrap_or_else(|error| {
            tracing::warn!(name, %error, "no copy of this segment can be fetched");
            false
        })
    }

    /// Writes the windows of a damaged segment that are right to another one, and puts its file aside.
    fn save_rest(
        &self,
        id: i64,
        digest: Digest,
        name: &str,
        repaired: &mut Repaired,
    ) -> Result<(), StoreError> {
        let path = self.bodies.path(Folder::Segments, name);
        let segment = Segment::open(&path, digest).ok();
        let is_whole = self.transaction(|transaction| {
            let (mut building, names) = (Building::new(self)?, runs::names(transaction)?);
            for run in runs::runs_in(transaction, id)? {
                let (device, stream) = runs::name(&names, run.log)?;
                let keys = verifying_keys(transaction, device)?;
                // A damaged block is read as far as it can be; signatures say which windows are right.
                let block = segment.as_ref().and_then(|segment| segment.unchecked(run.block as usize).ok());
                let mut lost: Option<(u64, u64)> = None;
                for number in run.number..run.end() {
                    let row = run.row_of(number);
                    let header = self.streams.get(transaction, run.tag)?;
                    let is_right = block.as_ref().is_some_and(|block| {
                        row < block.rows()
                            && block.sequence(row) == number
                            && block.kind(row) == run.kind
                            && block.position(row) == run.position + (number - run.number)
                            && (run.kind == Kind::Deleted
                                || header.as_ref().is_some_and(|header| {
                                    let signed = block.signed(row, header);
                                    signed.is_ok_and(|signed| is_signed(&signed, &keys))
                                }))
                    });
                    match block.as_ref().filter(|_| is_right) {
                        Some(block) => {
                            let header = header.as_ref().filter(|_| run.kind != Kind::Deleted);
                            let mut row = block.row(row, header).map_err(unreadable(name))?;
                            if let Window::Head { sum, .. } = &mut row.window {
                                // No signature covers that of a damaged block.
                                let kept = rolled::that_begins_with(transaction, run.log, number)?;
                                *sum = kept.map(|sum| sum.write()).unwrap_or_default();
                            }
                            building.push((run.log, device, stream), row)?;
                            repaired.saved += 1;
                        }
                        None => {
                            lost = Some((lost.map_or(number, |(first, _)| first), number));
                            let position = run.position + (number - run.number);
                            log::note_lost(transaction, (device, stream), position, number)?;
                            rolled::note_lost(transaction, run.log, number)?;
                        }
                    }
                }
                if let Some((first, last)) = lost {
                    repaired.lost.push(format!("{device}.{stream}, windows {first} to {last}"));
                }
            }
            runs::delete_segment(transaction, id)?;
            self.held.forget(id);
            let built = building.finish()?;
            // The same bytes as before the damage have the same name.
            let is_whole = built.as_ref().is_some_and(|built| built.digest() == digest);
            built.map_or(Ok(()), |built| built.insert(transaction))?;
            Ok(is_whole)
        })?;
        if path.exists() && !is_whole {
            self.bodies.put_aside(Folder::Segments, name)?;
        }
        Ok(())
    }
}

fn is_right(path: &Path, digest: Digest) -> Result<bool, StoreError> {
    if !path.exists() {
        return Ok(false);
    }
    let Ok(segment) = Segment::open(path, digest) else { return Ok(false) };
    segment.is_right().map_err(failed_to("read a segment"))
}
