//! Measures the spans of a run one after the other.

use std::collections::BTreeSet;
use std::time::Duration;

use super::budget::Budget;
use super::exchange;
use super::paths::without_paths;
use super::rounds::{interleaved, one_by_one};
use super::session::{Closed, Session};
use super::{Observer, sums};
use crate::contender::Contender;
use crate::definition::{Chain, Measurement, Scheme};
use crate::digits::{Trial, table};
use crate::error::RunnerError;
use crate::row::{Gap, Row};
use crate::selection::{Selection, Span};

/// A run in progress.
pub(super) struct Run<'a> {
    pub(super) selection: &'a Selection,
    pub(super) contenders: &'a [Contender],
    trials: Vec<Trial>,
    pub(super) budget: Budget,
    /// Pairs of an engine and a scheme that it lacks, so that each is tried once.
    lacking: BTreeSet<(String, Scheme)>,
    pub(super) observer: &'a mut dyn Observer,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        selection: &'a Selection,
        contenders: &'a [Contender],
        spare: Duration,
        observer: &'a mut dyn Observer,
    ) -> Self {
        let budget = Budget::new(selection.repetitions(), spare, selection.whole());
        Self { selection, contenders, trials: table(), budget, lacking: BTreeSet::new(), observer }
    }

    /// Returns the time that is left.
    pub(super) fn unused(&self) -> Duration {
        self.budget.unused()
    }

    /// Reports the absent engines as gaps.
    pub(super) fn absent(&mut self) -> Result<(), RunnerError> {
        for contender in self.contenders {
            if let Err(reason) = &contender.start {
                let log = contender.log.as_deref().map(without_paths);
                self.observer.gap(Gap { log, ..self.about(&contender.name, None, None, reason) })?;
            }
        }
        Ok(())
    }

    /// Measures everything in some spans: each round of an operation goes over the engines of all of them.
    pub(super) fn spans(&mut self, spans: &[Span<'a>]) -> Result<(), RunnerError> {
        let Some(first) = spans.first() else { return Ok(()) };
        let selection = self.selection;
        let chains = spans.iter().map(|span| span.parameters.chain(span.scheme, span.degree));
        let chains = chains.collect::<Result<Vec<_>, _>>()?;
        let trials = std::mem::take(&mut self.trials);
        let mut sessions = Vec::new();
        for (span, chain) in spans.iter().zip(&chains) {
            sessions.extend(self.sessions(*span, chain, &trials)?);
        }
        let title =
            if spans.len() == 1 { title(selection, first) } else { selection.definition.name.clone() };
        let (steps, timed): (Vec<&Measurement>, Vec<&Measurement>) =
            selection.measurements(first).into_iter().partition(|measurement| measurement.is_exchange());
        let weight: u64 = spans.iter().map(|span| selection.weight(span)).sum();
        let step = weight / (steps.len() + timed.len()).max(1) as u64;
        let mut made = Vec::new();
        for group in timed.chunk_by(|a, b| a.is_large() && b.is_large()) {
            self.observer.progress(0, &format!("{title}: {}", group[0].operation));
            self.group(group, &mut sessions, &mut made)?;
            self.done(step * group.len() as u64, &title);
        }
        sums::of(&selection.definition.sums, &made).into_iter().try_for_each(|row| self.observer.row(row))?;
        for session in sessions.iter_mut().filter(|_| !steps.is_empty()) {
            self.observer.progress(0, &format!("{title}: {} as edge and cloud", session.name()));
            self.exchange(&steps, session)?;
        }
        self.done(step * steps.len() as u64, &title);
        drop(sessions);
        self.trials = trials;
        Ok(())
    }

    pub(super) fn done(&mut self, work: u64, title: &str) {
        self.budget.done(work);
        self.observer.progress(work, title);
    }

    /// Returns the engines that are prepared for a span.
    fn sessions<'c>(
        &mut self,
        span: Span<'a>,
        chain: &'c Chain,
        trials: &'c [Trial],
    ) -> Result<Vec<Session<'c>>, RunnerError>
    where
        'a: 'c,
    {
        let (title, named) = (title(self.selection, &span), &span.parameters.engines);
        let is_asked = |contender: &&Contender| named.is_empty() || named.contains(&contender.name);
        let mut sessions = Vec::new();
        for contender in self.contenders.iter().filter(|one| one.start.is_ok()).filter(is_asked) {
            self.observer.progress(0, &format!("{title}: {} makes keys", contender.name));
            if self.lacking.contains(&(contender.name.clone(), span.scheme)) {
                continue;
            }
            if let Some(reason) = self.budget.used_up() {
                self.gap(&contender.name, &span, None, &reason)?;
                continue;
            }
            match Session::open(contender, span, chain, self.selection.definition.check.as_ref(), trials) {
                Ok(session) => {
                    if let Some(doubt) = session.doubt() {
                        self.gap(&contender.name, &span, Some("check"), &doubt)?;
                    }
                    sessions.push(session);
                }
                Err(Closed::Failed(reason)) => self.gap(&contender.name, &span, None, &reason)?,
                Err(Closed::Lacks(reason)) => {
                    self.lacking.insert((contender.name.clone(), span.scheme));
                    // A library of homomorphic encryption lacks conventional ciphers as a rule: no gap.
                    if span.scheme.has_ring() {
                        let about = self.about(&contender.name, Some(&span), None, &reason);
                        self.observer.gap(Gap { n: None, ..about })?;
                    }
                }
            }
        }
        Ok(sessions)
    }

    /// Measures one operation, or several on large objects.
    fn group(
        &mut self,
        group: &[&Measurement],
        sessions: &mut Vec<Session<'_>>,
        made: &mut Vec<Row>,
    ) -> Result<(), RunnerError> {
        let finished = match group {
            [measurement] if !measurement.is_large() => {
                vec![interleaved(sessions, measurement, &mut self.budget)]
            }
            group => one_by_one(sessions, group, &mut self.budget),
        };
        for (measurement, outcomes) in group.iter().zip(finished) {
            for (outcome, session) in outcomes.into_iter().zip(&*sessions) {
                match outcome {
                    Ok(Some(measured)) => {
                        let row = session.row(self.selection, measurement, measured);
                        made.push(row.clone());
                        self.observer.row(row)?;
                    }
                    Ok(None) => {}
                    Err(reason) => {
                        self.gap(session.name(), &session.span(), Some(&measurement.label()), &reason)?;
                    }
                }
            }
        }
        for lost in sessions.extract_if(.., |session| session.is_lost()) {
            self.gap(lost.name(), &lost.span(), None, "failed twice and was not asked again")?;
        }
        Ok(())
    }

    /// Measures the steps of a round trip between two processes of an engine.
    fn exchange(&mut self, steps: &[&Measurement], session: &mut Session<'_>) -> Result<(), RunnerError> {
        let trip = match self.budget.used_up() {
            Some(reason) => exchange::Trips { done: Vec::new(), failures: vec![reason] },
            None => exchange::trips(session, steps, &self.budget),
        };
        for (step, outcome) in trip.done {
            self.observer.row(session.row(self.selection, step, outcome))?;
        }
        trip.failures
            .into_iter()
            .try_for_each(|reason| self.gap(session.name(), &session.span(), Some("exchange"), &reason))
    }

    fn gap(
        &mut self,
        engine: &str,
        span: &Span<'_>,
        operation: Option<&str>,
        reason: &str,
    ) -> Result<(), RunnerError> {
        let gap = self.about(engine, Some(span), operation, reason);
        self.observer.gap(gap)
    }

    fn about(&self, engine: &str, span: Option<&Span<'_>>, operation: Option<&str>, reason: &str) -> Gap {
        Gap {
            definition: self.selection.definition.name.clone(),
            engine: engine.to_owned(),
            scheme: span.map(|span| span.scheme.name().to_owned()),
            n: span.map(|span| span.degree),
            parameters: span.map(|span| span.parameters.name.clone()),
            operation: operation.map(str::to_owned),
            reason: without_paths(reason),
            log: None,
        }
    }
}

/// Names a span, for people.
fn title(selection: &Selection, span: &Span<'_>) -> String {
    format!("{} {} n = {}", selection.definition.name, span.scheme.name(), span.degree)
}
