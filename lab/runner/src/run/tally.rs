//! Collects the times of one operation on one engine.

use sotto_harness::LabError;
use sotto_harness::protocol::{Measure, Task, UNSUPPORTED};

use super::budget::{Budget, Schedule};
use super::outcome::Outcome;
use super::session::Session;
use crate::definition::{Measurement, Scheme};
use crate::statistics::Statistics;

/// The times so far.
#[derive(Debug)]
pub(super) struct Tally {
    operation: String,
    codec: Option<String>,
    /// True if values are reals.
    reals: bool,
    instead: Option<String>,
    times: Vec<f64>,
    bytes: Option<u64>,
    verified: bool,
    plan: Schedule,
    /// True if a result was checked.
    checked: bool,
    /// Set if no times will follow: the engine lacks the operation, or failed.
    end: Option<End>,
}

#[derive(Debug)]
enum End {
    Lacks,
    Failed(String),
}

impl Tally {
    /// Runs the operation once, to learn that the engine has it and how long it takes.
    pub(super) fn begin(session: &mut Session<'_>, measurement: &Measurement, budget: &mut Budget) -> Self {
        let span = session.span();
        let mut tally = Self {
            operation: measurement.operation.clone(),
            codec: measurement.codec.clone(),
            reals: span.scheme == Scheme::Ckks,
            instead: None,
            times: Vec::new(),
            bytes: None,
            verified: true,
            plan: Schedule { rounds: 0, repetitions: 1, warm_up: 0, first_counts: true },
            checked: false,
            end: None,
        };
        let (scheme, label) = (span.scheme.name(), measurement.label());
        let reason = budget.used_up().or_else(|| budget.refuses(session.name(), scheme, &label, span.degree));
        if let Some(reason) = reason {
            tally.end = Some(End::Failed(reason));
            return tally;
        }
        let mut first = tally.ask(session, measurement);
        if first.as_ref().is_err_and(is_unsupported) && tally.has_other(measurement) {
            first = tally.ask(session, measurement);
        }
        match first {
            Ok(times) => {
                budget.learn(session.name(), scheme, &label, span.degree, first_of(&times));
                tally.checked = true;
                tally.times = times;
            }
            Err(error) => tally.fail(&error),
        }
        tally
    }

    /// Switches to the substitute operation or codec. Returns false if there is none.
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

    /// Plans the repetitions, after every engine has run the operation once.
    pub(super) fn plan(&mut self, large: bool, budget: &mut Budget) {
        if self.end.is_none() {
            self.plan = budget.plan(first_of(&self.times), large);
            if !self.plan.first_counts {
                self.times.clear();
            }
        }
    }

    /// Runs one round.
    pub(super) fn round(&mut self, session: &mut Session<'_>, measurement: &Measurement) {
        if self.plan.rounds == 0 || self.end.is_some() {
            return;
        }
        self.plan.rounds -= 1;
        match self.ask(session, measurement) {
            Ok(times) => self.times.extend(times),
            Err(error) => self.fail(&error),
        }
    }

    fn ask(&mut self, session: &mut Session<'_>, measurement: &Measurement) -> Result<Vec<f64>, LabError> {
        let measured = session.measure(&Measure {
            operation: self.operation.clone(),
            repetitions: self.plan.repetitions,
            warm_up: self.plan.warm_up,
            checked: self.checked,
            codec: self.codec.clone(),
            object: measurement.object.clone(),
            task: Task::named(&self.operation, self.reals).map(Box::new),
            mode: measurement.mode.clone(),
            latency_ms: measurement.latency_ms,
        })?;
        self.bytes = measured.bytes.or(self.bytes);
        self.verified &= measured.verified;
        Ok(measured.microseconds)
    }

    fn fail(&mut self, error: &LabError) {
        self.end = Some(if is_unsupported(error) { End::Lacks } else { End::Failed(error.to_string()) });
    }

    /// Returns the outcome. None if the engine lacks the operation; an error if it failed.
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

fn first_of(times: &[f64]) -> f64 {
    times.first().copied().unwrap_or_default()
}

pub(super) fn is_unsupported(error: &LabError) -> bool {
    matches!(error, LabError::Refused { reason, .. } if reason == UNSUPPORTED)
}
