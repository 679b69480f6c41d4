//! The last receipt that the device took for each stream: the next window that is signed while nothing waits names it, so that
//! the owner can compare the cloud's log with what the device was told.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde_json::{Value, json};
use sotto_wire::TakenReceipt;

use crate::pinned::CloudKey;

const FILE: &str = "receipts.json";

/// Largest file that is read, in bytes.
const LARGEST: u64 = 64 << 10;

/// The last receipt of each stream, with the pinned key that signed it.
#[derive(Debug)]
pub struct LastReceipts {
    file: PathBuf,
    last: Mutex<BTreeMap<String, (CloudKey, TakenReceipt)>>,
}

impl LastReceipts {
    /// Reads the receipts in a spool's folder. A file that is missing or damaged has none: the next receipt replaces it.
    #[must_use]
    pub fn open(spool: &Path) -> Self {
        let file = spool.join(FILE);
        let is_short = std::fs::metadata(&file).is_ok_and(|metadata| metadata.len() <= LARGEST);
        let bytes = if is_short { std::fs::read(&file).unwrap_or_default() } else { Vec::new() };
        let read: BTreeMap<String, Value> = serde_json::from_slice(&bytes).unwrap_or_default();
        let last = read.into_iter().filter_map(|(stream, receipt)| Some((stream, parse(&receipt)?)));
        Self { last: Mutex::new(last.collect()), file }
    }

    /// Notes a receipt that this key signed. Not synchronised with the disk: one that is lost is named by no window, no more.
    pub fn note(&self, stream: &str, cloud: CloudKey, receipt: TakenReceipt) {
        let mut last = self.lock();
        last.insert(stream.to_owned(), (cloud, receipt));
        let written = |(stream, (cloud, TakenReceipt { sequence, position })): (&String, &(CloudKey, _))| {
            let receipt = json!({ "cloud": cloud.to_string(), "sequence": sequence, "position": position });
            (stream.clone(), receipt)
        };
        let text = Value::Object(last.iter().map(written).collect()).to_string();
        let beside = self.file.with_extension("partial");
        let done = std::fs::write(&beside, text).and_then(|()| std::fs::rename(&beside, &self.file));
        if let Err(error) = done {
            tracing::debug!(%error, "the last receipt is not noted");
        }
    }

    /// Returns the last receipt of a stream, if this key signed it. One of another cloud says nothing about this one's log.
    #[must_use]
    pub fn last(&self, stream: &str, cloud: CloudKey) -> Option<TakenReceipt> {
        self.lock().get(stream).filter(|(key, _)| *key == cloud).map(|(_, receipt)| *receipt)
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, (CloudKey, TakenReceipt)>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns None for one without a key, as an earlier version wrote it.
fn parse(receipt: &Value) -> Option<(CloudKey, TakenReceipt)> {
    let number = |name: &str| receipt.get(name)?.as_u64();
    let cloud = receipt.get("cloud")?.as_str()?.parse().ok()?;
    Some((cloud, TakenReceipt { sequence: number("sequence")?, position: number("position")? }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cloud(digit: &str) -> CloudKey {
        digit.repeat(64).parse().unwrap()
    }

    #[test]
    fn the_last_receipt_of_each_stream_outlasts_a_run() {
        let (folder, cloud) = (tempfile::tempdir().unwrap(), cloud("a"));
        let receipt = |sequence, position| TakenReceipt { sequence, position };
        let taken = LastReceipts::open(folder.path());
        assert_eq!(taken.last("load", cloud), None);
        taken.note("load", cloud, receipt(3, 5));
        taken.note("heat", cloud, receipt(0, 0));
        taken.note("load", cloud, receipt(4, 6));
        let again = LastReceipts::open(folder.path());
        assert_eq!(again.last("load", cloud), Some(receipt(4, 6)));
        assert_eq!(again.last("heat", cloud), Some(receipt(0, 0)));
        std::fs::write(folder.path().join(FILE), b"{").unwrap();
        assert_eq!(LastReceipts::open(folder.path()).last("load", cloud), None);
    }

    #[test]
    fn a_receipt_counts_under_the_key_of_its_cloud_alone() {
        let folder = tempfile::tempdir().unwrap();
        let receipt = TakenReceipt { sequence: 4, position: 6 };
        LastReceipts::open(folder.path()).note("load", cloud("a"), receipt);
        // The plant has moved to another cloud, whose log begins anew.
        let moved = LastReceipts::open(folder.path());
        assert_eq!(moved.last("load", cloud("b")), None);
        assert_eq!(moved.last("load", cloud("a")), Some(receipt));
        // A file of an earlier version names no cloud.
        std::fs::write(folder.path().join(FILE), r#"{"load":{"sequence":4,"position":6}}"#).unwrap();
        assert_eq!(LastReceipts::open(folder.path()).last("load", cloud("a")), None);
    }
}
