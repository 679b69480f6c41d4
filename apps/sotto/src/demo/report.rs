//! The demo's JSON document.

use anyhow::Context;
use serde::Serialize;
use sotto_rlwe::SchemeId;

use super::answer::Answer;
use super::device::DeviceReport;
use super::plan::Input;
use super::processes::Process;
use crate::phases::Phase;

/// Everything that the demo found.
#[derive(Debug, Serialize)]
pub(super) struct Document {
    /// `sensors`, `csv` or `generator`.
    pub(super) source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) fallback_reason: Option<String>,
    pub(super) readings: u64,
    pub(super) bytes_uploaded: u64,
    /// Whole upload bodies over readings, unused slots included.
    pub(super) bytes_per_reading: f64,
    pub(super) processes: Vec<Process>,
    pub(super) questions: Vec<Answered>,
    pub(super) phases: Vec<Phase>,
    #[serde(skip)]
    pub(super) read: String,
    /// Bytes and readings of each device.
    #[serde(skip)]
    pub(super) shares: Vec<(u64, u64)>,
}

/// A question and the answer with the largest error.
#[derive(Debug, Serialize)]
pub(super) struct Answered {
    pub(super) name: &'static str,
    pub(super) scheme: &'static str,
    /// The devices whose readings it is about.
    pub(super) devices: Vec<String>,
    pub(super) channel: String,
    pub(super) unit: String,
    pub(super) decrypted: f64,
    pub(super) clear: f64,
    pub(super) error: f64,
    /// From quantisation, noise and publishing.
    pub(super) bound: f64,
    /// The range that the answer can have.
    pub(super) range: f64,
    /// How many answers there are; this is the worst.
    pub(super) answers: usize,
    pub(super) within_bound: bool,
    pub(super) steps: Vec<Step>,
}

/// An operation, how often, and who did it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Step {
    pub(super) op: &'static str,
    pub(super) count: u64,
    #[serde(rename = "where")]
    pub(super) place: &'static str,
}

impl Step {
    pub(super) fn new(op: &'static str, count: u64, place: &'static str) -> Self {
        Self { op, count, place }
    }

    /// Adds to a list, to the same step if it is there.
    pub(super) fn add(steps: &mut Vec<Self>, op: &'static str, count: u64, place: &'static str) {
        match steps.iter_mut().find(|s| (s.op, s.place) == (op, place)) {
            Some(step) => step.count += count,
            None => steps.push(Self::new(op, count, place)),
        }
    }
}

impl Answered {
    /// Of many answers the one with the largest error; all must be within their bounds.
    pub(super) fn worst(
        name: &'static str,
        scheme: SchemeId,
        devices: Vec<String>,
        answers: Vec<Answer>,
        steps: Vec<Step>,
    ) -> anyhow::Result<Self> {
        let count = answers.len();
        let within_bound = answers.iter().all(|a| a.error <= a.bound);
        let worst = answers.into_iter().max_by(|a, b| a.error.total_cmp(&b.error));
        let worst = worst
            .with_context(|| format!("{name} of {} has no answer: no readings", devices.join(" and ")))?;
        Ok(Self {
            name,
            scheme: scheme.name(),
            devices,
            channel: worst.channel,
            unit: worst.unit,
            decrypted: worst.decrypted,
            clear: worst.clear,
            error: worst.error,
            bound: worst.bound,
            range: worst.range,
            answers: count,
            within_bound,
            steps,
        })
    }
}

impl Document {
    pub(super) fn new(
        input: &Input,
        reports: &[DeviceReport],
        processes: Vec<Process>,
        questions: Vec<Answered>,
        phases: Vec<Phase>,
    ) -> Self {
        let sum = |of: fn(&super::device::StreamReport) -> u64, report: &DeviceReport| {
            report.streams.iter().map(of).sum::<u64>()
        };
        let shares: Vec<(u64, u64)> =
            reports.iter().map(|r| (sum(|s| s.upload_bytes, r), sum(|s| s.readings, r))).collect();
        let (bytes_uploaded, readings) = shares.iter().fold((0, 0), |(b, r), (x, y)| (b + x, r + y));
        Self {
            source: reports.first().map(|r| r.source.clone()).unwrap_or_default(),
            fallback_reason: reports.iter().find_map(|r| r.fallback_reason.clone()),
            readings,
            bytes_uploaded,
            bytes_per_reading: bytes_uploaded as f64 / readings.max(1) as f64,
            processes,
            questions,
            phases,
            read: input.describe(),
            shares,
        }
    }

    /// Whether every answer of every question is within its bound.
    pub(super) fn all_within_bounds(&self) -> bool {
        self.questions.iter().all(|q| q.within_bound)
    }
}
