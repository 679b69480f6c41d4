//! The last receipt that the device took for each stream: the next window that is signed while nothing waits names it, so that
//! the owner can compare the cloud's log with what the device was told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use sotto_wire::TakenReceipt;

const FILE: &str = "receipts.json";

/// Largest file that is read, in bytes.
const LARGEST: u64 = 64 << 10;

/// The last receipt of each stream, under the pinned key of the cloud.
#[derive(Debug)]
pub struct LastReceipts {
    file: PathBuf,
    last: Mutex<BTreeMap<String, Last>>,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Last {
    sequence: u64,
    position: u64,
}

impl LastReceipts {
    /// Reads the receipts in a spool's folder. A file that is missing or damaged has none: the next receipt replaces it.
    #[must_use]
    pub fn open(spool: &Path) -> Self {
        let file = spool.join(FILE);
        let is_short = std::fs::metadata(&file).is_ok_and(|metadata| metadata.len() <= LARGEST);
        let bytes = if is_short { std::fs::read(&file).unwrap_or_default() } else { Vec::new() };
        Self { last: Mutex::new(serde_json::from_slice(&bytes).unwrap_or_default()), file }
    }

    /// Notes a receipt. Not synchronised with the disk: one that is lost is named by no window, no more.
    pub fn note(&self, stream: &str, sequence: u64, position: u64) {
        let mut last = self.lock();
        last.insert(stream.to_owned(), Last { sequence, position });
        let beside = self.file.with_extension("partial");
        let written = serde_json::to_vec(&*last)
            .map_err(std::io::Error::from)
            .and_then(|bytes| std::fs::write(&beside, bytes))
            .and_then(|()| std::fs::rename(&beside, &self.file));
        if let Err(error) = written {
            tracing::debug!(%error, "the last receipt is not noted");
        }
    }

    /// Returns the last receipt of a stream.
    #[must_use]
    pub fn last(&self, stream: &str) -> Option<TakenReceipt> {
        self.lock()
            .get(stream)
            .map(|Last { sequence, position }| TakenReceipt { sequence: *sequence, position: *position })
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, Last>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_receipt_of_each_stream_outlasts_a_run() {
        let folder = tempfile::tempdir().unwrap();
        let taken = LastReceipts::open(folder.path());
        assert_eq!(taken.last("load"), None);
        taken.note("load", 3, 5);
        taken.note("heat", 0, 0);
        taken.note("load", 4, 6);
        let again = LastReceipts::open(folder.path());
        assert_eq!(again.last("load"), Some(TakenReceipt { sequence: 4, position: 6 }));
        assert_eq!(again.last("heat"), Some(TakenReceipt { sequence: 0, position: 0 }));
        std::fs::write(folder.path().join(FILE), b"{").unwrap();
        assert_eq!(LastReceipts::open(folder.path()).last("load"), None);
    }
}
