//! The demo's JSON document.

use anyhow::Context;
use serde::Serialize;
use sotto_owner::{Answer, Row, StreamReport};

use super::clear::{self, ClearLog};
use super::device::{NAMES, Report};
use super::input::Input;
use super::processes::Process;
use super::question::Declared;
use crate::phases::{Phase, Phases};

/// The version of the document's form. Later programs may add fields; they change none.
const VERSION: u32 = 1;
/// The phases in the order of the table.
const PHASES: [&str; 8] =
    ["key generation", "encode", "encrypt", "upload", "evaluate", "download", "decrypt", "decode"];

/// Results, costs and times.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    version: u32,
    /// `sensors`, `csv` or `generator`.
    pub(super) source: &'static str,
    pub(super) readings: u64,
    pub(super) bytes_uploaded: u64,
    /// All uploaded bytes, unused slots included, divided by the readings.
    pub(super) bytes_per_reading: f64,
    pub(super) processes: Vec<Process>,
    pub(super) questions: Vec<Answered>,
    pub(super) phases: Vec<Phase>,
    /// The streams of each device, with their parameters.
    pub(super) streams: Vec<StreamReport>,
    /// Windows of both devices together.
    #[serde(skip)]
    pub(super) windows: usize,
}

/// Largest relative rounding of a value that is computed in the clear in f64.
const CLEAR_ROUNDING: f64 = 1e-12;

/// A question with all its rows; the numbers here are those of the row that comes closest to its bound.
#[derive(Debug, Serialize)]
pub(super) struct Answered {
    pub(super) name: &'static str,
    /// The question's text.
    pub(super) question: String,
    pub(super) scheme: String,
    /// The devices that the question is about.
    devices: Vec<&'static str>,
    channel: String,
    unit: String,
    decrypted: f64,
    clear: f64,
    error: f64,
    /// Includes quantisation, noise and publishing.
    bound: f64,
    /// The width of the interval of possible answers.
    range: f64,
    /// Number of rows.
    answers: usize,
    pub(super) within_bound: bool,
    pub(super) steps: Vec<StepCount>,
    pub(super) rows: Vec<Compared>,
}

/// A row of `sotto ask --json`, and its value in the clear.
#[derive(Debug, Serialize)]
pub(super) struct Compared {
    #[serde(flatten)]
    pub(super) row: Row,
    pub(super) clear: f64,
    /// True if the bound is wider than the spread of the readings: the answer adds nothing to knowing their range.
    pub(super) coarse: bool,
    #[serde(skip)]
    pub(super) decrypted: f64,
    #[serde(skip)]
    pub(super) limit: f64,
}

/// An operation, its count, and the place where it ran.
#[derive(Clone, Debug, Serialize)]
pub(super) struct StepCount {
    pub(super) op: String,
    pub(super) count: u64,
    #[serde(rename = "where")]
    pub(super) place: &'static str,
}

impl Compared {
    fn new(declared: &Declared, row: Row, logs: &[ClearLog; 2]) -> anyhow::Result<Self> {
        let why = || row.why.clone().unwrap_or_else(|| "there is no reading".to_owned());
        let none = || format!("question {}: no answer: {}", declared.name, why());
        let (decrypted, limit) = row.value.zip(row.bound).with_context(none)?;
        let of_row =
            |(name, _): &(&str, &ClearLog)| row.device.as_deref().is_none_or(|device| device == *name);
        let logs: Vec<&ClearLog> = NAMES.into_iter().zip(logs).filter(of_row).map(|(_, log)| log).collect();
        let clear = clear::value(&declared.formula, &logs)?;
        let spread = clear::spread(&declared.formula, &logs)?;
        let coarse = declared.formula.is_in_units_of_readings() && spread > 0.0 && limit > spread;
        Ok(Self { row, clear, coarse, decrypted, limit })
    }

    fn error(&self) -> f64 {
        (self.decrypted - self.clear).abs()
    }

    fn is_within_bound(&self) -> bool {
        // The value in the clear is rounded in each step of its own computation.
        self.error() <= self.limit + CLEAR_ROUNDING * self.clear.abs()
    }
}

impl Answered {
    pub(super) fn new(
        declared: &Declared,
        answer: &Answer,
        input: &Input,
        logs: &[ClearLog; 2],
    ) -> anyhow::Result<Self> {
        let rows = answer.rows.iter().map(|row| Compared::new(declared, row.clone(), logs));
        let rows = rows.collect::<anyhow::Result<Vec<_>>>()?;
        let used = |row: &&Compared| row.error() / row.limit.max(f64::MIN_POSITIVE);
        let worst = rows.iter().max_by(|a, b| used(a).total_cmp(&used(b)));
        let worst = worst.with_context(|| format!("question {}: no answer", declared.name))?;
        Ok(Self {
            name: declared.name,
            question: declared.text.clone(),
            scheme: answer.schemes.iter().cloned().collect::<Vec<_>>().join("+"),
            devices: NAMES.to_vec(),
            channel: declared.formula.channel().to_owned(),
            unit: worst.row.unit.clone(),
            decrypted: worst.decrypted,
            clear: worst.clear,
            error: worst.error(),
            bound: worst.limit,
            range: declared.formula.range(input),
            answers: rows.len(),
            within_bound: rows.iter().all(Compared::is_within_bound),
            steps: steps(declared, answer),
            rows,
        })
    }
}

fn steps(declared: &Declared, answer: &Answer) -> Vec<StepCount> {
    let step = |op: &str, count: u64, place| StepCount { op: op.to_owned(), count, place };
    let mut steps: Vec<StepCount> =
        ["pack", "encode", "encrypt"].iter().map(|op| step(op, answer.windows, "device")).collect();
    steps.extend(answer.steps.iter().map(|(op, count)| step(op, *count, "cloud")));
    let ciphertexts = answer.phases.get("decrypt").map_or(0, Vec::len) as u64;
    steps.extend(["decrypt", "decode"].iter().map(|op| step(op, ciphertexts, "owner")));
    let rows = answer.rows.len() as u64;
    steps.extend(declared.formula.after_decoding().iter().map(|op| step(op, rows, "owner")));
    steps
}

impl Document {
    pub(super) fn new(
        input: &Input,
        reports: &[Report; 2],
        processes: Vec<Process>,
        questions: Vec<Answered>,
        answers: &[Answer],
        streams: Vec<StreamReport>,
    ) -> Self {
        let readings = reports.iter().map(Report::readings).sum();
        let bytes_uploaded: u64 = reports.iter().map(Report::bytes).sum();
        let mut phases = Phases::default();
        for name in PHASES {
            let of_devices = reports.iter().filter_map(|report| report.phases.get(name));
            let of_answers = answers.iter().filter_map(|answer| answer.phases.get(name));
            for microseconds in of_devices.chain(of_answers).flatten() {
                phases.record(name, *microseconds);
            }
        }
        Self {
            version: VERSION,
            source: input.source,
            readings,
            bytes_uploaded,
            bytes_per_reading: bytes_uploaded as f64 / readings.max(1) as f64,
            processes,
            questions,
            phases: phases.summary(),
            streams,
            windows: reports.iter().map(|report| report.streams.len()).sum(),
        }
    }

    /// Returns the number of rows whose bound is wider than the spread of the readings.
    pub(super) fn coarse(&self) -> usize {
        self.questions.iter().flat_map(|question| &question.rows).filter(|row| row.coarse).count()
    }

    /// Returns true if every row of every question is within its bound.
    pub(super) fn all_within_bounds(&self) -> bool {
        self.questions.iter().all(|question| question.within_bound)
    }
}
