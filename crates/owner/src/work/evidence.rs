//! The evidence of work: transcripts, and everything needed to repeat it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The evidence of an answer, stored in `answers/NAME.evidence`.
///
/// ```
/// use sotto_owner::{Evidence, WorkRecord};
/// # let folder = tempfile::tempdir()?;
/// # let here = sotto_owner::NewPlant { cloud: None, listen: "127.0.0.1:7410".parse()?, time_zone: None };
/// # let mut plant = sotto_owner::Plant::init(&folder.path().join("dairy"), &here)?;
/// # let answer: sotto_owner::Answer = serde_json::from_str(r#"{
/// #     "version": 1, "question": "mean(temperature)", "time_zone": "UTC", "notes": [],
/// #     "rows": [{
/// #         "from": "2014-01-31T00:00:00Z", "to": "2014-02-01T00:00:00Z", "device": "boiler",
/// #         "name": "mean(temperature)", "value": 71.25, "bound": 0.05, "unit": "°C", "count": 287, "missing": 1, "assurance": "authenticated"
/// #     }],
/// #     "bytes_up": 2048, "bytes_down": 512, "seconds": 0.2, "windows": 1, "jobs": 1, "evaluate_us": 150,
/// #     "steps": {}, "left_out": {}
/// # }"#)?;
/// # let mut answer = answer;
/// # let (transcript, inputs) = ("00".to_owned(), vec!["00".repeat(32)]);
///
/// // `answer` is an answer of this `plant`, `transcript` and `inputs` came from the cloud.
/// let job = WorkRecord { transcript, inputs, evaluate_us: 1200 };
/// answer.evidence = Evidence { work: vec![job], ..Evidence::default() };
/// let name = plant.keep(&answer)?.ok_or("longer than 16 MiB")?;
/// assert_eq!(plant.evidence(&name)?, answer.evidence);
/// # Ok::<(), Box<dyn core::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// All work that the cloud did for the answer.
    pub work: Vec<WorkRecord>,
    /// Number of windows in sums with tags, which were checked when they were opened.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub tagged: u64,
    /// The windows that the answer counts, by device and stream: runs of numbers, each as its first and their count.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub windows: BTreeMap<String, BTreeMap<String, Vec<(u64, u32)>>>,
    /// The roots of the logs as they were looked at, in hexadecimal, by device and stream.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub roots: BTreeMap<String, BTreeMap<String, String>>,
    /// Frames of the plans by digest, both in hexadecimal.
    #[serde(default)]
    pub plans: BTreeMap<String, String>,
}

/// The record of one job.
///
/// Example: [`Evidence`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkRecord {
    /// The transcript's frame, in hexadecimal.
    pub transcript: String,
    /// The windows of the work, in its order: their leaves in the logs, in hexadecimal.
    pub inputs: Vec<String>,
    /// The computing time in microseconds that the cloud reported.
    pub evaluate_us: u64,
}

/// Largest size of evidence: 1 GiB, in bytes. Each window of the work takes 67 bytes.
pub(crate) const LARGEST_EVIDENCE: u64 = 1 << 30;

fn is_zero(number: &u64) -> bool {
    *number == 0
}
