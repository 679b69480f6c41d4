//! Writes segments anew without some of their windows or bodies.

use std::collections::BTreeMap;

use rusqlite::Connection;

use super::super::{Store, StoreError};
use super::blocks::digest_of;
use super::build::Building;
use super::compact::drop_segment;
use super::runs::{self, SealedRun};
use sotto_segment::{Kind, Window};

/// The row that a window becomes.
#[derive(Debug)]
struct Change {
    kind: Kind,
    /// The parts stay whose values do not add.
    with_values: bool,
    /// The roll-up whose first window it is from now on, empty for none. It keeps its own if this is None.
    sum: Option<Vec<u8>>,
}

/// Windows in segments that lose their bodies, or everything but their leaves, or get another roll-up.
#[derive(Debug, Default)]
pub(crate) struct Rewriting {
    /// By segment, the log and the number of each window.
    windows: BTreeMap<i64, BTreeMap<(i64, u64), Change>>,
}

impl Rewriting {
    fn change(&mut self, run: &SealedRun, number: u64) -> &mut Change {
        let windows = self.windows.entry(run.segment).or_default();
        windows.entry((run.log, number)).or_insert(Change { kind: run.kind, with_values: false, sum: None })
    }

    pub(in super::super) fn add(&mut self, run: &SealedRun, number: u64, to: Kind) {
        self.change(run, number).kind = to;
    }

    /// Takes the body of a window of a roll-up, but for parts whose values do not add.
    pub(in super::super) fn roll_up(&mut self, run: &SealedRun, number: u64) {
        let change = self.change(run, number);
        (change.kind, change.with_values) = (Kind::Head, true);
    }

    /// Puts a roll-up beside the head of its first window; an empty one takes it away. Windows that are no heads have none.
    pub(in super::super) fn put_sum(&mut self, run: &SealedRun, number: u64, sum: Vec<u8>) {
        self.change(run, number).sum = Some(sum);
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
                        Some(change) => {
                            let mut row = sealed.reduced((change.kind, change.with_values))?;
                            if let (Window::Head { sum, .. }, Some(new)) = (&mut row.window, &change.sum) {
                                sum.clone_from(new);
                            }
                            row
                        }
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
