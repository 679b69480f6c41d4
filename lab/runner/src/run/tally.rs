//! The times of one operation on one engine, while they come in.

use sotto_lab::LabError;
use sotto_lab::protocol::{Measure, UNSUPPORTED};

use super::lane::Lane;
use crate::definition::{Measurement, Repetitions};
use crate::statistics::Statistics;

/// What was measured, in the end.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) statistics: Statistics,
    pub(super) bytes: Option<u64>,
    pub(super) verified: bool,
    /// The operation that stood in.
    pub(super) instead: Option<String>,
}

/// Times while they come in.
#[derive(Debug)]
pub(super) struct Tally {
    operation: String,
    codec: Option<String>,
    instead: Option<String>,
    times: Vec<f64>,
    bytes: Option<u64>,
    verified: bool,
    rounds_left: u32,
    /// Repetitions a round, and those before it that do not count.
    repetitions: u32,
    warm_up: u32,
    /// Set when there is nothing to come: the engine lacks the operation, or failed.
    end: Option<End>,
}

#[derive(Debug)]
enum End {
    Lacks,
    Failed(String),
}

impl Tally {
    /// Does the operation once, to see that it is there and how long it takes; that counts only if nothing else follows.
    pub(super) fn begin(lane: &mut Lane<'_>, measurement: &Measurement, planned: &Repetitions) -> Self {
        let mut tally = Self {
            operation: measurement.operation.clone(),
            codec: measurement.codec.clone(),
            instead: None,
            times: Vec::new(),
            bytes: None,
            verified: true,
            rounds_left: 0,
            repetitions: 1,
            warm_up: 0,
            end: None,
        };
        let mut first = tally.ask(lane, measurement);
        if first.as_ref().is_err_and(is_unsupported) && tally.has_other(measurement) {
            first = tally.ask(lane, measurement);
        }
        match first {
            Ok(times) => tally.plan(&times, planned),
            Err(error) => tally.fail(&error),
        }
        tally
    }

    /// Whether something else may stand in; from now on it does.
    fn has_other(&mut self, measurement: &Measurement) -> bool {
        if let Some(operation) = &measurement.instead {
            self.operation.clone_from(operation);
        }
        if let Some(codec) = &measurement.instead_codec {
            self.codec = Some(codec.clone());
        }
        self.instead = measurement.instead.clone().or(measurement.instead_codec.clone());
        self.instead.is_some()
    }

    /// As many repetitions and rounds as fit the time; slow operations get no warm-up but the first one.
    fn plan(&mut self, first: &[f64], planned: &Repetitions) {
        let estimate = first.first().copied().unwrap_or_default().max(0.1);
        let whole = planned.seconds * 1e6;
        let a_round = whole / f64::from(planned.rounds);
        self.repetitions = (a_round / estimate).clamp(1.0, f64::from(planned.most)) as u32;
        let rounds = (whole / estimate).clamp(0.0, f64::from(planned.rounds)) as u32;
        self.rounds_left = rounds.max(planned.least_rounds);
        if self.rounds_left == 0 {
            // Once has to do, where it takes longer than all rounds may.
            self.times.extend(first);
        }
        self.warm_up = if estimate * f64::from(planned.rounds) < whole { planned.warm_up } else { 0 };
    }

    /// One round.
    pub(super) fn round(&mut self, lane: &mut Lane<'_>, measurement: &Measurement) {
        if self.rounds_left == 0 || self.end.is_some() {
            return;
        }
        self.rounds_left -= 1;
        match self.ask(lane, measurement) {
            Ok(times) => self.times.extend(times),
            Err(error) => self.fail(&error),
        }
    }

    fn ask(&mut self, lane: &mut Lane<'_>, measurement: &Measurement) -> Result<Vec<f64>, LabError> {
        let measured = lane.measure(&Measure {
            operation: self.operation.clone(),
            repetitions: self.repetitions,
            warm_up: self.warm_up,
            codec: self.codec.clone(),
            object: measurement.object.clone(),
        })?;
        self.bytes = measured.bytes.or(self.bytes);
        self.verified &= measured.verified;
        Ok(measured.microseconds)
    }

    fn fail(&mut self, error: &LabError) {
        self.end = Some(if is_unsupported(error) { End::Lacks } else { End::Failed(error.to_string()) });
    }

    /// What was measured; nothing, if the engine lacks the operation; or why there is nothing.
    pub(super) fn finish(self) -> Result<Option<Outcome>, String> {
        match self.end {
            Some(End::Lacks) => return Ok(None),
            Some(End::Failed(reason)) => return Err(reason),
            None => {}
        }
        let statistics = Statistics::of(&self.times).ok_or("gave no times")?;
        Ok(Some(Outcome { statistics, bytes: self.bytes, verified: self.verified, instead: self.instead }))
    }
}

fn is_unsupported(error: &LabError) -> bool {
    matches!(error, LabError::Refused { reason, .. } if reason == UNSUPPORTED)
}
