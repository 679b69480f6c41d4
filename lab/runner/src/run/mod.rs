//! A run: each span's engines are prepared, and each operation is measured in rounds over them.

mod lane;
mod tally;

use crate::contender::Contender;
use crate::error::RunnerError;
use crate::row::{Gap, Row};
use crate::selection::{Selection, Span};
use lane::Lane;
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

/// Runs a selection on the engines. What an engine lacks or fails at is a gap; only the observer's own errors end the run.
pub fn run(
    selection: &Selection,
    contenders: &[Contender],
    observer: &mut dyn Observer,
) -> Result<(), RunnerError> {
    for contender in contenders {
        if let Err(reason) = &contender.start {
            observer.gap(Gap {
                log: contender.log.clone(),
                ..gap(selection, &contender.name, None, None, reason)
            })?;
        }
    }
    selection.spans().iter().try_for_each(|span| run_span(selection, span, contenders, observer))
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
        reason: reason.to_owned(),
        log: None,
    }
}

fn run_span(
    selection: &Selection,
    span: &Span<'_>,
    contenders: &[Contender],
    observer: &mut dyn Observer,
) -> Result<(), RunnerError> {
    let chain = span.parameters.chain(span.scheme, span.degree)?;
    let title = format!("{} {} n = {}", selection.definition.name, span.scheme.name(), span.degree);
    let mut lanes = Vec::new();
    for contender in contenders.iter().filter(|contender| contender.start.is_ok()) {
        observer.progress(0, &format!("{title}: {} makes keys", contender.name));
        match Lane::open(contender, &chain, selection.definition.check.as_ref()) {
            Ok(lane) => lanes.push(lane),
            Err(reason) => observer.gap(gap(selection, &contender.name, Some(span), None, &reason))?,
        }
    }
    let measurements = selection.measurements(span.scheme);
    let step = selection.weight(span) / measurements.len().max(1) as u64;
    for measurement in measurements {
        observer.progress(0, &format!("{title}: {}", measurement.operation));
        let repetitions = selection.repetitions();
        let mut tallies: Vec<Tally> =
            lanes.iter_mut().map(|lane| Tally::begin(lane, measurement, &repetitions)).collect();
        for round in 0..repetitions.rounds as usize {
            // Another one begins each round: whatever the first one suffers from, all suffer from.
            for place in 0..lanes.len() {
                let turn = (round + place) % lanes.len();
                tallies[turn].round(&mut lanes[turn], measurement);
            }
        }
        for (tally, lane) in tallies.into_iter().zip(&mut lanes) {
            match tally.finish() {
                Ok(Some(measured)) => {
                    observer.row(lane.row(selection, span, measurement, measured))?;
                }
                Ok(None) => {}
                Err(reason) => {
                    let operation = Some(measurement.operation.as_str());
                    observer.gap(gap(selection, lane.name(), Some(span), operation, &reason))?;
                }
            }
        }
        observer.progress(step, &title);
        for lost in lanes.extract_if(.., |lane| lane.is_lost()) {
            let reason = "failed twice and was not asked again";
            observer.gap(gap(selection, lost.name(), Some(span), None, reason))?;
        }
    }
    Ok(())
}
