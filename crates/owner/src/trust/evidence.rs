//! The evidence of an answer: the transcripts of its work, and what is needed to repeat it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sotto_cloud_client::SumOf;

use crate::error::OwnerError;
use crate::plant::{Plant, read_json_within, write_private};

/// The work behind an answer. It stands in `answers/NAME.evidence`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// Everything that the cloud computed for the answer.
    pub work: Vec<WorkRecord>,
    /// Frames of the plans, by their digest: both in hexadecimal.
    #[serde(default)]
    pub plans: BTreeMap<String, String>,
}

/// One job or one request for sums.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkRecord {
    /// The frame of the transcript, in hexadecimal.
    pub transcript: String,
    /// Names of the envelopes in the cloud, in the order of the work.
    pub inputs: Vec<String>,
    /// The sums; none for a job.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sums: Option<Vec<SumOf>>,
    /// Microseconds that the cloud said it took.
    pub evaluate_us: u64,
}

/// Bytes of the longest evidence, 1 GiB: a name of 35 bytes for each window of the work.
pub(super) const LARGEST: u64 = 1 << 30;

impl Plant {
    fn evidence_path(&self, answer: &str) -> std::path::PathBuf {
        self.path("answers").join(format!("{answer}.evidence"))
    }

    pub(crate) fn keep_evidence(&self, answer: &str, evidence: &Evidence) -> Result<(), OwnerError> {
        let json =
            serde_json::to_vec(evidence).map_err(|error| OwnerError::WrongAnswer(error.to_string()))?;
        write_private(&self.evidence_path(answer), &json)
    }

    /// The evidence of an answer that was kept.
    ///
    /// # Errors
    /// There is none, or it is damaged.
    pub fn evidence(&self, answer: &str) -> Result<Evidence, OwnerError> {
        let path = self.evidence_path(answer);
        if !path.exists() {
            return Err(OwnerError::Unanswerable(format!(
                "there is no evidence of answer {answer}: it was kept by an older version; ask again"
            )));
        }
        read_json_within(&path, LARGEST)
    }
}
