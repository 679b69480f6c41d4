//! Sends waiting windows of one stream as a group, under one signature. If the cloud does not take a group, its windows
//! travel one by one; the next groups are shorter, and grow again with each success.

use std::time::Instant;

use sotto_wire::{Envelope, MOST_GROUPED, WindowGroup};

use super::Sending;
use crate::spool::{Entry, SpoolError};
use crate::stop::Stop;
use crate::upload::{GroupAnswer, Later};

/// Maximum bytes of the files in a group. For longer windows a signature is a small part, and a failed attempt repeats
/// all bytes.
const MOST_BYTES: u64 = 64 << 10;

/// Minimum number of windows in a group.
const LEAST_GROUP: usize = 2;

/// Size limits of groups, adapted to the cloud's answers in this run.
#[derive(Debug)]
pub(super) struct Grouping {
    /// Maximum number of windows in a group; below 2 if the cloud takes no groups.
    most: usize,
    /// Messages to send alone before the next group.
    alone: usize,
}

/// Outcome of an attempt to send the oldest message in a group.
pub(super) enum Grouped {
    /// No group was sent: send the message alone.
    No,
    /// The cloud has the message and the rest of its group.
    Stored,
    /// The cloud does not take the group now.
    NotYet(Later),
}

impl Grouping {
    pub(super) fn new() -> Self {
        Self { most: MOST_GROUPED, alone: 0 }
    }

    /// Notes that a message was sent alone; `done` if it has left the spool.
    pub(super) fn sent_alone(&mut self, done: bool) {
        self.alone = self.alone.saturating_sub(done.into());
    }

    /// Returns the maximum number of windows of the next group; 0 if the next message travels alone.
    fn most(&self) -> usize {
        if self.alone > 0 { 0 } else { self.most }
    }
}

impl Sending {
    /// Sends a window together with the windows after it in its stream, if at least two wait.
    pub(super) fn send_group(
        &self,
        grouping: &mut Grouping,
        oldest: &Entry,
        first: &Envelope,
        stop: &Stop,
    ) -> Result<Grouped, SpoolError> {
        let most = grouping.most();
        let Some((stream, _)) = first.window().filter(|_| most >= LEAST_GROUP) else {
            return Ok(Grouped::No);
        };
        let mut entries = self.spool.oldest_of(&oldest.stream, most, MOST_BYTES, stop);
        let windows = self.windows(&entries, first);
        if windows.len() < 2 || entries.first() != Some(oldest) {
            return Ok(Grouped::No);
        }
        entries.truncate(windows.len());
        let (count, begin) = (windows.len(), Instant::now());
        let group = WindowGroup::sign(windows, |message| self.identity.sign(message));
        let Ok(Message { key, bytes, digests }) = group.map(|group| Message::of(&group)) else {
            grouping.alone = count;
            return Ok(Grouped::No);
        };
        match self.cloud.upload_group(&key, &bytes, &digests) {
            GroupAnswer::Stored(receipts) => {
                let checked = entries.iter().zip(&receipts);
                let checked: Result<Vec<_>, _> =
                    checked.map(|(entry, receipt)| self.check(entry, receipt)).collect();
                let signers = match checked {
                    Ok(signers) => signers,
                    Err(later) => return Ok(Grouped::NotYet(later)),
                };
                if let Some(((entry, receipt), signer)) =
                    entries.iter().zip(&receipts).zip(signers).next_back()
                {
                    self.took(entry, receipt, signer);
                }
                // Each window gets its share of the bytes and of the time; the first also gets the remainder.
                let (each, time) = ((bytes.len() / count) as u64, begin.elapsed() / count as u32);
                let rest = (bytes.len() % count) as u64;
                for (at, (entry, receipt)) in entries.iter().zip(receipts).enumerate() {
                    let share = each + if at == 0 { rest } else { 0 };
                    self.journal.delivered(entry, receipt.id, share, time);
                }
                self.spool.delivered_group(&entries, stream, &bytes)?;
                if count == grouping.most {
                    grouping.most = (count + 1).min(MOST_GROUPED);
                }
                return Ok(Grouped::Stored);
            }
            GroupAnswer::Unknown => {
                tracing::info!("this cloud takes no groups: windows are sent one by one");
                grouping.most = 0;
            }
            GroupAnswer::TooLarge => grouping.most = count / 2,
            GroupAnswer::Refused(reason) => {
                let stream = &oldest.stream;
                // Debug format escapes control characters in the cloud's text.
                tracing::warn!(
                    stream,
                    windows = count,
                    ?reason,
                    "a group is refused: its windows are sent one by one"
                );
            }
            GroupAnswer::Later(later) => {
                // A slow link may carry only fewer windows before the timeout.
                grouping.most = (count / 2).max(LEAST_GROUP);
                grouping.alone = count;
                return Ok(Grouped::NotYet(later));
            }
        }
        grouping.alone = count;
        Ok(Grouped::No)
    }

    /// Returns the windows of the leading entries that are readable, have the stream and the key of the first, and can
    /// follow in a group.
    fn windows(&self, entries: &[Entry], first: &Envelope) -> Vec<Envelope> {
        let stream = |window: &Envelope| window.window().map(|(stream, _)| stream.id());
        let read = entries.iter().map_while(|entry| Some(self.spool.read(entry).ok()?.1));
        let fits = |(at, window): &(usize, Envelope)| {
            stream(window) == stream(first) && (*at == 0 || !window.begins_group())
        };
        read.enumerate().take_while(fits).map(|(_, window)| window).collect()
    }
}

/// A group ready to send.
pub(super) struct Message {
    pub(super) key: String,
    pub(super) bytes: Vec<u8>,
    /// Digests of the windows, for comparison with the receipts.
    pub(super) digests: Vec<[u8; 32]>,
}

impl Message {
    pub(super) fn of(group: &WindowGroup) -> Self {
        let digests = group.windows().iter().filter_map(Envelope::window_digest).collect();
        Self { key: group.upload_key(), bytes: group.write(), digests }
    }
}
