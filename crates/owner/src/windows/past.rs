//! Logs as they were when an earlier answer was given.

use sotto_wire::Digest;

use super::leaves::Leaves;
use super::mirror::StreamLog;
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
    /// Cuts a log to its windows of then, and returns their root. A log that was accepted anew may have others. `device` is shown.
    pub(super) fn cut(
        &self,
        device: &str,
        leaves: Leaves<'_>,
        log: &mut StreamLog,
    ) -> Result<Digest, OwnerError> {
        let there = log.len();
        let whole = log.clone();
        log.truncate(self.windows, |block| leaves.block(&whole, block))?;
        let root = log.tree().root();
        if there < self.windows || self.root.as_ref().is_some_and(|then| *then != hex::encode(root)) {
            return Err(OwnerError::Unanswerable(format!(
                "the first {} windows in the log of stream {} of {device} are not those that the answer was given on: the \
                 log was accepted anew since (`sotto cloud accept`), and has other windows there. Ask without --as-of",
                self.windows, leaves.name.stream
            )));
        }
        Ok(root)
    }
}
