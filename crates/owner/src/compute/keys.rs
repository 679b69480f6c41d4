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

use crate::error::OwnerError;
use crate::plant::{read_json, write_whole};

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
}

impl EvaluationKeyStore {
    pub(crate) fn open(path: PathBuf, url: &str) -> Self {
        // A file that cannot be read costs an upload, nothing else.
        let sent = read_json::<Sent>(&path).ok().filter(|sent| sent.url == url);
        let sent = sent.unwrap_or_else(|| Sent { url: url.to_owned(), keys: BTreeMap::new() });
        Self { path, sent }
    }

    /// Sends the keys that a plan needs, and those that were sent before with them, unless the cloud has them. `again`: it says that it
    /// has not. Gives the time that making them took; none if the cloud has them.
    pub(crate) fn ensure<S: Managed>(
        &mut self,
        cloud: &Cloud,
        key: &SecretKey<S>,
        needed: &KeysNeeded,
        again: bool,
    ) -> Result<Option<Duration>, OwnerError> {
        let name = format!("{}/{}", key.params().id(), key.id());
        let known = self.sent.keys.get(&name).cloned().unwrap_or_default();
        let all = known.and(needed);
        if needed.is_empty() || (all == known && !again) {
            return Ok(None);
        }
        let begin = Instant::now();
        let mut rng = secure_rng().map_err(|_| OwnerError::Randomness)?;
        let keys = key
            .evaluation_keys(all.relinearisation, &all.galois_steps(), &mut rng)
            .map_err(|error| OwnerError::NoParameters(error.to_string()))?;
        let time = begin.elapsed();
        cloud.put_keys(&sotto_wire::write_evaluation_keys(&keys))?;
        self.sent.keys.insert(name, all);
        let json = serde_json::to_vec_pretty(&self.sent).unwrap_or_default();
        write_whole(&self.path, &json)?;
        Ok(Some(time))
    }
}
