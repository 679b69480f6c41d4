//! Sums that were opened and whose tags fitted, so that a question asked again asks the cloud for its new windows only.
//!
//! `cache/DEVICE.d/STREAM.sums` has those of one stream, sealed under the device's secret, which the plant's key seals. A
//! sum is found by its windows alone: their numbers, pads, times and weights, the stream's header and the part. Values that do not
//! add are kept likewise, window after window, of one channel of a part.
//! A window that was replaced, amended or deleted has another number or pads, or is none, so that no earlier sum answers
//! for it. Files that are damaged, foreign or of another version hold nothing. Nothing in the cache is needed: every error here is a miss.

mod file;
mod folder;
mod name;
mod orders;
mod record;
mod stream;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use sotto_keys::DeviceSecret;
use sotto_wire::StreamHeader;

use crate::declared::Plant;
pub use folder::CachedSums;
pub(crate) use folder::{cached_sums, clear, forget};
pub(crate) use orders::{has_any, is_marked, mark};
pub(crate) use stream::{StreamCache, Sum};

/// The folder of the cache.
const FOLDER: &str = "cache";

/// Largest size of the folder, in bytes.
const MOST_BYTES: u64 = 64_000_000;

/// The cache of a plant while it answers a question. The streams that were used stay open.
pub(crate) struct Cache {
    folder: PathBuf,
    most: u64,
    streams: HashMap<[u8; 32], StreamCache>,
}

impl Cache {
    pub(crate) fn of(plant: &Plant) -> Self {
        Self::at(plant.path(FOLDER), MOST_BYTES)
    }

    pub(crate) fn at(folder: PathBuf, most: u64) -> Self {
        Self { folder, most, streams: HashMap::new() }
    }

    /// Takes the sums of a stream out, which are read if it is used for the first time.
    pub(crate) fn take(&mut self, device: &str, stream: &StreamHeader, secret: &DeviceSecret) -> StreamCache {
        let id = stream.id().0;
        let of_stream = self.streams.remove(&id);
        of_stream.unwrap_or_else(|| StreamCache::read(&path(&self.folder, device, &id), id, secret))
    }

    /// Puts them back, after their new sums were written.
    pub(crate) fn put_back(&mut self, mut of_stream: StreamCache, secret: &DeviceSecret) {
        if let Err(error) = of_stream.write(&self.folder, secret, self.most) {
            tracing::debug!(%error, "the cache was not written");
        }
        self.streams.insert(of_stream.stream(), of_stream);
    }
}

/// Returns the folder of a device's files.
fn device_folder(folder: &Path, device: &str) -> PathBuf {
    folder.join(format!("{device}.d"))
}

fn path(folder: &Path, device: &str, stream: &[u8; 32]) -> PathBuf {
    device_folder(folder, device).join(format!("{}.{}", hex::encode(&stream[..16]), file::ENDING))
}

#[cfg(test)]
pub(crate) mod tests;
