//! Puts refused messages back into the queue.

use std::fs;

use sotto_api::reason::SEQUENCE_TAKEN;
use sotto_wire::Envelope;

use super::durable;
use super::folder::{REFUSED, entries, problem_name, read};
use super::refusals::reason;
use super::{Spool, SpoolError};

/// Counts of messages put back into the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PutBack {
    /// Number of all of them.
    pub messages: usize,
    /// Messages among them with a new sequence number, because theirs was taken.
    pub renumbered: usize,
    /// Bytes to send for them.
    pub bytes: u64,
    /// Damaged messages: they stay in the folder of refused ones.
    pub damaged: usize,
}

impl Spool {
    /// Puts the refused messages back into the queue, the oldest first. If the cloud has another message with the same
    /// number, `renumber` signs the envelope again under the stream's next number and returns it in the spool's format.
    ///
    /// # Errors
    /// [`SpoolError`] if a file cannot be moved or written.
    pub fn put_back(
        &self,
        renumber: impl Fn(Envelope, u64) -> Result<Vec<u8>, sotto_wire::WireError>,
    ) -> Result<PutBack, SpoolError> {
        let refused = self.folder.join(REFUSED);
        let mut aside = entries(&refused)?;
        aside.sort();
        let mut done = PutBack::default();
        for entry in aside {
            let from = refused.join(entry.file_name());
            let problem = refused.join(problem_name(&entry));
            let Ok((message, envelope)) = read(&refused, &entry) else {
                done.damaged += 1;
                continue;
            };
            if reason(&refused, &entry).as_deref() == Some(SEQUENCE_TAKEN) {
                let (stream, sequence) = (entry.stream.clone(), self.next_sequence(&entry.stream)?);
                let bytes = renumber(envelope, sequence)
                    .map_err(|reason| SpoolError::Damaged { path: from.clone(), reason })?;
                // The readings were counted when the message first entered the spool.
                self.put(&stream, sequence, &bytes, &super::Contents::default())?;
                durable::remove_if_there(&from).map_err(SpoolError::io(&from))?;
                done.renumbered += 1;
            } else {
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
