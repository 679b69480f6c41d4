//! The windows that the cloud has given receipts for, as the spool's own record has them.

use std::collections::BTreeSet;

use super::folder::{REFUSED, entries};
use super::{Spool, SpoolError};

impl Spool {
    /// Returns the largest number of a stream's windows that neither wait nor were refused, and end after `forgotten`: the
    /// cloud gave a receipt for it. `None` if there is none.
    ///
    /// # Errors
    /// [`SpoolError::Io`] if messages cannot be listed.
    pub fn last_confirmed(&self, stream: &str, forgotten: Option<i64>) -> Result<Option<u64>, SpoolError> {
        let mut unconfirmed = BTreeSet::new();
        for folder in [self.folder.clone(), self.folder.join(REFUSED)] {
            let entries = entries(&folder)?.into_iter().filter(|entry| entry.stream == stream);
            unconfirmed.extend(entries.map(|entry| entry.sequence));
        }
        Ok(self.sent(stream).windows.last_except(&unconfirmed, forgotten))
    }

    /// Returns true if this spool has ever had a window: messages that were delivered count.
    #[must_use]
    pub fn has_had_windows(&self) -> bool {
        self.lock().sequences.has_counted_windows()
    }
}
