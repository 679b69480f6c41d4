//! Deletes files that no device needs, and writes those again of which little is needed.

use std::collections::HashMap;
use std::fs;
use std::io;

use super::record::{BEGIN, DeviceId, Head, Kind, MAGIC};
use super::segment::{Segment, SegmentReader};
use super::{Files, ReadingsJournal};
use crate::spool::durable::{self, Audience};
use std::sync::atomic::Ordering;

/// A file is written again if less than a part of it is needed.
const PART: u64 = 4;
/// Bytes at which the file that is written goes, if no device needs it.
const SPENT: u64 = 64 << 10;
/// Smaller files are not written again.
const SMALL: u64 = 1 << 20;

impl ReadingsJournal {
    /// Notes that the rows of a device before a batch are in its spool. The number does not decrease.
    pub(crate) fn settle(&self, device: DeviceId, before: u64) {
        let mut files = self.lock();
        let settled = files.settled.entry(device).or_default();
        *settled = before.max(*settled);
    }

    /// Deletes files that no device needs. `all` includes the file that is written, at the end of a run.
    ///
    /// # Errors
    /// The I/O error.
    pub(crate) fn trim(&self, all: bool) -> io::Result<()> {
        let mut files = self.lock();
        let Files { segments, writer, settled } = &mut *files;
        let needed = |device: &DeviceId, last: u64| settled.get(device).is_none_or(|before| last >= *before);
        let is_spent = |last: &Segment| last.bytes >= SPENT && last.needed(needed) == 0;
        if all || segments.last().is_some_and(is_spent) {
            *writer = None;
        }
        let written = segments.len().saturating_sub(usize::from(writer.is_some()));
        let mut at = 0;
        for _ in 0..written {
            let segment = &mut segments[at];
            let (before, kept) = (segment.bytes, segment.needed(needed));
            if kept == 0 {
                fs::remove_file(&segment.path)?;
                self.bytes.fetch_sub(before, Ordering::Relaxed);
                segments.remove(at);
                continue;
            }
            if before >= SMALL && kept < before / PART {
                *segment = rewritten(segment, settled)?;
                self.bytes.fetch_add(segment.bytes, Ordering::Relaxed);
                self.bytes.fetch_sub(before, Ordering::Relaxed);
            }
            at += 1;
        }
        Ok(())
    }
}

/// Writes a file again with the records that are needed. Their order, batches and salt stay.
fn rewritten(segment: &Segment, settled: &HashMap<DeviceId, u64>) -> io::Result<Segment> {
    let before = |head: &Head| settled.get(&head.device).copied().unwrap_or_default();
    let is_needed = |head: &Head| {
        let last = segment.devices.get(&head.device).map_or(0, |(last, _)| *last);
        // The names of channels are needed as long as any rows behind them.
        last >= before(head) && (head.kind == Kind::Channels || head.batch >= before(head))
    };
    let mut again =
        Segment { path: segment.path.clone(), first: segment.first, bytes: BEGIN, devices: HashMap::new() };
    let Some(mut reader) = SegmentReader::open(&segment.path, segment.bytes)? else {
        return Err(io::ErrorKind::UnexpectedEof.into());
    };
    let mut bytes = [&MAGIC[..], &reader.salt].concat();
    while let Some((head, wanted)) = reader.next(is_needed)? {
        if wanted {
            bytes.extend_from_slice(&reader.record);
            again.note(&head);
        }
    }
    durable::write(&segment.path, &bytes, Audience::Owner)?;
    Ok(again)
}
