//! The evidence of kept answers.

use std::collections::BTreeMap;

use super::answer::Logs;
use crate::declared::Plant;
use crate::error::OwnerError;
use crate::files::{read_json_within, write_private};
use crate::windows::LogThen;
use crate::work::{Evidence, LARGEST_EVIDENCE};

/// The logs as they were when an answer was given, by device and stream.
pub(crate) type LogsThen = BTreeMap<String, BTreeMap<String, LogThen>>;

/// Returns the logs as they were when a stored answer was given.
pub(crate) fn logs_then(plant: &Plant, name: &str, logs: &Logs) -> Result<LogsThen, OwnerError> {
    let roots = match evidence_path(plant, name).exists() {
        true => evidence(plant, name)?.roots,
        false => BTreeMap::new(),
    };
    let then = |device: &String, (stream, windows): (&String, &u64)| {
        let root = roots.get(device).and_then(|roots| roots.get(stream)).cloned();
        (stream.clone(), LogThen { windows: *windows, root })
    };
    let of_device = |(device, streams): (&String, &BTreeMap<String, u64>)| {
        (device.clone(), streams.iter().map(|stream| then(device, stream)).collect())
    };
    Ok(logs.iter().map(of_device).collect())
}

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
