//! Reads the journal for devices that are behind it: after a start, and after more rows came than wait in memory.

use std::collections::HashMap;
use std::io;
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::sync::{Arc, PoisonError};
use std::time::Duration;

use zeroize::Zeroizing;

use super::devices::Gateway;
use super::journal::{DeviceId, Kind};
use super::member::{Member, RowsFrom, Work, lock};
use super::rows::{Reader, Rows};

/// Longest time between two looks for devices that are behind.
const LOOK: Duration = Duration::from_millis(500);
/// Batches that are read while no further ones are handed over.
const LAST: u64 = 16;

/// A device that is behind.
struct Reading {
    member: Arc<Member>,
    /// The next batch that it needs.
    from: u64,
    /// For each channel of the rows, its position now. `None` if they are the same.
    places: Option<Vec<Option<u16>>>,
    /// True once it takes no more rows now.
    is_full: bool,
    /// How often it had to read its rows again, when this reading began.
    again: u64,
}

impl Gateway {
    /// Wakes the thread that reads the journal.
    pub(super) fn wake(&self) {
        *lock(&self.behind) = true;
        self.wakes.notify_one();
    }

    /// Reads the journal until the end: the work of one thread.
    pub(super) fn catch_up(self: &Arc<Self>) {
        while !self.ending.load(Ordering::Relaxed) {
            let mut asked = lock(&self.behind);
            if !std::mem::take(&mut *asked) {
                let waited = self.wakes.wait_timeout(asked, LOOK);
                asked = waited.unwrap_or_else(PoisonError::into_inner).0;
                *asked = false;
            }
            drop(asked);
            // Devices that open one after another would each read the journal by themselves.
            if !self.opens.is_idle() && self.journal.bytes() > 1 << 20 {
                std::thread::sleep(LOOK / 5);
                self.wake();
                continue;
            }
            if let Err(error) = self.read_behind() {
                tracing::error!(%error, "the journal of readings cannot be read: devices that are behind wait");
                std::thread::sleep(LOOK);
            }
        }
    }

    fn read_behind(&self) -> io::Result<()> {
        let mut all = self.behind_now();
        let Some(from) = all.values().map(|reading| reading.from).min() else { return Ok(()) };
        let mut next = self.read_for(&mut all, from)?;
        let mut handed = lock(&self.handed);
        while next < *handed && all.values().any(|reading| !reading.is_full) {
            let close = *handed - next <= LAST;
            if !close {
                drop(handed);
            }
            let again = self.read_for(&mut all, next)?;
            if close {
                // Nothing is handed over meanwhile.
                next = again;
                return self.go_live(&all, next);
            }
            next = again;
            handed = lock(&self.handed);
        }
        self.go_live(&all, next)
    }

    /// Lets devices that have read everything take their rows from the senders. The caller keeps `handed` locked.
    fn go_live(&self, all: &HashMap<DeviceId, Reading>, next: u64) -> io::Result<()> {
        for Reading { member, from, is_full, again, .. } in all.values() {
            let mut rows_from = lock(&member.rows_from);
            if member.readings_again.load(Ordering::Relaxed) == *again {
                *rows_from = if *is_full { RowsFrom::Journal(*from) } else { RowsFrom::Senders(next) };
            }
            drop(rows_from);
            self.drives.push(member);
        }
        Ok(())
    }

    /// Returns the open devices that are behind, and have room.
    fn behind_now(&self) -> HashMap<DeviceId, Reading> {
        let mut all = HashMap::new();
        for member in &self.members().list {
            let RowsFrom::Journal(from) = *lock(&member.rows_from) else { continue };
            if member.queue.is_empty() && matches!(*lock(&member.work), Work::Open(_)) {
                let (member, again) = (Arc::clone(member), member.readings_again.load(Ordering::Relaxed));
                all.insert(member.id, Reading { member, from, places: None, is_full: false, again });
            }
        }
        all
    }

    /// Reads rows from a batch on. Returns the first batch that was not read.
    fn read_for(&self, all: &mut HashMap<DeviceId, Reading>, from: u64) -> io::Result<u64> {
        let wanted: std::collections::HashSet<DeviceId> =
            all.iter().filter(|(_, reading)| !reading.is_full).map(|(id, _)| *id).collect();
        let mut left = wanted.len();
        let next = self.journal.read_from(from, |device| wanted.contains(device), |head, open| {
            let Some(reading) = all.get_mut(&head.device).filter(|reading| !reading.is_full) else {
                return ControlFlow::Continue(());
            };
            let Some(clear) = open(&reading.member.cipher) else {
                let (device, batch) = (&*reading.member.name, head.batch);
                tracing::error!(device, batch, "accepted readings cannot be opened with the device's key: its bundle has other keys now");
                return ControlFlow::Continue(());
            };
            match head.kind {
                Kind::Channels => reading.places = places(&clear, &reading.member.channels),
                Kind::Rows if head.batch < reading.from => {}
                Kind::Rows => {
                    let rows = match &reading.places {
                        None => clear,
                        Some(places) => moved(&clear, places),
                    };
                    if rows.is_empty() || reading.member.queue.push(head.batch, rows) {
                        reading.from = head.batch + 1;
                        self.drives.push(&reading.member);
                    } else {
                        (reading.is_full, reading.from) = (true, head.batch);
                        left -= 1;
                    }
                }
            }
            if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        })?;
        Ok(next)
    }
}

/// Returns where the channels of rows are now; `None` if nothing has changed.
fn places(names: &[u8], now: &str) -> Option<Vec<Option<u16>>> {
    if names == now.as_bytes() {
        return None;
    }
    let of = |name: &str| now.split('\n').position(|other| other == name).map(|place| place as u16);
    Some(String::from_utf8_lossy(names).split('\n').map(of).collect())
}

/// Returns rows whose channels are at other places.
fn moved(rows: &[u8], places: &[Option<u16>]) -> Zeroizing<Vec<u8>> {
    let (mut reader, mut cells, mut moved) = (Reader::default(), Vec::new(), Rows::default());
    while let Some(at) = reader.next(rows, &mut cells) {
        let place = |channel: u16| places.get(usize::from(channel)).copied().flatten();
        let kept: Vec<_> =
            cells.drain(..).filter_map(|(channel, cell)| Some((place(channel)?, cell))).collect();
        if !kept.is_empty() {
            moved.push(at, &kept);
        }
    }
    moved.into_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_follow_their_channels_into_another_bundle() {
        assert_eq!(places(b"a\nb", "a\nb"), None);
        let places = places(b"a\nb\nc", "c\na").unwrap();
        assert_eq!(places, [Some(1), None, Some(0)]);
        let mut rows = Rows::default();
        rows.push(5, &[(0, Ok(1.5)), (1, Ok(2.0))]);
        rows.push(6, &[(1, Ok(3.0))]);
        rows.push(7, &[(2, Ok(4.0))]);
        let (rows, mut reader, mut cells) = (moved(rows.bytes(), &places), Reader::default(), Vec::new());
        assert_eq!((reader.next(&rows, &mut cells), &cells[..]), (Some(5), &[(1, Ok(1.5))][..]));
        assert_eq!((reader.next(&rows, &mut cells), &cells[..]), (Some(7), &[(0, Ok(4.0))][..]));
        assert_eq!(reader.next(&rows, &mut cells), None);
    }
}
