//! Takes points: finds their devices, adds their rows to the next batch, waits until that is durable.

use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::{Duration, Instant};

use super::devices::Gateway;
use super::journal::Accepted;
use super::member::{RowsFrom, lock, shown};
use super::point::{Intake, IntakeError, Point, Taken};
use super::route::Scratch;
use super::staging::{Staged, Ticket};
use crate::source::now;

/// The tag that names a sender.
const HOST: &str = "host";
const MILLISECOND: i64 = 1_000_000;
/// Time between two looks for files of the journal that no device needs.
const TRIM: Duration = Duration::from_secs(1);

/// Points that are in the next batch.
pub(super) struct StagedPoints {
    pub(super) taken: Taken,
    /// `None` if no reading has to become durable.
    pub(super) ticket: Option<Arc<Ticket>>,
    /// The first device whose spool is full.
    pub(super) full: Option<IntakeError>,
}

impl StagedPoints {
    /// Waits until the readings are durable.
    pub(super) fn wait(self) -> Result<Taken, IntakeError> {
        if let Some(ticket) = self.ticket {
            ticket.wait()?;
        }
        self.full.map_or(Ok(self.taken), Err)
    }
}

impl Intake for Gateway {
    fn take(&self, points: &[Point<'_>], sender: &str) -> Result<Taken, IntakeError> {
        self.stage(points, sender, false)?.wait()
    }

    fn keep(&self, points: &[Point<'_>], sender: &str) -> Result<Taken, IntakeError> {
        self.stage(points, sender, true)?.wait()
    }
}

impl Gateway {
    /// Adds points to the next batch. They are durable once the ticket says so. `keeps` takes those of a device whose spool is
    /// full, too, while the journal is less than half full.
    fn stage(&self, points: &[Point<'_>], sender: &str, keeps: bool) -> Result<StagedPoints, IntakeError> {
        let members = self.members();
        let (now, sender) = (now(), shown(sender));
        let (mut taken, mut full, mut scratch) = (Taken::default(), None, Scratch::default());
        let mut host = Arc::clone(&sender);
        let mut staging = lock(&self.staging);
        if staging.ended {
            return Err(IntakeError::Stopping);
        }
        let limit = self.options.journal_limit;
        let bytes = self.journal.bytes() + staging.bytes as u64;
        if bytes > limit {
            return Err(IntakeError::JournalFull { limit });
        }
        let keeps = keeps && bytes < limit / 2;
        let mut any = false;
        for point in points {
            match point.tag_text(HOST) {
                Some(name) if *name == *host => {}
                Some(name) => host = shown(name),
                None => host = Arc::clone(&sender),
            }
            let at = point.time.map_or(now, |time| time.div_euclid(MILLISECOND));
            let (readings, unclaimed) = members.routes.route(point, &mut scratch, |device, cells| {
                let Some(member) = members.list.get(device as usize) else { return };
                if !keeps && member.is_full.load(Ordering::Relaxed) {
                    let device = Arc::clone(&member.name);
                    full.get_or_insert(IntakeError::SpoolFull { device });
                    return;
                }
                any = true;
                staging.add(member, &host, at, cells);
            });
            taken.readings += readings;
            taken.unclaimed += unclaimed;
            for (field, _) in scratch.unclaimed(point) {
                self.note_unclaimed(&point.measurement, field);
            }
        }
        let ticket = any.then(|| Arc::clone(&staging.ticket));
        drop(staging);
        if any {
            self.staged.notify_one();
        }
        Ok(StagedPoints { taken, ticket, full })
    }

    /// Writes batches until the end: the work of one thread.
    pub(super) fn commit(self: &Arc<Self>) {
        let mut trimmed = Instant::now();
        loop {
            let (batch, ticket) = {
                let mut staging = lock(&self.staging);
                if staging.is_empty() {
                    if staging.ended {
                        return;
                    }
                    let waited = self.staged.wait_timeout(staging, TRIM);
                    staging = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                if staging.is_empty() {
                    (Vec::new(), None)
                } else {
                    let (batch, ticket) = staging.take();
                    (batch, Some(ticket))
                }
            };
            if let Some(ticket) = ticket {
                let outcome = self.write(batch);
                ticket.set(outcome);
            }
            if trimmed.elapsed() >= TRIM {
                trimmed = Instant::now();
                if let Err(error) = self.journal.trim(false) {
                    tracing::warn!(%error, "the journal of readings is not trimmed");
                }
            }
        }
    }

    /// Writes a batch and hands its rows over to the devices that are live.
    fn write(&self, batch: Vec<Staged>) -> Result<(), IntakeError> {
        let records: Vec<Accepted<'_>> = batch
            .iter()
            .map(|Staged { member, rows, .. }| Accepted {
                device: member.id,
                cipher: &member.cipher,
                channels: &member.channels,
                rows: rows.bytes(),
            })
            .collect();
        let number = match self.journal.append(&records) {
            Ok(number) => number,
            Err(error) => {
                tracing::error!(%error, "the journal of readings cannot be written: senders are told to keep their readings");
                return Err(IntakeError::Disk(Arc::from(error.to_string())));
            }
        };
        let (mut handed, at) = (lock(&self.handed), now());
        for Staged { member, rows, senders } in batch {
            for (sender, readings) in senders {
                lock(&member.counts).accept(&sender, readings, at);
            }
            let mut rows_from = lock(&member.rows_from);
            if matches!(*rows_from, RowsFrom::Senders(from) if number >= from) {
                if !member.queue.push(number, rows.into_bytes()) {
                    *rows_from = RowsFrom::Journal(number);
                }
                drop(rows_from);
                self.drives.push(&member);
            }
        }
        *handed = number + 1;
        Ok(())
    }
}
