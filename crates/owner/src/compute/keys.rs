//! Evaluation keys: made when a plan first needs them, and sent to the cloud once.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use sotto_cloud_client::Cloud;
use sotto_keys::SecretKey;
use sotto_program::KeysNeeded;
use sotto_ring::secure_rng;
use sotto_runtime::Managed;
use sotto_wire::Digest;

use crate::error::{OwnerError, io};
use crate::plant::{Plant, read_json, write_whole};

/// The folder of evaluation keys that were sent.
const FOLDER: &str = "evaluation-keys";

/// Which evaluation keys the cloud was sent, remembered in a file of the plant. A wrong entry costs one more upload, when the cloud
/// says that a key is missing.
pub(crate) struct EvaluationKeyStore {
    path: PathBuf,
    sent: Sent,
}

#[derive(Debug, Default, Serialize, Deserialize)]
struct Sent {
    /// The cloud that has them.
    url: String,
    /// By parameters and key.
    keys: BTreeMap<String, KeysNeeded>,
    /// Digests of the frames that were sent, in hexadecimal, by the same; the latest last.
    #[serde(default)]
    digests: BTreeMap<String, Vec<String>>,
}

impl EvaluationKeyStore {
    pub(crate) fn open(path: PathBuf, url: &str) -> Self {
        // A file that cannot be read costs an upload, nothing else.
        let sent = read_json::<Sent>(&path).ok().filter(|sent| sent.url == url);
        let sent = sent.unwrap_or_else(|| Sent { url: url.to_owned(), ..Sent::default() });
        Self { path, sent }
    }

    /// Sends the keys that a plan needs, and those that were sent before with them, unless the cloud has them. `again`: it says that it
    /// has not. Gives the time that making them took; none if the cloud has them.
    pub(crate) fn ensure<S: Managed>(
        &mut self,
        (plant, cloud): (&Plant, &Cloud),
        key: &SecretKey<S>,
        needed: &KeysNeeded,
        again: bool,
    ) -> Result<Option<Duration>, OwnerError> {
        let name = format!("{}/{}", key.params().id(), key.id());
        let known = self.sent.keys.get(&name).cloned().unwrap_or_default();
        let all = known.and(needed);
        // Keys that an older version sent have no digest here: without it no transcript is checked.
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
        // Before they are sent: whatever becomes of the answer, these keys are the owner's.
        plant.keep_evaluation_keys(&digest, &frame)?;
        cloud.put_keys(&frame)?;
        self.sent.digests.entry(name.clone()).or_default().push(hex::encode(digest));
        self.sent.keys.insert(name, all);
        let json = serde_json::to_vec_pretty(&self.sent).unwrap_or_default();
        write_whole(&self.path, &json)?;
        Ok(Some(time))
    }
}

impl Plant {
    fn evaluation_keys_path(&self, digest: &Digest) -> PathBuf {
        self.path(FOLDER).join(format!("{}.keys", hex::encode(digest)))
    }

    /// Keeps evaluation keys that are sent, so that work with them can be repeated. They are public.
    fn keep_evaluation_keys(&self, digest: &Digest, frame: &[u8]) -> Result<(), OwnerError> {
        crate::plant::make_folder(&self.path(FOLDER), true)?;
        write_whole(&self.evaluation_keys_path(digest), frame)
    }

    /// True if evaluation keys were made here: another command of the owner's may have sent them since.
    pub(crate) fn has_evaluation_keys(&self, digest: &Digest) -> bool {
        self.evaluation_keys_path(digest).exists()
    }

    /// Evaluation keys that were sent, by the digest of their frame; none if they are not kept here.
    pub(crate) fn sent_evaluation_keys(&self, digest: &Digest) -> Result<Option<Vec<u8>>, OwnerError> {
        let path = self.evaluation_keys_path(digest);
        if path.exists() { std::fs::read(&path).map(Some).map_err(io(&path)) } else { Ok(None) }
    }
}
