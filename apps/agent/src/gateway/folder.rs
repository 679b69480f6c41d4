//! The folder of bundles, looked at again and again: a bundle may come, change or go while the gateway runs.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::mapping;

/// The folder of the gateway's own files beside the bundles.
const OWN: &str = "gateway";
const EXTENSION: &str = "bundle";

/// The state of a bundle and of the file beside it: times of change, and lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stamp {
    bundle: Option<(SystemTime, u64)>,
    mapping: Option<(SystemTime, u64)>,
}

/// Returns the bundles in a folder, by their path.
///
/// # Errors
/// The folder cannot be read.
pub(super) fn bundles(folder: &Path) -> io::Result<BTreeMap<PathBuf, Stamp>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == EXTENSION) {
            let stamp = Stamp { bundle: state(&path), mapping: state(&mapping::path_of(&path)) };
            // It may have gone meanwhile.
            if stamp.bundle.is_some() {
                found.insert(path, stamp);
            }
        }
    }
    Ok(found)
}

fn state(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Returns the folder of the gateway's own files.
pub(super) fn own_folder(devices: &Path) -> PathBuf {
    devices.join(OWN)
}
