//! Rounds of an operation over the engines.

use super::budget::Budget;
use super::lane::Lane;
use super::tally::{Outcome, Tally};
use crate::definition::Measurement;
use crate::selection::Span;

/// What each lane gave of an operation; nothing, where it lacks it.
pub(super) type Outcomes = Vec<Result<Option<Outcome>, String>>;

/// Rounds over the lanes.
pub(super) fn interleaved(
    lanes: &mut [Lane<'_>],
    measurement: &Measurement,
    span: &Span<'_>,
    budget: &mut Budget,
) -> Outcomes {
    let mut tallies: Vec<Tally> =
        lanes.iter_mut().map(|lane| Tally::begin(lane, measurement, span, budget)).collect();
    tallies.iter_mut().for_each(|tally| tally.plan(false, budget));
    for round in 0..rounds(budget) as usize {
        // Another one begins each round: whatever the first one suffers from, all suffer from.
        for place in 0..lanes.len() {
            let turn = (round + place) % lanes.len();
            tallies[turn].round(&mut lanes[turn], measurement);
        }
    }
    budget.kept();
    tallies.into_iter().map(Tally::finish).collect()
}

/// One lane after the other, each with all of its rounds, while the others rest: together they would not fit into memory.
pub(super) fn one_by_one(
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
            tally.plan(true, budget);
            (0..rounds(budget)).for_each(|_| tally.round(lane, measurement));
            budget.kept();
            outcomes.push(tally.finish());
        }
        lane.rest();
    }
    outcomes
}

fn rounds(budget: &Budget) -> u32 {
    budget.asked().rounds.max(budget.asked().least)
}
