//! Puts refused messages back into the queue.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use sotto_api::reason::{SEQUENCE_TAKEN, TICK_TAKEN};
use sotto_wire::{Envelope, WireError};

use super::contents::contents;
use super::entry::Entry;
use super::folder::{REFUSED, entries, problem_name, read};
use super::new_names::{Again, NewNames};
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
    /// The messages with new sequence numbers: stream, the number before, the new one; `None` for a message that was deleted.
    pub moved: Vec<(String, u64, Option<u64>)>,
    /// Messages that were deleted, because windows in the cloud have all of their ticks.
    pub superfluous: usize,
    /// Messages of which windows in the cloud have some ticks, but not all: they stay in the folder of refused ones.
    pub divided: usize,
}

impl PutBack {
    /// Notes the number under which a message waits now.
    fn note(&mut self, entry: &Entry, now: u64, names: &mut NewNames) {
        if now != entry.sequence {
            names.add(entry.sequence, Some(now));
            self.renumbered += 1;
            self.moved.push((entry.stream.clone(), entry.sequence, Some(now)));
        }
    }
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
    /// number, `sign` signs the envelope again under the stream's next number and returns it in the spool's format; so it
    /// does for the messages that come in its place, which name the new number then.
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
        sign: impl Fn(Envelope, u64, &NewNames) -> Result<Vec<u8>, WireError>,
    ) -> Result<PutBack, SpoolError> {
        let refused = self.folder.join(REFUSED);
        let mut aside = entries(&refused)?;
        aside.sort();
        let (mut done, mut names) = (PutBack::default(), BTreeMap::<String, NewNames>::new());
        // Deleted last: a crash before leaves messages twice, of which the cloud refuses one, and none that names a number
        // of which nothing is known any more.
        let mut obsolete = Vec::new();
        for entry in aside {
            let (from, problem) = (refused.join(entry.file_name()), refused.join(problem_name(&entry)));
            let Ok((message, envelope)) = read(&refused, &entry) else {
                done.damaged += 1;
                continue;
            };
            let why = reason(&refused, &entry);
            let [number, tick] = [SEQUENCE_TAKEN, TICK_TAKEN].map(|reason| why.as_deref() == Some(reason));
            let contents = contents(&refused, &entry, cuts).unwrap_or_default();
            let cloud = in_cloud.get(&entry.stream);
            let held = cloud.map_or(Held::None, |cloud| cloud.held(&contents.sent));
            let names = names.entry(entry.stream.clone()).or_default();
            match held {
                Held::All if number || tick => {
                    obsolete.extend([from, problem]);
                    if number {
                        names.add(entry.sequence, None);
                        done.moved.push((entry.stream, entry.sequence, None));
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
            if number || names.change(&contents.names) {
                let is_known = number && cloud.is_some();
                let again = Again { entry: &entry, envelope, contents, is_taken: number, is_known };
                let now = self.put_again(again, names, &sign)?;
                done.note(&entry, now, names);
                obsolete.extend([from, problem]);
            } else {
                if tick {
                    let contents = Contents { sent: contents.sent, ..Contents::default() };
                    // Ticks of messages put aside for a tick do not count as sent.
                    self.record(&entry, &contents)?;
                }
                let to = self.path(&entry);
                fs::rename(&from, &to)
                    .and_then(|()| durable::sync_folder_of(&to))
                    .and_then(|()| durable::sync_folder_of(&from))
                    .map_err(SpoolError::io(&to))?;
                self.show(entry);
                durable::remove_if_there(&problem).map_err(SpoolError::io(&problem))?;
            }
            done.messages += 1;
            done.bytes += message.len() as u64;
        }
        for (stream, names) in &mut names {
            for (entry, envelope, contents) in self.waiting_for(stream, cuts) {
                if !names.change(&contents.names) {
                    continue;
                }
                let again = Again { entry: &entry, envelope, contents, is_taken: false, is_known: false };
                let now = self.put_again(again, names, &sign)?;
                done.note(&entry, now, names);
                done.messages += 1;
                done.bytes += entry.bytes;
                obsolete.push(self.path(&entry));
                self.forget(&entry);
            }
        }
        obsolete.iter().try_for_each(|path| durable::remove_if_there(path).map_err(SpoolError::io(path)))?;
        Ok(done)
    }
}
