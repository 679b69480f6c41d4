//! A cloud that hides windows from the device: it shows no head of them, and takes their ticks again.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use rusqlite::{Connection, params};

use crate::suites::ask::{Numbers, Site};

/// The windows that the running cloud of a site hides.
pub(super) struct Forgetful {
    rows: Connection,
    hidden: Vec<Hidden>,
}

struct Hidden {
    id: Vec<u8>,
    readings: i64,
    message: Vec<u8>,
}

impl Forgetful {
    /// Hides about half of the windows, but neither the last one of each stream nor that with its latest reading: the
    /// cloud shows the device its position.
    pub(super) fn hide(site: &Site, numbers: &mut Numbers) -> Result<Self> {
        let store = site.folder().join("plant/cloud");
        let rows = Connection::open(store.join("cloud.sqlite"))?;
        rows.busy_timeout(Duration::from_secs(20))?;
        let all = windows(&rows)?;
        let (mut hidden, mut latest) = (Vec::new(), BTreeMap::<&str, i64>::new());
        for (_, stream, _, ended) in &all {
            let end = latest.entry(stream).or_insert(*ended);
            *end = (*end).max(*ended);
        }
        let mut of_stream = BTreeMap::<&str, usize>::new();
        for (id, stream, readings, ended) in &all {
            let place = of_stream.entry(stream).or_default();
            *place += 1;
            // The second one always, so that something is hidden where it can be.
            let hides = *place == 2 || *place > 2 && numbers.next() < 0.5;
            if hides && latest[stream.as_str()] != *ended {
                let message = "SELECT message FROM envelopes WHERE id = ?1";
                let message = rows.query_row(message, [id], |row| row.get(0))?;
                hidden.push(Hidden { id: id.clone(), readings: *readings, message });
            }
        }
        for window in &hidden {
            // The cloud reads heads from messages, and compares ticks with rows that have readings.
            let hide = "UPDATE envelopes SET readings = 0, message = x'' WHERE id = ?1";
            rows.execute(hide, params![window.id])?;
        }
        Ok(Self { rows, hidden })
    }

    /// Returns the number of windows that are hidden.
    pub(super) fn count(&self) -> usize {
        self.hidden.len()
    }

    /// Shows all windows again.
    pub(super) fn show(self) -> Result<()> {
        for window in self.hidden {
            let back = "UPDATE envelopes SET readings = ?2, message = ?3 WHERE id = ?1";
            self.rows.execute(back, params![window.id, window.readings, window.message])?;
        }
        Ok(())
    }
}

/// A row of the store: id, stream, number of readings, time of the last one.
type Row = (Vec<u8>, String, i64, i64);

/// Returns the windows, those of a stream from the last one on.
fn windows(rows: &Connection) -> Result<Vec<Row>> {
    let columns = "SELECT id, stream, readings, ended_at FROM envelopes WHERE message IS NOT NULL ORDER BY stream, sequence DESC";
    let mut all = rows.prepare(columns)?;
    let found = all.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}
