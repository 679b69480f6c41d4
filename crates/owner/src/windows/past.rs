//! Logs as they were when an earlier answer was given.

use sotto_wire::Digest;

use super::entry::{StreamLog, tree_of};
use crate::error::OwnerError;

/// The log of a stream when an answer was given.
#[derive(Clone, Debug, Default)]
pub(crate) struct LogThen {
    /// Number of its windows.
    pub(crate) windows: u64,
    /// Its root in hexadecimal; None in answers that earlier versions kept.
    pub(crate) root: Option<String>,
}

impl LogThen {
    /// Cuts a log to its windows of then, and returns their root. A log that was accepted anew may have others.
    pub(super) fn cut(&self, device: &str, stream: &str, log: &mut StreamLog) -> Result<Digest, OwnerError> {
        let there = log.entries.len() as u64;
        log.entries.truncate(usize::try_from(self.windows).unwrap_or(usize::MAX));
        let root = tree_of(&log.entries).root();
        if there < self.windows || self.root.as_ref().is_some_and(|then| *then != hex::encode(root)) {
            return Err(OwnerError::Unanswerable(format!(
                "the first {} windows in the log of stream {stream} of {device} are not those that the answer was given on: the \
                 log was accepted anew since (`sotto cloud accept`), and has other windows there. Ask without --as-of",
                self.windows
            )));
        }
        Ok(root)
    }
}
