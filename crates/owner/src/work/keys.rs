//! Evaluation keys: generated when a plan first needs them, and uploaded once.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sotto_cloud_client::Cloud;
use sotto_keys::SecretKey;
use sotto_program::KeysNeeded;
use sotto_ring::secure_rng;
use sotto_runtime::Managed;
use sotto_wire::Digest;

use crate::declared::Plant;
use crate::error::{OwnerError, io};
use crate::files::{make_folder, read_json, write_whole};

/// The folder of uploaded evaluation keys.
const FOLDER: &str = "evaluation-keys";

/// The record of uploaded evaluation keys, in a file of the plant. A wrong entry costs one more upload, after the cloud
/// reports a missing key.
pub(crate) struct EvaluationKeyStore {
    path: PathBuf,
    sent: Sent,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Sent {
    /// The URL of the cloud that has the keys.
    url: String,
    /// The kinds of keys uploaded, by parameters and key.
    keys: BTreeMap<String, KeysNeeded>,
    /// Digests of the uploaded frames in hexadecimal, by parameters and key, the latest last.
    #[serde(default)]
    digests: BTreeMap<String, Vec<String>>,
}

impl Sent {
    /// Reads the record of a cloud's keys. One that cannot be read only costs an upload.
    fn read(path: &Path, url: &str) -> Self {
        let sent = read_json::<Self>(path).ok().filter(|sent| sent.url == url);
        sent.unwrap_or_else(|| Self { url: url.to_owned(), ..Self::default() })
    }
}

impl EvaluationKeyStore {
    pub(crate) fn open(path: PathBuf, url: &str) -> Self {
        Self { sent: Sent::read(&path, url), path }
    }

    /// Uploads the keys that a plan needs, together with those uploaded before, unless the cloud has them. Set `again`
    /// if the cloud reported a missing key. Returns the time of key generation; None if nothing was uploaded.
    pub(crate) fn ensure<S: Managed>(
        &mut self,
        plant: &Plant,
        cloud: &Cloud,
        key: &SecretKey<S>,
        needed: &KeysNeeded,
        again: bool,
    ) -> Result<Option<Duration>, OwnerError> {
        let name = format!("{}/{}", key.params().id(), key.id());
        let known = self.sent.keys.get(&name).cloned().unwrap_or_default();
        let all = known.and(needed);
        // Keys uploaded by an older version have no recorded digest, without which a transcript cannot be checked.
        let recorded = self.sent.digests.contains_key(&name);
        if needed.is_empty() || (all == known && recorded && !again) {
            return Ok(None);
        }
        let begin = Instant::now();
        let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
        let keys = key
            .evaluation_keys(all.relinearisation, &all.galois_steps(), &mut rng)
            .map_err(|error| OwnerError::NoParameters(error.to_string()))?;
        let time = begin.elapsed();
        let frame = sotto_wire::write_evaluation_keys(&keys);
        let digest =
            sotto_wire::frame_digest(&frame).map_err(|error| OwnerError::NoParameters(error.to_string()))?;
        // Stored before the upload: even if its answer is lost, the keys are known to be the owner's.
        keep_evaluation_keys(plant, &digest, &frame)?;
        cloud.put_keys(&frame)?;
        let _lock = plant.lock_folder()?;
        // Another process may have noted its uploads since.
        self.sent = Sent::read(&self.path, &self.sent.url);
        self.sent.digests.entry(name.clone()).or_default().push(hex::encode(digest));
        let noted = self.sent.keys.remove(&name).unwrap_or_default();
        self.sent.keys.insert(name, all.and(&noted));
        let json = serde_json::to_vec_pretty(&self.sent).unwrap_or_default();
        write_whole(&self.path, &json)?;
        Ok(Some(time))
    }
}

fn evaluation_keys_path(plant: &Plant, digest: &Digest) -> PathBuf {
    plant.path(FOLDER).join(format!("{}.keys", hex::encode(digest)))
}

/// Stores uploaded evaluation keys, which are public, so that work with them can be repeated.
fn keep_evaluation_keys(plant: &Plant, digest: &Digest, frame: &[u8]) -> Result<(), OwnerError> {
    make_folder(&plant.path(FOLDER), true)?;
    write_whole(&evaluation_keys_path(plant, digest), frame)
}

/// Returns true if these evaluation keys were generated in this plant. Another command may have uploaded them
/// since.
pub(crate) fn has_evaluation_keys(plant: &Plant, digest: &Digest) -> bool {
    evaluation_keys_path(plant, digest).exists()
}

/// Returns uploaded evaluation keys by the digest of their frame; None if they are not stored here.
pub(crate) fn sent_evaluation_keys(plant: &Plant, digest: &Digest) -> Result<Option<Vec<u8>>, OwnerError> {
    let path = evaluation_keys_path(plant, digest);
    if path.exists() { std::fs::read(&path).map(Some).map_err(io(&path)) } else { Ok(None) }
}
