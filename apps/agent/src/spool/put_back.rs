//! Puts refused messages back into the queue.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use sotto_api::reason::{SEQUENCE_TAKEN, TICK_TAKEN};
use sotto_wire::{Envelope, WireError};

use super::contents::contents;
use super::entry::Entry;
use super::folder::{REFUSED, entries, problem_name, read};
use super::refusals::reason;
use super::sent::Held;
use super::{Contents, Cuts, Sent, Spool, SpoolError, durable};

/// Counts of messages put back into the queue.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PutBack {
    /// Number of all of them.
    pub messages: usize,
    /// Messages among them with a new sequence number, because theirs was taken.
    pub renumbered: usize,
    /// Bytes to send for them.
    pub bytes: u64,
    /// Damaged messages: they stay in the folder of refused ones.
    pub damaged: usize,
    /// The messages with new sequence numbers: stream, the number before, the new one.
    pub moved: Vec<(String, u64, u64)>,
    /// Messages that were deleted, because windows in the cloud have all of their ticks.
    pub superfluous: usize,
    /// Messages of which windows in the cloud have some ticks, but not all: they stay in the folder of refused ones.
    pub divided: usize,
}

impl Spool {
    /// Returns the streams of messages that were put aside because of another window in the cloud.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if the folder cannot be read.
    pub fn disputed_streams(&self) -> Result<BTreeSet<String>, SpoolError> {
        let refused = self.folder.join(REFUSED);
        let is_disputed = |entry: &Entry| {
            reason(&refused, entry).is_some_and(|reason| [SEQUENCE_TAKEN, TICK_TAKEN].contains(&&*reason))
        };
        let entries = entries(&refused)?.into_iter().filter(is_disputed);
        Ok(entries.map(|entry| entry.stream).collect())
    }

    /// Puts the refused messages back into the queue, the oldest first. If the cloud has another message with the same
    /// number, `renumber` signs the envelope again under the stream's next number and returns it in the spool's format.
    ///
    /// `in_cloud` has the ticks of the cloud's windows, by stream. A message that was refused for another window is deleted
    /// if they have all of its ticks, and stays aside if they have some.
    ///
    /// # Errors
    /// [`SpoolError`] if a file cannot be moved or written.
    pub fn put_back(
        &self,
        in_cloud: &BTreeMap<String, Sent>,
        cuts: &Cuts,
        renumber: impl Fn(Envelope, u64) -> Result<Vec<u8>, WireError>,
    ) -> Result<PutBack, SpoolError> {
        let refused = self.folder.join(REFUSED);
        let mut aside = entries(&refused)?;
        aside.sort();
        let mut done = PutBack::default();
        for entry in aside {
            let (from, problem) = (refused.join(entry.file_name()), refused.join(problem_name(&entry)));
            let Ok((message, envelope)) = read(&refused, &entry) else {
                done.damaged += 1;
                continue;
            };
            let why = reason(&refused, &entry);
            let [number, tick] = [SEQUENCE_TAKEN, TICK_TAKEN].map(|reason| why.as_deref() == Some(reason));
            // The readings were counted when the message first entered the spool.
            let sent = contents(&refused, &entry, cuts).map(|contents| contents.sent).unwrap_or_default();
            let held = in_cloud.get(&entry.stream).map_or(Held::None, |cloud| cloud.held(&sent));
            match held {
                Held::All if number || tick => {
                    for path in [&from, &problem] {
                        durable::remove_if_there(path).map_err(SpoolError::io(path))?;
                    }
                    done.superfluous += 1;
                    continue;
                }
                Held::Some if number || tick => {
                    done.divided += 1;
                    continue;
                }
                _ => {}
            }
            let contents = Contents { sent, ..Contents::default() };
            if number {
                let (stream, sequence) = (entry.stream.clone(), self.next_sequence(&entry.stream)?);
                let bytes = renumber(envelope, sequence)
                    .map_err(|reason| SpoolError::Damaged { path: from.clone(), reason })?;
                let contents = Contents { moved: Some(entry.sequence), ..contents };
                self.put(&stream, sequence, &bytes, &contents)?;
                durable::remove_if_there(&from).map_err(SpoolError::io(&from))?;
                done.renumbered += 1;
                done.moved.push((stream, entry.sequence, sequence));
            } else {
                if tick {
                    // Ticks of messages put aside for a tick do not count as sent.
                    self.record(&entry, &contents)?;
                }
                let to = self.path(&entry);
                fs::rename(&from, &to)
                    .and_then(|()| durable::sync_folder_of(&to))
                    .and_then(|()| durable::sync_folder_of(&from))
                    .map_err(SpoolError::io(&to))?;
                self.show(entry);
            }
            durable::remove_if_there(&problem).map_err(SpoolError::io(&problem))?;
            done.messages += 1;
            done.bytes += message.len() as u64;
        }
        Ok(done)
    }
}
