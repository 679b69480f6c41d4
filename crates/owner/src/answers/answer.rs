//! Answers: rows with values, bounds and units, and the cost in bytes and time.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sotto_pack::{Clock, LeftOut};

use super::assurance::{Assurance, unchecked};
use super::empty::Empty;
use super::rank::Rank;
use crate::question::{ExactScheme, Recurs};
use crate::work::{Evidence, Flooded};

/// The version of the JSON form.
pub const VERSION: u32 = 1;

/// An answer to a question. Its JSON form is for programs: later versions may add fields, but change none.
///
/// ```
/// use sotto_owner::Answer;
///
/// let json = r#"{
///     "version": 1, "question": "mean(temperature)", "time_zone": "Europe/Rome", "notes": [],
///     "rows": [{
///         "from": "2014-01-31T00:00:00+01:00", "to": "2014-02-01T00:00:00+01:00", "device": "boiler",
///         "name": "mean(temperature)", "value": 71.25, "bound": 0.05, "unit": "°C", "count": 287, "missing": 1, "assurance": "authenticated"
///     }],
///     "bytes_up": 2048, "bytes_down": 512, "seconds": 0.2, "windows": 1, "jobs": 1, "evaluate_us": 150,
///     "steps": {}, "left_out": {}
/// }"#;
/// let answer: Answer = serde_json::from_str(json)?;
/// assert_eq!((answer.rows[0].value, answer.rows[0].bound), (Some(71.25), Some(0.05)));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// The version of the form: [`VERSION`].
    pub version: u32,
    /// The question's text.
    pub question: String,
    /// The scheme that the question states for exact results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scheme: Option<ExactScheme>,
    /// One row for each group, device and result. In the JSON form `assurance` stands before them if it is that of all, else in
    /// each.
    #[serde(flatten, with = "super::written")]
    pub rows: Vec<Row>,
    /// Bytes that devices sent for the windows used.
    pub bytes_up: u64,
    /// Bytes of ciphertexts downloaded from the cloud.
    pub bytes_down: u64,
    /// Seconds from the question to the answer.
    pub seconds: f64,
    /// Number of windows used.
    pub windows: u64,
    /// Number of jobs that the cloud ran.
    pub jobs: u64,
    /// Number of sums that were opened for earlier answers, and were not asked for again, or for their new windows alone.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached: u64,
    /// The cloud's computing time in microseconds.
    pub evaluate_us: u64,
    /// Number of runs of each operation in the cloud.
    pub steps: BTreeMap<String, u64>,
    /// The schemes of the ciphertexts used.
    #[serde(default)]
    pub schemes: BTreeSet<String>,
    /// Number of windows used, by device.
    #[serde(default)]
    pub took_part: BTreeMap<String, u64>,
    /// Number of windows left out as their own tags do not fit, a fault of their device, by device.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub faulty: BTreeMap<String, u64>,
    /// Devices whose sums are unchecked, as they encrypted two windows under one pad number: see the notes.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub unchecked: BTreeSet<String>,
    /// True if unchecked values stay in the answer wherever it goes, by the wish of the asker.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub holds_unchecked: bool,
    /// Bytes of messages that repeating the cloud's work fetches.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub repeat_bytes: u64,
    /// The flooding of reals at decryption; None if the question is not `shared` or has no reals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flooded: Option<Flooded>,
    /// Readings that devices left out of the windows used, by channel and reason.
    pub left_out: BTreeMap<String, LeftOut>,
    /// The number of windows in each log that were looked at, by device and stream: an answer as of this one looks at no
    /// others.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub logs: Logs,
    /// For each device and stream with windows in the answer the newest that the cloud shows: what came later is not in the
    /// answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub complete: Vec<Complete>,
    /// The reason why the answer has no value; None if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub empty: Option<Empty>,
    /// Remarks for the reader, e.g. on windows that were not used.
    pub notes: Vec<String>,
    /// The time zone of the rows.
    pub time_zone: String,
    /// Times of the owner's and the cloud's phases, in microseconds.
    #[serde(skip)]
    pub phases: BTreeMap<&'static str, Vec<f64>>,
    /// Number of jobs that were repeated when the question was asked.
    #[serde(skip)]
    pub repeated: Option<u64>,
    /// The transcripts of the cloud's work, with everything needed to repeat it.
    #[serde(skip)]
    pub evidence: Evidence,
}

/// The number of windows in the log of each stream, by device and stream.
///
/// Example: [`Answer`]
pub type Logs = BTreeMap<String, BTreeMap<String, u64>>;

/// The newest that the cloud shows of a stream.
///
/// Example: [`Answer`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Complete {
    /// The device.
    pub device: String,
    /// The stream.
    pub stream: String,
    /// The highest number of a window, from signed headers.
    pub number: u64,
    /// The time of the latest reading, as RFC 3339.
    pub until: String,
    /// True if numbers before it are missing: see the notes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gaps: bool,
}

/// One result for one group.
///
/// Example: [`Answer`]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Start of the group, as RFC 3339.
    pub from: String,
    /// End of the group.
    pub to: String,
    /// The device; None if the result is over several devices.
    pub device: Option<String>,
    /// The tag of a row of `per tag`, which is over all devices and channels with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<String>,
    /// The place of the device, if the question ranks devices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<Rank>,
    /// The result's name.
    pub name: String,
    /// The value; None if there is no reading, or the value cannot be determined.
    pub value: Option<f64>,
    /// The largest possible distance of the true value.
    pub bound: Option<f64>,
    /// The value's unit; empty if it has none.
    pub unit: String,
    /// Number of readings in the value.
    pub count: u64,
    /// Number of missing readings between the device's first and last window.
    pub missing: u64,
    /// How far the value is checked. The JSON form of an [`Answer`] tells it, that of a row alone does not.
    #[serde(default = "unchecked", skip_serializing)]
    pub assurance: Assurance,
    /// True if the value was held back, as it is unchecked.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub held_back: bool,
    /// The reason for a missing value, if there are readings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
    /// The ends of a histogram's bin, in the channel's unit, or of a spectrum's band, in cycles a day. A reading at an end belongs
    /// to the bin above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bin: Option<[f64; 2]>,
    /// True if the value lies on a straight line between readings.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub interpolated: bool,
    /// The recurring group, such as all Mondays; `from` and `to` are then those of all of them together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recurs: Option<Recurs>,
    /// The time of the reading that is the value, or the time that the value is, as RFC 3339.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// The same, in milliseconds since 1970.
    #[serde(skip)]
    pub at_ms: Option<i64>,
    /// Start of the group, in milliseconds since 1970.
    #[serde(skip)]
    pub from_ms: i64,
    /// End of the group, in milliseconds since 1970.
    #[serde(skip)]
    pub to_ms: i64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Row {
    /// Returns the device or the tag of the row; None if it is over several devices.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.device.as_deref().or(self.tag.as_deref())
    }

    /// Returns the row with the times of its group written by the plant's clock.
    pub(crate) fn dated(self, clock: &Clock) -> Self {
        let at = self.at_ms.map(|at| clock.rfc3339(at));
        Self { from: clock.rfc3339(self.from_ms), to: clock.rfc3339(self.to_ms), at, ..self }
    }
}
