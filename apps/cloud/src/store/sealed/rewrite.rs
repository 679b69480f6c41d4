//! Writes segments anew without some of their windows or bodies.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::Connection;
use sotto_wire::Digest;

use super::super::{Store, StoreError};
use super::build::Building;
use super::compact::drop_segment;
use super::runs::{self, SealedRun};
use super::window::unread;
use crate::segment::{Block, Kind, Row};

/// Windows in segments that lose their bodies, or everything but their leaves.
#[derive(Debug, Default)]
pub(crate) struct Rewriting {
    /// By segment, the log and the number of each window, and what it becomes.
    windows: BTreeMap<i64, BTreeMap<(i64, u64), Kind>>,
}

impl Rewriting {
    pub(in super::super) fn add(&mut self, run: &SealedRun, number: u64, to: Kind) {
        self.windows.entry(run.segment).or_default().insert((run.log, number), to);
    }
}

impl Store {
    /// Makes a row of a block that another segment will have.
    pub(super) fn row_of(&self, block: &Block, row: usize) -> Result<Row, StoreError> {
        let header = block.tag(row).map(|tag| self.stream(tag)).transpose()?.flatten();
        block.row(row, header.as_ref()).map_err(unread)
    }

    /// Writes segments anew, within a transaction; the lock of [`Store::sealing`] is held. The old files are noted for
    /// removal.
    pub(in super::super) fn rewrite(
        &self,
        transaction: &Connection,
        rewriting: &Rewriting,
    ) -> Result<(), StoreError> {
        for (segment, windows) in &rewriting.windows {
            let mut building = Building::new(self)?;
            let mut log = None;
            let logs: BTreeMap<i64, (String, String)> = runs::logs(transaction, None, None)?
                .into_iter()
                .map(|(id, device, stream)| (id, (device, stream)))
                .collect();
            let mut all = runs::runs_in(transaction, *segment)?;
            // The order of the file.
            all.sort_by_key(|run| (run.block, run.row));
            for run in &all {
                if log != Some(run.log) {
                    log = Some(run.log);
                    let (device, stream) = logs.get(&run.log).cloned().unwrap_or_default();
                    building.begin(run.log, &device, &stream)?;
                }
                let block: Arc<Block> = self.block(transaction, run, true)?;
                for number in run.number..run.end() {
                    let row = run.row_of(number);
                    let written = match windows.get(&(run.log, number)) {
                        None => block
                            .tag(row)
                            .map(|tag| self.header_of(transaction, tag))
                            .transpose()
                            .and_then(|header| block.row(row, header.as_ref()).map_err(unread))?,
                        Some(to) => {
                            let tag = block.tag(row).unwrap_or(run.tag);
                            let header = self.header_of(transaction, tag)?;
                            block.reduced(row, *to, &header).map_err(unread)?
                        }
                    };
                    building.push(written)?;
                }
            }
            let built = building.finish()?;
            let digest: Digest =
                transaction
                    .query_row("SELECT digest FROM segments WHERE id = ?1", [segment], |row| row.get(0))?;
            drop_segment(transaction, *segment, &digest)?;
            built.insert(transaction)?;
            self.held.forget(*segment);
        }
        Ok(())
    }
}
