//! Messages that were put aside, sent again.

use std::fs;

use sotto_wire::Envelope;

use super::durable;
use super::{REFUSED, Spool, SpoolError, entries, problem_name, read};

/// Messages that were taken back into the spool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Requeued {
    /// Messages.
    pub messages: usize,
    /// Of these, those that got another sequence number, as theirs was taken.
    pub renumbered: usize,
    /// Bytes that are sent for them.
    pub bytes: u64,
    /// Messages that cannot be read any more: they stay where they are.
    pub damaged: usize,
}

impl Spool {
    /// Takes the messages that were put aside back into the spool, the oldest first. `renumber` signs an envelope anew under the
    /// next number of its stream, where another message has its number in the cloud, and writes it as the spool keeps it.
    ///
    /// # Errors
    /// [`SpoolError`] when a file cannot be moved or written.
    pub fn requeue(
        &self,
        renumber: impl Fn(Envelope, u64) -> Result<Vec<u8>, sotto_wire::WireError>,
    ) -> Result<Requeued, SpoolError> {
        let refused = self.folder.join(REFUSED);
        let mut aside = entries(&refused)?;
        aside.sort();
        let mut done = Requeued::default();
        for entry in aside {
            let from = refused.join(entry.file_name());
            let problem = refused.join(problem_name(&entry));
            let Ok((message, envelope)) = read(&refused, &entry) else {
                done.damaged += 1;
                continue;
            };
            let reason = fs::read_to_string(&problem).unwrap_or_default();
            if reason.contains("sequence-taken") {
                let (stream, sequence) = (entry.stream.clone(), self.next_sequence(&entry.stream)?);
                let bytes = renumber(envelope, sequence)
                    .map_err(|reason| SpoolError::Damaged { path: from.clone(), reason })?;
                // Its readings were counted when it was first put into the spool.
                self.put(&stream, sequence, &bytes, None, &super::Totals::default())?;
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
