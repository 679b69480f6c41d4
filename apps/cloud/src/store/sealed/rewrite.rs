//! Writes segments anew without some of their windows or bodies.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::super::{Store, StoreError};
use super::blocks::digest_of;
use super::build::Building;
use super::compact::drop_segment;
use super::runs::{self, SealedRun};
use crate::segment::Kind;

/// Windows in segments that lose their bodies, or everything but their leaves.
#[derive(Debug, Default)]
pub(crate) struct Rewriting {
    /// By segment, the log and the number of each window, and the kind of row that it becomes.
    windows: BTreeMap<i64, BTreeMap<(i64, u64), Kind>>,
}

impl Rewriting {
    pub(in super::super) fn add(&mut self, run: &SealedRun, number: u64, to: Kind) {
        self.windows.entry(run.segment).or_default().insert((run.log, number), to);
    }

    /// Iterates over the windows: the log and the number of each.
    pub(in super::super) fn windows(&self) -> impl Iterator<Item = (i64, u64)> {
        self.windows.values().flat_map(|windows| windows.keys().copied())
    }
}

impl Store {
    /// Writes segments anew, within a transaction; the lock of [`Store::sealing`] is held. The old files are noted for
    /// removal.
    pub(in super::super) fn rewrite(
        &self,
        transaction: &Connection,
        rewriting: &Rewriting,
    ) -> Result<(), StoreError> {
        let names = runs::names(transaction)?;
        for (segment, windows) in &rewriting.windows {
            let mut building = Building::new(self)?;
            let mut all = runs::runs_in(transaction, *segment)?;
            // The order of the file.
            all.sort_by_key(|run| (run.block, run.row));
            for run in &all {
                let (device, stream) = runs::name(&names, run.log)?;
                let open = self.open_run(transaction, run, true)?;
                for number in run.number..run.end() {
                    let sealed = open.at(number)?;
                    let row = match windows.get(&(run.log, number)) {
                        None => sealed.row()?,
                        Some(to) => sealed.reduced(*to)?,
                    };
                    building.push((run.log, device, stream), row)?;
                }
            }
            let built = building.finish()?;
            let digest = digest_of(transaction, *segment)?;
            drop_segment(transaction, *segment, &digest)?;
            built.map_or(Ok(()), |built| built.insert(transaction))?;
            self.held.forget(*segment);
        }
        Ok(())
    }
}
