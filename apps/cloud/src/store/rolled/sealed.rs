//! Roll-ups in segments: with the head of its first window each one outlasts the database.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::{Connection, params};
use sotto_wire::{Digest, MaskName};

use super::super::sealed::{Rewriting, runs};
use super::super::{Store, StoreError, removal};
use super::{Rolled, Run, delete, insert, of_number, read};
use crate::id::Id;
use sotto_segment::Kind;

/// Bytes of a run: number 8, windows 8, salt 12, pad 8.
const RUN_BYTES: usize = 36;

/// A roll-up as a segment has it: `digest of all that follows 32 ‖ when it was made 8 ‖ number of runs 4 ‖ of each: first
/// number 8, windows 8, salt 12, first pad 8 ‖ frame of the sum`. Numbers have their lowest byte first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) struct SealedSum {
    /// Milliseconds since 1970.
    pub(in super::super) rolled_at: i64,
    pub(super) runs: Vec<Run>,
    pub(super) sums: Vec<u8>,
}

impl SealedSum {
    /// Returns the number of its first window, whose row has it.
    pub(in super::super) fn first(&self) -> Option<u64> {
        self.runs.iter().map(|run| run.number).min()
    }

    pub(in super::super) fn write(&self) -> Vec<u8> {
        let mut rest = Vec::with_capacity(12 + RUN_BYTES * self.runs.len() + self.sums.len());
        rest.extend_from_slice(&self.rolled_at.to_le_bytes());
        rest.extend_from_slice(&(self.runs.len() as u32).to_le_bytes());
        for Run { number, windows, pads } in &self.runs {
            rest.extend_from_slice(&number.to_le_bytes());
            rest.extend_from_slice(&windows.to_le_bytes());
            rest.extend_from_slice(&pads.salt);
            rest.extend_from_slice(&pads.sequence.to_le_bytes());
        }
        rest.extend_from_slice(&self.sums);
        [blake3::hash(&rest).as_bytes(), &rest[..]].concat()
    }

    /// Returns None for bytes that are damaged.
    pub(in super::super) fn read(bytes: &[u8]) -> Option<Self> {
        let (digest, rest) = bytes.split_first_chunk::<32>()?;
        if blake3::hash(rest).as_bytes() != digest {
            return None;
        }
        let (rolled_at, rest) = rest.split_first_chunk()?;
        let (count, rest) = rest.split_first_chunk()?;
        let runs = (u32::from_le_bytes(*count) as usize).checked_mul(RUN_BYTES)?;
        let (runs, sums) = rest.split_at_checked(runs)?;
        let run = |bytes: &[u8; RUN_BYTES]| {
            let (number, rest) = bytes.split_first_chunk()?;
            let (windows, rest) = rest.split_first_chunk()?;
            let (salt, pad) = rest.split_first_chunk()?;
            let pads = MaskName { salt: *salt, sequence: u64::from_le_bytes(pad.try_into().ok()?) };
            Some(Run { number: u64::from_le_bytes(*number), windows: u64::from_le_bytes(*windows), pads })
        };
        let runs = runs.as_chunks().0.iter().map(run).collect::<Option<Vec<_>>>()?;
        Some(Self { rolled_at: i64::from_le_bytes(*rolled_at), runs, sums: sums.to_vec() })
    }

    /// Puts it beside the head of its first window.
    pub(super) fn put(
        &self,
        connection: &Connection,
        log: i64,
        rewriting: &mut Rewriting,
    ) -> Result<(), StoreError> {
        self.first().map_or(Ok(()), |first| put(connection, (log, first), self.write(), rewriting))
    }
}

impl Rolled {
    fn into_sealed(self) -> SealedSum {
        SealedSum { rolled_at: self.rolled_at, runs: self.runs, sums: self.sums }
    }
}

fn put(
    connection: &Connection,
    (log, number): (i64, u64),
    sum: Vec<u8>,
    rewriting: &mut Rewriting,
) -> Result<(), StoreError> {
    if let Some(run) = runs::run_of(connection, log, number)? {
        rewriting.put_sum(&run, number, sum);
    }
    Ok(())
}

/// Deletes a roll-up, and takes it away from its segment.
pub(super) fn take_away(
    connection: &Connection,
    (log, id): (i64, i64),
    rewriting: &mut Rewriting,
) -> Result<(), StoreError> {
    if let Some(first) = read(connection, id)?.into_sealed().first() {
        put(connection, (log, first), Vec::new(), rewriting)?;
    }
    delete(connection, id)
}

/// Returns the id of the roll-up whose first window has this number, and the roll-up as its segment is to have it.
pub(in super::super) fn that_begins_with(
    connection: &Connection,
    log: i64,
    number: u64,
) -> Result<Option<(i64, SealedSum)>, StoreError> {
    let Some((id, _)) = of_number(connection, log, number)? else { return Ok(None) };
    Ok(Some((id, read(connection, id)?.into_sealed())).filter(|(_, sum)| sum.first() == Some(number)))
}

/// Notes that the roll-up which begins with a window is in no segment any more.
pub(in super::super) fn note_lost(connection: &Connection, log: i64, number: u64) -> Result<(), StoreError> {
    if let Some((id, _)) = that_begins_with(connection, log, number)? {
        connection.execute("UPDATE roll_ups SET sealed = 0 WHERE id = ?1", [id])?;
    }
    Ok(())
}

/// Returns the roll-ups of a log that segments have, as they are to have them.
pub(in super::super) fn sealed_of_log(
    connection: &Connection,
    log: i64,
) -> Result<Vec<SealedSum>, StoreError> {
    let mut query =
        connection.prepare_cached("SELECT id FROM roll_ups WHERE log = ?1 AND sealed ORDER BY id")?;
    let ids = query.query_map([log], |row| row.get(0))?.collect::<Result<Vec<i64>, _>>()?;
    ids.into_iter().map(|id| Ok(read(connection, id)?.into_sealed())).collect()
}

/// Takes a roll-up that was found in a segment without a row into the database, in place of earlier ones of its windows.
/// [`Store::settle_roll_ups`] compares it with its windows.
pub(in super::super) fn adopt(connection: &Connection, log: i64, sum: &SealedSum) -> Result<(), StoreError> {
    let mut overlapping = BTreeSet::new();
    let mut query = connection.prepare_cached(
        "SELECT DISTINCT roll_up FROM rolled WHERE log = ?1 AND number < ?3 AND number + windows > ?2",
    )?;
    for Run { number, windows, .. } in &sum.runs {
        let of = params![log, number.cast_signed(), number.saturating_add(*windows).cast_signed()];
        for id in query.query_map(of, |row| row.get::<_, i64>(0))? {
            overlapping.insert(id?);
        }
    }
    for id in &overlapping {
        if read(connection, *id)?.rolled_at >= sum.rolled_at {
            return Ok(());
        }
    }
    overlapping.into_iter().try_for_each(|id| delete(connection, id))?;
    insert(connection, log, sum, false)
}

impl Store {
    /// Brings roll-ups into segments that are rows alone, as in a store of an earlier version, and compares those with their
    /// windows that were found in segments without rows.
    pub(in super::super) fn settle_roll_ups(&self) -> Result<(), StoreError> {
        let sealing = self.sealing();
        // Those of one segment together: each is written anew once.
        let mut waiting = BTreeMap::<i64, Vec<(i64, i64)>>::new();
        {
            let connection = self.connection();
            let mut query = connection.prepare_cached("SELECT id, log FROM roll_ups WHERE NOT sealed")?;
            let unsealed = query.query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?;
            for of in unsealed.collect::<Result<Vec<(i64, i64)>, _>>()? {
                let (id, log) = of;
                let first = read(&connection, id)?.into_sealed().first().unwrap_or_default();
                let run = runs::run_of(&connection, log, first)?;
                waiting.entry(run.map_or(0, |run| run.segment)).or_default().push(of);
            }
        }
        if waiting.is_empty() {
            return Ok(());
        }
        for of_segment in waiting.values() {
            let settled = self.transaction(|transaction| {
                let mut rewriting = Rewriting::default();
                for (id, log) in of_segment {
                    self.settle(transaction, (*log, *id), &mut rewriting)?;
                }
                self.rewrite(transaction, &rewriting)
            });
            match settled {
                Err(StoreError::Damaged(reason)) => {
                    tracing::error!(reason, "sums of old windows stay in the database alone");
                }
                settled => settled?,
            }
        }
        drop(sealing);
        self.finish_removals()
    }

    fn settle(
        &self,
        connection: &Connection,
        (log, id): (i64, i64),
        rewriting: &mut Rewriting,
    ) -> Result<(), StoreError> {
        let sum = read(connection, id)?.into_sealed();
        let Some(first) = sum.first() else { return delete(connection, id) };
        let (mut sealed, mut elsewhere) = (Vec::new(), Vec::new());
        for of_sum in &sum.runs {
            let (mut number, end) = (of_sum.number, of_sum.number + of_sum.windows);
            while number < end {
                match runs::run_of(connection, log, number)? {
                    Some(run) => {
                        let until = run.end().min(end);
                        sealed.push((run, number..until));
                        number = until;
                    }
                    None => {
                        elsewhere.push(number);
                        number += 1;
                    }
                }
            }
        }
        let any = |kind| sealed.iter().any(|(run, _)| run.kind == kind);
        // A deletion takes the whole roll-up. While all bodies are there, its order was not carried out.
        let is_kept = any(Kind::Head) && !any(Kind::Deleted);
        let bytes = sum.write();
        for (run, numbers) in &sealed {
            let open = match run.kind {
                Kind::Head => Some(self.open_run(connection, run, true)?),
                Kind::Whole | Kind::Deleted => None,
            };
            for number in numbers.clone() {
                if run.kind == Kind::Whole && is_kept {
                    rewriting.roll_up(run, number);
                }
                let wanted = if is_kept && number == first { &bytes[..] } else { &[] };
                let found = open.as_ref().map(|open| open.at(number)).transpose()?;
                if found.as_ref().map_or(&[][..], |found| found.sum()) != wanted {
                    rewriting.put_sum(run, number, wanted.to_vec());
                }
            }
        }
        if !is_kept {
            return delete(connection, id);
        }
        for number in &elsewhere {
            // It waits in the database, or is lost.
            let id = sealed.first().map(|(run, _)| Id::of_window(run.tag, *number));
            id.map_or(Ok(()), |id| removal::note_body(connection, &id.to_string()))?;
        }
        connection.execute(
            "UPDATE roll_ups SET sealed = ?2 WHERE id = ?1",
            params![id, !elsewhere.contains(&first)],
        )?;
        Ok(())
    }
}

/// Compares the roll-ups that segments have with those that they are to have. Returns a line for each that differs.
pub(in super::super) fn differences(
    mut found: BTreeMap<u64, Digest>,
    expected: Vec<SealedSum>,
) -> Vec<String> {
    let mut lines = Vec::new();
    for sum in expected {
        let Some(first) = sum.first() else { continue };
        let line = |what: &str| {
            let windows: u64 = sum.runs.iter().map(|run| run.windows).sum();
            format!("the sum of {windows} windows from {first} on: {what}")
        };
        match found.remove(&first) {
            None => lines.push(line("its segment lacks it")),
            Some(digest) if digest != *blake3::hash(&sum.write()).as_bytes() => {
                lines.push(line("its segment has another one than the database"));
            }
            Some(_) => {}
        }
    }
    lines.extend(
        found.into_keys().map(|first| format!("the sum of windows from {first} on: no row names it")),
    );
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_a_sum_in_a_segment_counts() {
        let run = |number| Run { number, windows: 3, pads: MaskName { salt: [7; 12], sequence: number + 9 } };
        let sum = SealedSum { rolled_at: -5, runs: vec![run(40), run(2)], sums: vec![1, 2, 3] };
        let bytes = sum.write();
        assert_eq!(bytes.len(), 32 + 12 + 2 * RUN_BYTES + 3);
        assert_eq!((SealedSum::read(&bytes), sum.first()), (Some(sum), Some(2)));
        for bit in 0..8 * bytes.len() {
            let mut other = bytes.clone();
            other[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(SealedSum::read(&other), None, "bit {bit}");
        }
        assert!((0..bytes.len()).all(|end| SealedSum::read(&bytes[..end]).is_none()));
    }
}
