//! Sums of groups of windows that stay in place of their bodies, by the owner's order.
//!
//! A roll-up is in the database, where requests find it, and with the head of its first window in a segment ([`SealedSum`]), of
//! which `rebuild` makes the rows again.

mod sealed;

use std::collections::BTreeSet;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, Row, params};
use sotto_wire::{FromLog, MaskName, RollUp, SignedHeader, StreamHeader, StreamTag};

use super::sealed::{Rewriting, runs};
use super::{Store, StoreError, count, now};
use sealed::take_away;
pub(super) use sealed::{SealedSum, adopt, differences, note_lost, sealed_of_log, that_begins_with};
use sotto_segment::Kind;

/// Windows whose numbers and pads follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    number: u64,
    windows: u64,
    pads: MaskName,
}

/// Windows that are to be added up.
pub(crate) struct Group {
    pub(crate) header: Arc<StreamHeader>,
    runs: Vec<Run>,
}

/// A group and the frame of its sum.
pub(crate) struct Summed {
    pub(crate) group: Group,
    pub(crate) sums: Vec<u8>,
}

/// What an order changed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RolledUp {
    /// Windows that lost their bodies.
    pub(crate) windows: u64,
    /// Bytes that they took on the disk, without those of the sums.
    pub(crate) bytes: u64,
}

/// A sum that is kept, with its windows.
pub(crate) struct Rolled {
    pub(crate) id: i64,
    rolled_at: i64,
    runs: Vec<Run>,
    /// The frame of the sum.
    pub(crate) sums: Vec<u8>,
}

/// Returns the number of windows of runs.
fn windows(runs: &[Run]) -> u64 {
    runs.iter().map(|run| run.windows).sum()
}

impl Group {
    pub(crate) fn windows(&self) -> u64 {
        windows(&self.runs)
    }

    /// Returns the runs of numbers, as requests name them.
    pub(crate) fn numbers(&self) -> Vec<(u64, u32)> {
        self.runs.iter().map(|run| (run.number, u32::try_from(run.windows).unwrap_or(u32::MAX))).collect()
    }

    /// Returns the parts whose values add.
    pub(crate) fn parts(&self) -> Vec<u8> {
        self.header.adding_parts().collect()
    }
}

impl Rolled {
    pub(crate) fn windows(&self) -> u64 {
        windows(&self.runs)
    }

    /// Returns the pads of a window, and how many windows of its run follow it, itself included.
    pub(super) fn at(&self, number: u64) -> Option<(MaskName, u64)> {
        let run = self.runs.iter().find(|run| (run.number..run.number + run.windows).contains(&number))?;
        let behind = number - run.number;
        Some((run.pads.ahead(behind), run.windows - behind))
    }
}

impl Store {
    /// Returns the groups of an order whose sums are not kept yet. Groups with a window that is deleted or in no segment are left
    /// out, and all are if the order is about another log.
    pub(crate) fn to_roll_up(&self, device: &str, order: &RollUp) -> Result<Vec<Group>, StoreError> {
        let connection = self.connection();
        let of_log = FromLog { size: order.size, root: order.root, runs: Vec::new() };
        if !self.is_log(&connection, device, &order.stream, &of_log)? {
            tracing::warn!(
                device,
                stream = order.stream,
                "an order names windows of another log: none is rolled up"
            );
            return Ok(Vec::new());
        }
        let Some(log) = runs::log_of(&connection, device, &order.stream)? else { return Ok(Vec::new()) };
        let mut groups = Vec::with_capacity(order.groups.len());
        for positions in &order.groups {
            let Some((tag, runs)) = windows_at(&connection, log, positions)? else {
                tracing::warn!(
                    device,
                    stream = order.stream,
                    "a group of an order has windows that are not here: it stays"
                );
                continue;
            };
            let group = Group { header: self.header_of(&connection, tag)?, runs };
            if group.header.is_of_sums() && !is_kept(&connection, log, &group)? {
                groups.push(group);
            }
        }
        Ok(groups)
    }

    /// Keeps sums in place of the bodies of their windows. A group of which a window was deleted meanwhile, or has become a part
    /// of another sum, is left out.
    pub(crate) fn keep_roll_ups(&self, summed: &[Summed]) -> Result<RolledUp, StoreError> {
        let sealing = self.sealing();
        let rolled_up = self.transaction(|transaction| {
            let before = segment_bytes(transaction)?;
            let (mut rewriting, mut windows, mut kept) = (Rewriting::default(), 0, 0);
            for Summed { group, sums } in summed {
                let header = &group.header;
                let Some(log) = runs::log_of(transaction, header.device(), header.stream())? else {
                    continue;
                };
                let Some(Members { bodies, earlier }) = members(transaction, log, group)? else { continue };
                for (run, number) in &bodies {
                    rewriting.roll_up(run, *number);
                }
                for id in earlier {
                    take_away(transaction, (log, id), &mut rewriting)?;
                }
                let mut runs = group.runs.clone();
                runs.sort_by_key(|run| run.number);
                let sum = SealedSum { rolled_at: now(), runs, sums: sums.clone() };
                sum.put(transaction, log, &mut rewriting)?;
                insert(transaction, log, &sum, true)?;
                (windows, kept) = (windows + bodies.len() as u64, kept + sums.len() as u64);
            }
            self.rewrite(transaction, &rewriting)?;
            let bytes = before.saturating_sub(segment_bytes(transaction)? + kept);
            Ok(RolledUp { windows, bytes })
        })?;
        drop(sealing);
        self.finish_removals()?;
        Ok(rolled_up)
    }
}

fn segment_bytes(connection: &Connection) -> Result<u64, StoreError> {
    let query = "SELECT coalesce(sum(bytes), 0) FROM segments";
    Ok(connection.query_row(query, [], |row| count(row, 0))?)
}

/// Returns the windows at some positions of a log, and the tag of their stream. Returns None unless all are in segments, and of one
/// stream.
fn windows_at(
    connection: &Connection,
    log: i64,
    positions: &[(u64, u64)],
) -> Result<Option<(StreamTag, Vec<Run>)>, StoreError> {
    let (mut found, mut tag) = (Vec::<Run>::new(), None);
    for (from, to) in positions {
        let mut at = *from;
        while at < *to {
            let run = runs::run_of_position(connection, log, at)?;
            let Some(run) = run.filter(|run| run.position <= at && run.kind != Kind::Deleted) else {
                return Ok(None);
            };
            if *tag.get_or_insert(run.tag) != run.tag {
                return Ok(None);
            }
            let behind = at - run.position;
            let windows = (run.windows - behind).min(to - at);
            found.push(Run { number: run.number + behind, windows, pads: run.pads.ahead(behind) });
            at += windows;
        }
    }
    Ok(tag.map(|tag| (tag, found)))
}

/// Returns true if the sum of exactly these windows is kept.
fn is_kept(connection: &Connection, log: i64, group: &Group) -> Result<bool, StoreError> {
    let Some(first) = group.runs.first() else { return Ok(true) };
    let Some((id, windows)) = of_number(connection, log, first.number)? else { return Ok(false) };
    if windows != group.windows() {
        return Ok(false);
    }
    let rolled = read(connection, id)?;
    Ok(group
        .runs
        .iter()
        .all(|run| (run.number..run.number + run.windows).all(|number| rolled.at(number).is_some())))
}

/// A window with a body: its run, and its number.
type Body = (runs::SealedRun, u64);

/// The windows of a group.
#[derive(Default)]
struct Members {
    bodies: Vec<Body>,
    /// The sums that are kept of those without a body.
    earlier: BTreeSet<i64>,
}

/// Returns the windows of a group. Returns None if one is deleted, or is in a sum of windows that the group lacks.
fn members(connection: &Connection, log: i64, group: &Group) -> Result<Option<Members>, StoreError> {
    let (mut all, mut heads) = (Members::default(), 0);
    for of_group in &group.runs {
        let (mut number, end) = (of_group.number, of_group.number + of_group.windows);
        while number < end {
            let Some(run) = runs::run_of(connection, log, number)? else { return Ok(None) };
            let until = run.end().min(end);
            match run.kind {
                Kind::Whole => all.bodies.extend((number..until).map(|number| (run.clone(), number))),
                Kind::Head => {
                    for number in number..until {
                        let Some((id, windows)) = of_number(connection, log, number)? else {
                            return Ok(None);
                        };
                        heads += if all.earlier.insert(id) { windows } else { 0 };
                    }
                }
                Kind::Deleted => return Ok(None),
            }
            number = until;
        }
    }
    let is_whole = all.bodies.len() as u64 + heads == group.windows();
    Ok(Some(all).filter(|_| is_whole))
}

fn insert(connection: &Connection, log: i64, sum: &SealedSum, is_sealed: bool) -> Result<(), StoreError> {
    connection.execute(
        "INSERT INTO roll_ups (log, windows, rolled_at, sums, sealed) VALUES (?1, ?2, ?3, ?4, ?5)",
        params![log, windows(&sum.runs).cast_signed(), sum.rolled_at, sum.sums, is_sealed],
    )?;
    let id = connection.last_insert_rowid();
    let mut insert = connection.prepare_cached(
        "INSERT INTO rolled (log, number, windows, salt, pad, roll_up) VALUES (?1, ?2, ?3, ?4, ?5, ?6)",
    )?;
    for Run { number, windows, pads } in &sum.runs {
        let (number, windows, pad) =
            (number.cast_signed(), windows.cast_signed(), pads.sequence.cast_signed());
        insert.execute(params![log, number, windows, pads.salt, pad, id])?;
    }
    Ok(())
}

fn delete(connection: &Connection, id: i64) -> Result<(), StoreError> {
    connection.prepare_cached("DELETE FROM roll_ups WHERE id = ?1")?.execute([id])?;
    Ok(())
}

/// Deletes the sums that deleted windows are in, and takes them away from their segments.
pub(super) fn forget(connection: &Connection, rewriting: &mut Rewriting) -> Result<(), StoreError> {
    let deleted: Vec<(i64, u64)> = rewriting.windows().collect();
    for (log, number) in deleted {
        if let Some((id, _)) = of_number(connection, log, number)? {
            take_away(connection, (log, id), rewriting)?;
        }
    }
    Ok(())
}

/// Returns the sum that a window is in, and the number of its windows.
fn of_number(connection: &Connection, log: i64, number: u64) -> Result<Option<(i64, u64)>, StoreError> {
    let mut query = connection.prepare_cached(
        "SELECT rolled.number, rolled.windows, roll_ups.id, roll_ups.windows FROM rolled JOIN roll_ups ON id = roll_up
         WHERE rolled.log = ?1 AND number <= ?2 ORDER BY number DESC LIMIT 1",
    )?;
    let row = |row: &Row<'_>| Ok((count(row, 0)?, count(row, 1)?, row.get(2)?, count(row, 3)?));
    let found: Option<(u64, u64, i64, u64)> =
        query.query_row(params![log, number.cast_signed()], row).optional()?;
    Ok(found.filter(|(first, windows, ..)| number - first < *windows).map(|(.., id, windows)| (id, windows)))
}

/// Returns the number of a window that a new one replaces, and of which a sum is kept.
pub(super) fn replaced(connection: &Connection, signed: &SignedHeader) -> Result<Option<u64>, StoreError> {
    let replaces =
        signed.description().filter(|_| signed.replaces()).and_then(|described| described.replaces);
    let header = signed.header();
    let Some(replaces) = replaces else { return Ok(None) };
    let Some(log) = runs::log_of(connection, &header.device, &header.stream)? else { return Ok(None) };
    for number in replaces.windows {
        if of_number(connection, log, number)?.is_some() {
            return Ok(Some(number));
        }
    }
    Ok(None)
}

/// Returns the sum that a window is in.
pub(super) fn rolled(connection: &Connection, log: i64, number: u64) -> Result<Option<Rolled>, StoreError> {
    of_number(connection, log, number)?.map(|(id, _)| read(connection, id)).transpose()
}

fn read(connection: &Connection, id: i64) -> Result<Rolled, StoreError> {
    let mut sums = connection.prepare_cached("SELECT sums, rolled_at FROM roll_ups WHERE id = ?1")?;
    let (sums, rolled_at) = sums.query_row([id], |row| Ok((row.get(0)?, row.get(1)?)))?;
    let mut windows = connection
        .prepare_cached("SELECT number, windows, salt, pad FROM rolled WHERE roll_up = ?1 ORDER BY number")?;
    let run = |row: &Row<'_>| {
        let pads = MaskName { salt: row.get(2)?, sequence: row.get::<_, i64>(3)?.cast_unsigned() };
        Ok(Run { number: count(row, 0)?, windows: count(row, 1)?, pads })
    };
    let runs = windows.query_map([id], run)?.collect::<Result<_, _>>()?;
    Ok(Rolled { id, rolled_at, runs, sums })
}
