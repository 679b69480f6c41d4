//! The evidence of kept answers.

use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::{read_json_within, write_private};
use crate::work::{Evidence, LARGEST_EVIDENCE};

fn evidence_path(plant: &Plant, answer: &str) -> std::path::PathBuf {
    plant.path("answers").join(format!("{answer}.evidence"))
}

pub(crate) fn keep_evidence(plant: &Plant, answer: &str, evidence: &Evidence) -> Result<(), OwnerError> {
    let json = serde_json::to_vec(evidence).map_err(|error| OwnerError::WrongAnswer(error.to_string()))?;
    write_private(&evidence_path(plant, answer), &json)
}

/// Returns the evidence of a stored answer.
pub(crate) fn evidence(plant: &Plant, answer: &str) -> Result<Evidence, OwnerError> {
    let path = evidence_path(plant, answer);
    if !path.exists() {
        return Err(OwnerError::Unanswerable(format!(
            "there is no evidence of answer {answer}: it was kept by an older version; ask again"
        )));
    }
    read_json_within(&path, LARGEST_EVIDENCE)
}
