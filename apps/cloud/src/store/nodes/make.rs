//! Makes the nodes of segments.

use std::ops::Range;
use std::sync::Arc;

use rusqlite::{Connection, OptionalExtension as _, params};
use sotto_wire::{Digest, SumBlocks};

use super::super::sealed::name_of;
use super::super::sealed::runs::{self, SealedRun};
use super::super::{Store, StoreError};
use super::{Nodes, Summable, digest};
use sotto_segment::Kind;

/// Windows of the shortest node.
const LEAST: u32 = 8;

/// Whole windows whose numbers follow each other: the runs that they are in.
type Stretch = Vec<SealedRun>;

fn stretches(all: Vec<SealedRun>) -> Vec<Stretch> {
    let mut stretches: Vec<Stretch> = Vec::new();
    for run in all.into_iter().filter(|run| run.kind == Kind::Whole) {
        match stretches.last_mut() {
            Some(stretch)
                if stretch.last().is_some_and(|last| {
                    last.log == run.log && last.tag == run.tag && last.end() == run.number
                }) =>
            {
                stretch.push(run);
            }
            _ => stretches.push(vec![run]),
        }
    }
    stretches
}

/// Returns where equal values follow each other.
fn equal(values: &[i128]) -> impl Iterator<Item = Range<u32>> + '_ {
    let mut end = 0;
    values.chunk_by(|a, b| a == b).map(move |chunk| {
        let start = end;
        end += chunk.len() as u32;
        start..end
    })
}

/// Returns the windows, from this number on, of each block of time, with the windows of its nodes.
fn blocks(blocks: SumBlocks, first: u64, starts: &[i64]) -> Vec<(u64, u32, Vec<Range<u32>>)> {
    let of_block: Vec<i128> = starts.iter().map(|start| blocks.of(*start)).collect();
    let of_part: Vec<i128> = starts.iter().map(|start| blocks.part_of(*start)).collect();
    let is_long = |node: &Range<u32>| node.len() as u32 >= LEAST;
    let mut found = Vec::new();
    for block in equal(&of_block).filter(is_long) {
        let inside = &of_part[block.start as usize..block.end as usize];
        let all = 0..block.len() as u32;
        let parts = equal(inside).filter(is_long).filter(|part| *part != all);
        let nodes = std::iter::once(all.clone()).chain(parts).collect();
        found.push((first + u64::from(block.start), all.end, nodes));
    }
    found
}

impl Store {
    /// Returns a segment whose nodes are to be made, and the windows for them. Returns None if there is none here.
    pub(crate) fn to_sum(&self) -> Result<Option<(i64, Vec<Summable>)>, StoreError> {
        let found = {
            let connection = self.connection();
            let mut query =
                connection.prepare_cached("SELECT id, digest FROM segments WHERE summed = 0 ORDER BY id")?;
            let mut rows = query.query([])?;
            let mut found = None;
            while let Some(row) = rows.next()? {
                let (id, digest): (i64, Digest) = (row.get(0)?, row.get(1)?);
                if self.segment_path(&name_of(&digest)).exists() {
                    found = Some((id, runs::runs_in(&connection, id)?));
                    break;
                }
            }
            found
        };
        let Some((segment, all)) = found else { return Ok(None) };
        let mut summable = Vec::new();
        for stretch in stretches(all) {
            if stretch.iter().map(|run| run.windows).sum::<u64>() < u64::from(LEAST) {
                continue;
            }
            let (first, log) = (stretch[0].number, stretch[0].log);
            let header = self.header_of(&self.connection(), stretch[0].tag)?;
            let Some((of, _)) = SumBlocks::of_stream(&header) else { continue };
            let starts = match self.starts(&stretch) {
                Ok(starts) => starts,
                // The segment is replaced, or its file is only in the object store now.
                Err(StoreError::Away(_)) => return Ok(None),
                Err(StoreError::Damaged(reason)) => {
                    tracing::debug!(reason, "some windows get no sums that are there before anyone asks");
                    continue;
                }
                Err(error) => return Err(error),
            };
            summable.extend(blocks(of, first, &starts).into_iter().map(|(first, count, nodes)| Summable {
                log,
                header: Arc::clone(&header),
                first,
                count,
                nodes,
            }));
        }
        Ok(Some((segment, summable)))
    }

    /// Returns the starts of windows.
    fn starts(&self, stretch: &[SealedRun]) -> Result<Vec<i64>, StoreError> {
        let mut starts = Vec::new();
        for run in stretch {
            let block = self.block_apart(run, false)?;
            let rows = run.row as usize..run.row as usize + run.windows as usize;
            let lacks = || StoreError::Damaged(format!("a block of segment {} lacks rows", run.segment));
            starts.extend(block.starts(rows).ok_or_else(lacks)?);
        }
        Ok(starts)
    }

    /// Keeps the nodes of a segment, unless it was replaced meanwhile.
    pub(crate) fn keep_nodes(&self, nodes: &Nodes) -> Result<(), StoreError> {
        self.transaction(|transaction| {
            let query = "SELECT 1 FROM segments WHERE id = ?1 AND summed = 0";
            if transaction.query_row(query, [nodes.segment], |_| Ok(())).optional()?.is_none() {
                return Ok(());
            }
            let mut insert = transaction.prepare_cached(
                "INSERT INTO nodes (log, number, windows, segment, stream_tag, digest, sums) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
            )?;
            for (of, frame) in &nodes.rows {
                let tag = of.header.id().tag().0;
                let (first, segment) = (of.first.cast_signed(), nodes.segment);
                insert.execute(params![of.log, first, of.count, segment, tag, digest(frame), frame])?;
            }
            transaction.execute("UPDATE segments SET summed = 1 WHERE id = ?1", [nodes.segment])?;
            Ok(())
        })?;
        if let Some(tier) = &self.tier {
            tier.forget_use(nodes.segment);
        }
        Ok(())
    }
}

/// Drops the nodes of a segment, so that they are made again.
pub(super) fn again(connection: &Connection, segment: i64) -> Result<(), StoreError> {
    connection.execute("DELETE FROM nodes WHERE segment = ?1", [segment])?;
    connection.execute("UPDATE segments SET summed = 0 WHERE id = ?1", [segment])?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use sotto_pack::{Channel, Layout, Period};

    use super::*;

    #[test]
    fn nodes_are_the_windows_of_blocks_and_of_their_parts() {
        let level =
            Channel { name: "level".into(), maximum: 15.0, resolution: Some(1.0), ..Channel::default() };
        let layout = Layout::of_sums(vec![level], 60).unwrap();
        // Windows of an hour; 60 hours a block of time, 7.5 a part.
        let of = SumBlocks::new(Period::of_seconds(60, 1).unwrap(), &layout, 64);
        let starts: Vec<i64> = (50..130).map(|hour| hour * 3_600_000).collect();
        let found = blocks(of, 1000, &starts);
        // Hours 50 to 59: those from 52.5 on are a part of 7 hours, too short for a node.
        let (first, count, nodes) = &found[0];
        assert_eq!((*first, *count, nodes.len(), &nodes[0]), (1000, 10, 1, &(0..10)));
        // Hours 60 to 119: parts begin at 60, 67.5, 75, 82.5 and so on.
        assert_eq!(found[1], (1010, 60, vec![0..60, 0..8, 15..23, 30..38, 45..53]));
        assert_eq!(found[2], (1070, 10, vec![0..10, 0..8]));
    }
}
