//! A run: each span's engines are prepared, and each operation is measured in rounds over them.

mod budget;
mod exchange;
mod lane;
mod paths;
mod setting;
mod sums;
mod tally;

use std::collections::BTreeSet;

use crate::contender::Contender;
use crate::definition::{Measurement, Scheme};
use crate::digits::table;
use crate::error::RunnerError;
use crate::row::{Gap, Row};
use crate::selection::{Selection, Span};
use budget::Budget;
use lane::{Closed, Lane};
use paths::without_paths;
use tally::{Outcome, Tally};

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
        parameters: span.map(|span| span.parameters.name.clone()),
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
    let trials = table();
    let mut lanes = Vec::new();
    let named = &span.parameters.engines;
    let is_asked = |contender: &&Contender| named.is_empty() || named.contains(&contender.name);
    for contender in contenders.iter().filter(|contender| contender.start.is_ok()).filter(is_asked) {
        observer.progress(0, &format!("{title}: {} makes keys", contender.name));
        if lacking.contains(&(contender.name.clone(), span.scheme)) {
            continue;
        }
        if let Some(reason) = budget.used_up() {
            observer.gap(gap(selection, &contender.name, Some(span), None, &reason))?;
            continue;
        }
        match Lane::open(contender, &chain, selection.definition.check.as_ref(), &trials) {
            Ok(lane) => {
                if let Some(doubt) = lane.doubt() {
                    observer.gap(gap(selection, &contender.name, Some(span), Some("check"), &doubt))?;
                }
                lanes.push(lane);
            }
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
    let measurements = selection.measurements(span);
    let step = selection.weight(span) / measurements.len().max(1) as u64;
    let mut made = Vec::new();
    let timed: Vec<&Measurement> =
        measurements.iter().copied().filter(|measurement| !measurement.is_exchange()).collect();
    for group in timed.chunk_by(|a, b| a.is_large() && b.is_large()) {
        observer.progress(0, &format!("{title}: {}", group[0].operation));
        let finished = match group {
            [measurement] if !measurement.is_large() => {
                vec![interleaved(&mut lanes, measurement, span, budget)]
            }
            group => one_by_one(&mut lanes, group, span, budget),
        };
        for (measurement, outcomes) in group.iter().zip(finished) {
            for (outcome, lane) in outcomes.into_iter().zip(&lanes) {
                match outcome {
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
        }
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
            Some(reason) => exchange::Trips { done: Vec::new(), failures: vec![reason] },
            None => exchange::trips(lane, &steps, budget),
        };
        for (step, outcome) in trip.done {
            observer.row(lane.row(selection, span, step, outcome))?;
        }
        for reason in trip.failures {
            observer.gap(gap(selection, lane.name(), Some(span), Some("exchange"), &reason))?;
        }
    }
    observer.progress(step * steps.len() as u64, &title);
    Ok(())
}

/// What each lane gave of an operation; nothing, where it lacks it.
type Outcomes = Vec<Result<Option<Outcome>, String>>;

/// Rounds over the lanes.
fn interleaved(
    lanes: &mut [Lane<'_>],
    measurement: &Measurement,
    span: &Span<'_>,
    budget: &mut Budget,
) -> Outcomes {
    let mut tallies: Vec<Tally> =
        lanes.iter_mut().map(|lane| Tally::begin(lane, measurement, span, budget)).collect();
    for round in 0..rounds(budget) as usize {
        // Another one begins each round: whatever the first one suffers from, all suffer from.
        for place in 0..lanes.len() {
            let turn = (round + place) % lanes.len();
            tallies[turn].round(&mut lanes[turn], measurement);
        }
    }
    budget.settle();
    tallies.into_iter().map(Tally::finish).collect()
}

/// One lane after the other, each with all of its rounds, while the others rest: together they would not fit into memory.
fn one_by_one(
    lanes: &mut [Lane<'_>],
    group: &[&Measurement],
    span: &Span<'_>,
    budget: &mut Budget,
) -> Vec<Outcomes> {
    lanes.iter_mut().for_each(Lane::rest);
    let mut outcomes: Vec<Outcomes> = group.iter().map(|_| Vec::with_capacity(lanes.len())).collect();
    for lane in lanes {
        for (measurement, outcomes) in group.iter().zip(&mut outcomes) {
            let mut tally = Tally::begin(lane, measurement, span, budget);
            (0..rounds(budget)).for_each(|_| tally.round(lane, measurement));
            budget.settle();
            outcomes.push(tally.finish());
        }
        lane.rest();
    }
    outcomes
}

fn rounds(budget: &Budget) -> u32 {
    budget.asked().rounds.max(budget.asked().least)
}
