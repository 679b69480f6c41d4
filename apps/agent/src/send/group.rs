//! Windows of one stream that wait together, sent under one signature. The windows of a group that the cloud does not take are sent
//! one by one; the next groups are shorter, and grow again with each one that the cloud takes.

use std::time::Instant;

use sotto_wire::{Envelope, MOST_GROUPED, WindowGroup, WireError};

use super::Sending;
use crate::spool::{Entry, SpoolError};
use crate::upload::{GroupAnswer, Later};

/// Most bytes of files that become one group: of longer windows the signature is a small part, and a failed attempt costs all of it.
const MOST_BYTES: u64 = 64 << 10;

/// Windows of the shortest group.
const LEAST_GROUP: usize = 2;

/// Groups that may be tried, as the answers of this run say.
#[derive(Debug)]
pub(super) struct Grouping {
    /// Most windows of a group; fewer than 2 if the cloud takes none.
    most: usize,
    /// Messages that go alone before the next group is tried.
    alone: usize,
}

/// Outcome of an attempt to send the oldest message in a group.
pub(super) enum Grouped {
    /// It goes alone.
    No,
    /// The cloud has it, and those that went with it.
    Stored,
    /// Not now.
    NotYet(Later),
}

impl Grouping {
    pub(super) fn new() -> Self {
        Self { most: MOST_GROUPED, alone: 0 }
    }

    /// A message was sent alone; `done` if it has left the spool.
    pub(super) fn sent_alone(&mut self, done: bool) {
        self.alone = self.alone.saturating_sub(done.into());
    }

    /// Most windows of the next group; 0 if the next message goes alone.
    fn most(&self) -> usize {
        if self.alone > 0 { 0 } else { self.most }
    }
}

impl Sending {
    /// Sends a window with those after it of its stream, if at least two wait.
    pub(super) fn send_group(
        &self,
        grouping: &mut Grouping,
        oldest: &Entry,
        first: &Envelope,
    ) -> Result<Grouped, SpoolError> {
        let most = grouping.most();
        if most < LEAST_GROUP || first.window().is_none() {
            return Ok(Grouped::No);
        }
        let mut entries = self.spool.oldest_of(&oldest.stream, most, MOST_BYTES);
        let windows = self.windows(&entries, first);
        if windows.len() < 2 || entries.first() != Some(oldest) {
            return Ok(Grouped::No);
        }
        entries.truncate(windows.len());
        let (count, begin) = (windows.len(), Instant::now());
        let group = WindowGroup::sign(windows, |message| self.identity.sign(message));
        let Ok(Message { key, bytes, digests }) = group.and_then(|group| Message::of(&group)) else {
            grouping.alone = count;
            return Ok(Grouped::No);
        };
        match self.cloud.upload_group(&key, &bytes, &digests) {
            GroupAnswer::Stored(receipts) => {
                let checked = entries.iter().zip(&receipts);
                if let Some(later) =
                    checked.filter_map(|(entry, receipt)| self.check(entry, receipt).err()).next()
                {
                    return Ok(Grouped::NotYet(later));
                }
                // Each window's share of the bytes and of the time; the first has the rest.
                let (each, time) = ((bytes.len() / count) as u64, begin.elapsed() / count as u32);
                let rest = (bytes.len() % count) as u64;
                for (at, (entry, receipt)) in entries.iter().zip(receipts).enumerate() {
                    let bytes = each + if at == 0 { rest } else { 0 };
                    self.journal.delivered(entry, receipt.id, bytes, time);
                    self.spool.delivered(entry)?;
                }
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
                // Debug form: what the cloud says may hold control characters.
                tracing::warn!(
                    stream,
                    windows = count,
                    ?reason,
                    "a group is refused: its windows are sent one by one"
                );
            }
            GroupAnswer::Later(later) => {
                // In the time that an upload has, a slow link may carry fewer windows.
                grouping.most = (count / 2).max(LEAST_GROUP);
                grouping.alone = count;
                return Ok(Grouped::NotYet(later));
            }
        }
        grouping.alone = count;
        Ok(Grouped::No)
    }

    /// The windows of the first entries that can be read and are of the first one's stream and key.
    fn windows(&self, entries: &[Entry], first: &Envelope) -> Vec<Envelope> {
        let stream = |window: &Envelope| window.window().map(|(stream, _)| stream.id());
        let read = entries.iter().map_while(|entry| Some(self.spool.read(entry).ok()?.1));
        read.take_while(|window| stream(window) == stream(first)).collect()
    }
}

/// A group as it travels.
struct Message {
    key: String,
    bytes: Vec<u8>,
    /// Of its windows: the receipts name them.
    digests: Vec<[u8; 32]>,
}

impl Message {
    fn of(group: &WindowGroup) -> Result<Self, WireError> {
        let digests = group.windows().iter().filter_map(|window| window.window_digest().transpose());
        let digests = digests.collect::<Result<_, _>>()?;
        Ok(Self { key: group.upload_key(), bytes: group.write()?, digests })
    }
}
