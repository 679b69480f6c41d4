//! A run: each span's engines are prepared, and each operation is measured in rounds over them.

mod budget;
mod exchange;
mod lane;
mod paths;
mod sums;
mod tally;

use std::collections::BTreeSet;

use crate::contender::Contender;
use crate::definition::{Measurement, Scheme};
use crate::error::RunnerError;
use crate::row::{Gap, Row};
use crate::selection::{Selection, Span};
use budget::Budget;
use lane::{Closed, Lane};
use paths::without_paths;
use tally::Tally;

/// Whoever is told what a run gives, as soon as it is there.
pub trait Observer {
    /// A row.
    fn row(&mut self, row: Row) -> Result<(), RunnerError>;
    /// Something that is not there.
    fn gap(&mut self, gap: Gap) -> Result<(), RunnerError>;
    /// What is done next, and how much of the whole ([`Selection::weight`]) was done since the last word.
    fn progress(&mut self, done: u64, next: &str);
}

/// Engines and schemes that they lack, so that they are asked once.
type Lacking = BTreeSet<(String, Scheme)>;

/// Runs a selection on the engines. What an engine lacks or fails at is a gap; only the observer's own errors end the run.
pub fn run(
    selection: &Selection,
    contenders: &[Contender],
    observer: &mut dyn Observer,
) -> Result<(), RunnerError> {
    for contender in contenders {
        if let Err(reason) = &contender.start {
            observer.gap(Gap {
                log: contender.log.as_deref().map(without_paths),
                ..gap(selection, &contender.name, None, None, reason)
            })?;
        }
    }
    let (mut budget, mut lacking) = (Budget::new(selection.repetitions()), Lacking::new());
    selection
        .spans()
        .iter()
        .try_for_each(|span| run_span(selection, span, contenders, (&mut budget, &mut lacking), observer))
}

fn gap(
    selection: &Selection,
    engine: &str,
    span: Option<&Span<'_>>,
    operation: Option<&str>,
    reason: &str,
) -> Gap {
    Gap {
        definition: selection.definition.name.clone(),
        engine: engine.to_owned(),
        scheme: span.map(|span| span.scheme.name().to_owned()),
        n: span.map(|span| span.degree),
        operation: operation.map(str::to_owned),
        reason: without_paths(reason),
        log: None,
    }
}

fn run_span(
    selection: &Selection,
    span: &Span<'_>,
    contenders: &[Contender],
    (budget, lacking): (&mut Budget, &mut Lacking),
    observer: &mut dyn Observer,
) -> Result<(), RunnerError> {
    let chain = span.parameters.chain(span.scheme, span.degree)?;
    let title = format!("{} {} n = {}", selection.definition.name, span.scheme.name(), span.degree);
    let mut lanes = Vec::new();
    for contender in contenders.iter().filter(|contender| contender.start.is_ok()) {
        observer.progress(0, &format!("{title}: {} makes keys", contender.name));
        if lacking.contains(&(contender.name.clone(), span.scheme)) {
            continue;
        }
        if let Some(reason) = budget.used_up() {
            observer.gap(gap(selection, &contender.name, Some(span), None, &reason))?;
            continue;
        }
        match Lane::open(contender, &chain, selection.definition.check.as_ref()) {
            Ok(lane) => lanes.push(lane),
            Err(Closed::Failed(reason)) => {
                observer.gap(gap(selection, &contender.name, Some(span), None, &reason))?;
            }
            Err(Closed::Lacks(reason)) => {
                lacking.insert((contender.name.clone(), span.scheme));
                // Nobody looks for a conventional cipher in a library of homomorphic ones.
                if span.scheme.has_ring() {
                    let about = gap(selection, &contender.name, Some(span), None, &reason);
                    observer.gap(Gap { n: None, ..about })?;
                }
            }
        }
    }
    let measurements = selection.measurements(span.scheme);
    let step = selection.weight(span) / measurements.len().max(1) as u64;
    let mut made = Vec::new();
    for measurement in measurements.iter().filter(|measurement| !measurement.is_exchange()) {
        observer.progress(0, &format!("{title}: {}", measurement.operation));
        let mut tallies: Vec<Tally> =
            lanes.iter_mut().map(|lane| Tally::begin(lane, measurement, span, budget)).collect();
        for round in 0..budget.asked().rounds.max(budget.asked().least) as usize {
            // Another one begins each round: whatever the first one suffers from, all suffer from.
            for place in 0..lanes.len() {
                let turn = (round + place) % lanes.len();
                tallies[turn].round(&mut lanes[turn], measurement);
            }
        }
        for (tally, lane) in tallies.into_iter().zip(&mut lanes) {
            match tally.finish() {
                Ok(Some(measured)) => {
                    let row = lane.row(selection, span, measurement, measured);
                    made.push(row.clone());
                    observer.row(row)?;
                }
                Ok(None) => {}
                Err(reason) => {
                    let label = measurement.label();
                    observer.gap(gap(selection, lane.name(), Some(span), Some(&label), &reason))?;
                }
            }
        }
        observer.progress(step, &title);
        for lost in lanes.extract_if(.., |lane| lane.is_lost()) {
            let reason = "failed twice and was not asked again";
            observer.gap(gap(selection, lost.name(), Some(span), None, reason))?;
        }
    }
    sums::of(&selection.definition.sums, &made).into_iter().try_for_each(|row| observer.row(row))?;
    let steps: Vec<&Measurement> = measurements.into_iter().filter(|one| one.is_exchange()).collect();
    if steps.is_empty() {
        return Ok(());
    }
    for lane in &mut lanes {
        observer.progress(0, &format!("{title}: {} as edge and cloud", lane.name()));
        let trip = match budget.used_up() {
            Some(reason) => Err(reason),
            None => exchange::trips(lane, &steps, budget),
        };
        match trip {
            Ok(trips) => trips
                .into_iter()
                .try_for_each(|(step, outcome)| observer.row(lane.row(selection, span, step, outcome)))?,
            Err(reason) => {
                observer.gap(gap(selection, lane.name(), Some(span), Some("exchange"), &reason))?;
            }
        }
    }
    observer.progress(step * steps.len() as u64, &title);
    Ok(())
}
