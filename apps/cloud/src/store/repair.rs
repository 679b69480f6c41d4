//! Repairs segments that are damaged or missing: from a backup, or by the windows of them whose signatures hold.

use std::path::Path;

use serde::Serialize;
use sotto_wire::Digest;

use super::bodies::{Folder, Incoming};
use super::device::{is_signed, verifying_keys};
use super::error::failed_to;
use super::sealed::{Building, name_of, runs, unreadable};
use super::{Store, StoreError, Tier, log, rolled};
use crate::objects::Objects;
use sotto_segment::{Kind, Segment, Window};

/// Outcome of a repair.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Repaired {
    /// Names of segments that were put back from copies.
    pub(crate) fetched: Vec<String>,
    /// Segments that are in the object store alone, and right there.
    pub(crate) away: u64,
    /// Windows of other damaged segments that are right: their devices' signatures hold.
    pub(crate) saved: u64,
    /// Windows that are lost, a line for each run.
    pub(crate) lost: Vec<String>,
}

impl Store {
    /// Repairs every segment that is not as it was written. `from` is a backup; the object store has copies, too. Those that are
    /// there alone are compared and stay there.
    ///
    /// # Errors
    /// A segment has no copy that is right, and the object store or the backup does not answer: it may have one.
    pub(crate) fn repair(&self, from: Option<&Objects>) -> Result<Repaired, StoreError> {
        let _sealing = self.sealing();
        let all: Vec<(i64, Digest)> = {
            let connection = self.connection();
            let mut query = connection.prepare("SELECT id, digest FROM segments ORDER BY id")?;
            query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?.collect::<Result<_, _>>()?
        };
        let (mut repaired, there) = (Repaired::default(), self.segments_there()?);
        // As of a disk that is not mounted.
        let is_empty =
            |objects: &Objects| objects.list(Folder::Segments.name()).is_ok_and(|all| all.is_empty());
        let is_gone = !there.is_empty() && self.tier.as_ref().map(Tier::objects).is_some_and(is_empty);
        for (id, digest) in all {
            let name = name_of(&digest);
            let path = self.bodies.path(Folder::Segments, &name);
            if is_right(&path, digest)? {
                continue;
            }
            let (was_sent, mut failed) = (there.contains(&name), None);
            let in_object_store = match self.tier.as_ref().map(Tier::objects) {
                Some(_) if is_gone => {
                    let reason = "the object store has none of the segments that were sent there: is its disk mounted?";
                    failed = Some(StoreError::Objects(reason.to_owned()));
                    None
                }
                Some(objects) => self.copy_in(objects, &digest, &mut failed),
                None => None,
            };
            if was_sent && in_object_store.is_some() && !path.exists() {
                repaired.away += 1;
                continue;
            }
            if !was_sent {
                failed = None;
            } else if in_object_store.is_none() && failed.is_none() {
                // Its file is sent again once it is here, and stays until then.
                self.set_object(id, 0)?;
            }
            let copy = in_object_store.or_else(|| self.copy_in(from?, &digest, &mut failed));
            match (copy, failed) {
                (Some(copy), _) => {
                    self.name_segment(&copy, &digest)?;
                    repaired.fetched.push(name);
                }
                (None, Some(error)) => return Err(error),
                (None, None) => self.save_rest(id, digest, &name, &mut repaired)?,
            }
        }
        self.finish_removals()?;
        self.drop_damaged_nodes()?;
        Ok(repaired)
    }

    /// Fetches a copy of a segment. Returns None if there is none that is right; `failed` is then the error, if one hid it.
    fn copy_in(
        &self,
        copies: &Objects,
        digest: &Digest,
        failed: &mut Option<StoreError>,
    ) -> Option<Incoming> {
        self.fetch_segment(copies, digest).unwrap_or_else(|error| {
            tracing::warn!(name = name_of(digest), %error, "no copy of this segment can be fetched");
            *failed = Some(error);
            None
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
                                *sum = kept.map(|(_, sum)| sum.write()).unwrap_or_default();
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
