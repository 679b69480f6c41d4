//! The explanation of a question: the windows that it would use, the sums that would come down, the facts that each party
//! would learn.

use sotto_pack::Period;
use std::collections::BTreeSet;

use serde::Serialize;

use super::answer::VERSION;
use crate::question::Earlier;

/// How a question would be answered. Only the list of windows was fetched for it. Its JSON form is for programs: later
/// versions may add fields, but change none.
///
/// ```no_run
/// use sotto_owner::Plant;
///
/// let plant = Plant::open("plant".as_ref())?;
/// let explained = plant.explain(&plant.question("mean(temperature) by month")?)?;
/// assert!(explained.streams[0].sums >= 12, "one of each month, or more");
/// println!("at most {} bytes come down", explained.bytes_down);
/// # Ok::<(), sotto_owner::OwnerError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The version of the form: [`VERSION`].
    pub version: u32,
    /// The question's text.
    pub question: String,
    /// The time zone of all times.
    pub time_zone: String,
    /// Number of groups of the answer: each has a row for every result and, with `per device`, every device.
    pub groups: u64,
    /// The windows of each device and stream.
    pub streams: Vec<ExplainedStream>,
    /// Bytes that devices sent for these windows.
    pub bytes_up: u64,
    /// The most bytes of sums and readings that come down. Results of jobs come on top: `sotto plan` has their bytes.
    pub bytes_down: u64,
    /// The owner's work on each result.
    pub computed: Vec<ExplainedResult>,
    /// The facts that each party learns.
    pub learned: Learned,
}

/// The windows of a stream that a question would use, and the values that would come down of them.
///
/// Example: [`Explanation`]
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExplainedStream {
    /// The offset whose earlier groups they are of, such as `1w`. None: they are of the answer's own groups.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset: Option<String>,
    /// The device.
    pub device: String,
    /// The stream.
    pub stream: String,
    /// Number of windows.
    pub windows: u64,
    /// Their numbers in the stream as runs: the first of each, and how many follow each other.
    pub numbers: Vec<(u64, u32)>,
    /// The beginning of the first tick that counts, as RFC 3339.
    pub from: String,
    /// The end of the last one.
    pub to: String,
    /// The time between ticks: milliseconds, or a fraction of them as two numbers.
    pub period_ms: Period,
    /// Bytes that the device sent for them.
    pub bytes_up: u64,
    /// The scheme under which the cloud evaluates. None: it adds sums with tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scheme: Option<String>,
    /// Number of sums with tags.
    pub sums: u64,
    /// Those of one window: its values, not added to others.
    pub of_one_window: u64,
    /// Number of requests for them.
    pub requests: u64,
    /// The most bytes that they have.
    pub bytes_down: u64,
    /// True if the cloud counts some windows with other weights than 0 and 1, which it learns.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub weighted: bool,
    /// The values that come down.
    pub values: Vec<ExplainedValues>,
    /// True if the windows are left out, as they lack quantities that the question needs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub left_out: bool,
}

/// Values that come down.
///
/// Example: [`Explanation`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedValues {
    /// In words, such as `sums of squares by tick`; `readings` come window by window.
    pub what: String,
    /// The channels that they are of.
    pub channels: Vec<String>,
    /// Number of sums that hold them.
    pub sums: u64,
    /// Those of one window. Its sums by tick are its readings.
    pub of_one_window: u64,
    /// The calls that need them.
    pub calls: Vec<String>,
}

/// The owner's work on a result, after decryption.
///
/// Example: [`Explanation`]
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExplainedResult {
    /// The result's name.
    pub name: String,
    /// The sums that it is computed from.
    pub from: Vec<String>,
    /// The result's expression, if it is more than one call or has another unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expression: Option<String>,
}

/// The facts that each party learns of a question, one a line.
///
/// Example: [`Explanation`]
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Learned {
    /// The cloud.
    pub cloud: Vec<String>,
    /// The owner, beside the answer.
    pub owner: Vec<String>,
    /// A reader to whom the answer is given.
    pub reader: Vec<String>,
}

impl Explanation {
    /// Returns an explanation without windows.
    pub(super) fn new(question: String, time_zone: &str) -> Self {
        let (time_zone, learned) = (time_zone.to_owned(), Learned::default());
        let (streams, computed) = (Vec::new(), Vec::new());
        let (groups, bytes_up, bytes_down) = (0, 0, 0);
        Self {
            version: VERSION,
            question,
            time_zone,
            groups,
            streams,
            bytes_up,
            bytes_down,
            computed,
            learned,
        }
    }

    /// Returns the number of windows. Those of several offsets count once.
    #[must_use]
    pub fn windows(&self) -> u64 {
        self.used().len() as u64
    }

    /// Returns the streams whose windows count.
    pub(super) fn counted(&self) -> impl Iterator<Item = &ExplainedStream> {
        self.streams.iter().filter(|stream| !stream.left_out)
    }

    /// Returns device, stream and number of each window that counts.
    pub(super) fn used(&self) -> BTreeSet<(&str, &str, u64)> {
        let of = |stream: &'_ ExplainedStream| {
            let numbers = stream.numbers.clone().into_iter();
            numbers
                .flat_map(|(first, count)| (0..u64::from(count)).map(move |more| first.saturating_add(more)))
        };
        let mut used = BTreeSet::new();
        for stream in self.counted() {
            used.extend(of(stream).map(|number| (stream.device.as_str(), stream.stream.as_str(), number)));
        }
        used
    }
}

impl ExplainedStream {
    /// Returns the stream as one of earlier groups.
    pub(super) fn offset_by(mut self, offset: Earlier) -> Self {
        for call in self.values.iter_mut().flat_map(|values| &mut values.calls) {
            *call = format!("{call} offset {offset}");
        }
        Self { offset: Some(offset.to_string()), ..self }
    }
}
