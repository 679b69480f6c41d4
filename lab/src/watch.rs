//! The observer of a run: keeps and shows rows, and draws a progress bar.

use std::path::Path;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use sotto_runner::{ComparisonRow, Gap, Observer, Row, RunnerError, Store};

use super::table;
use crate::output::say;

/// Keeps and shows the rows of a run.
pub(super) struct Watch {
    bar: ProgressBar,
    stores: Vec<Store>,
    json: bool,
    rows: Vec<Row>,
    comparisons: Vec<ComparisonRow>,
    gaps: usize,
}

impl Watch {
    pub(super) fn new(whole: u64, json: bool) -> anyhow::Result<Self> {
        let bar = ProgressBar::new(whole);
        bar.set_style(ProgressStyle::with_template("{wide_bar} {percent} %, {eta} left  {msg}")?);
        bar.enable_steady_tick(Duration::from_millis(200));
        Ok(Self { bar, stores: Vec::new(), json, rows: Vec::new(), comparisons: Vec::new(), gaps: 0 })
    }

    /// Sets the stores for the rows that follow.
    pub(super) fn keep_in(&mut self, stores: Vec<Store>) {
        self.stores = stores;
    }

    /// Finishes the stores of a run.
    pub(super) fn keep(&mut self) -> Result<(), RunnerError> {
        self.stores.drain(..).try_for_each(Store::finish)
    }

    /// Shows the tables, unless the rows were printed as JSON.
    pub(super) fn finish(&self, kept: &Path) {
        self.bar.finish_and_clear();
        if !self.json {
            let tables = table::medians(&self.rows).into_iter().chain(table::together(&self.rows));
            let tables = tables.chain(table::comparisons(&self.comparisons));
            for (title, table) in tables {
                say(format!("\n{title}\n{table}"));
            }
            say(format!("{} rows are in {}", self.rows.len() + self.comparisons.len(), kept.display()));
        }
        if self.gaps > 0 {
            eprintln!("sotto: {} gaps, also in {}", self.gaps, kept.display());
        }
    }
}

impl Observer for Watch {
    fn row(&mut self, row: Row) -> Result<(), RunnerError> {
        self.stores.iter_mut().try_for_each(|store| store.row(&row))?;
        if self.json {
            let line = serde_json::to_string(&row).unwrap_or_default();
            self.bar.suspend(|| say(line));
        } else {
            self.rows.push(row);
        }
        Ok(())
    }

    fn comparison(&mut self, row: ComparisonRow) -> Result<(), RunnerError> {
        self.stores.iter_mut().try_for_each(|store| store.comparison(&row))?;
        if self.json {
            let line = serde_json::to_string(&row).unwrap_or_default();
            self.bar.suspend(|| say(line));
        } else {
            self.comparisons.push(row);
        }
        Ok(())
    }

    fn gap(&mut self, gap: Gap) -> Result<(), RunnerError> {
        self.gaps += 1;
        self.stores.iter_mut().try_for_each(|store| store.gap(&gap))?;
        let about = format!("{} {}", gap.engine, gap.about());
        self.bar.suspend(|| eprintln!("gap: {}: {}", about.trim_end(), gap.reason));
        Ok(())
    }

    fn progress(&mut self, done: u64, next: &str) {
        self.bar.inc(done);
        self.bar.set_message(next.to_owned());
    }
}
