//! Rounds of an operation over the engines.

use super::budget::Budget;
use super::outcome::Outcome;
use super::session::Session;
use super::tally::Tally;
use crate::definition::Measurement;

/// Each session's outcome of an operation; None if the engine lacks it.
pub(super) type Outcomes = Vec<Result<Option<Outcome>, String>>;

/// Measures an operation in rounds over the sessions.
pub(super) fn interleaved(
    sessions: &mut [Session<'_>],
    measurement: &Measurement,
    budget: &mut Budget,
) -> Outcomes {
    let mut tallies: Vec<Tally> =
        sessions.iter_mut().map(|session| Tally::begin(session, measurement, budget)).collect();
    tallies.iter_mut().for_each(|tally| tally.plan(false, budget));
    for round in 0..rounds(budget) as usize {
        // Each round starts with another session, so that a disturbance hits all alike.
        for place in 0..sessions.len() {
            let turn = (round + place) % sessions.len();
            tallies[turn].round(&mut sessions[turn], measurement);
        }
    }
    budget.kept();
    tallies.into_iter().map(Tally::finish).collect()
}

/// Measures one session after the other, each with all of its rounds, while the others are ended: together they would
/// not fit into memory.
pub(super) fn one_by_one(
    sessions: &mut [Session<'_>],
    group: &[&Measurement],
    budget: &mut Budget,
) -> Vec<Outcomes> {
    sessions.iter_mut().for_each(Session::rest);
    let mut outcomes: Vec<Outcomes> = group.iter().map(|_| Vec::with_capacity(sessions.len())).collect();
    for session in sessions {
        for (measurement, outcomes) in group.iter().zip(&mut outcomes) {
            let mut tally = Tally::begin(session, measurement, budget);
            tally.plan(true, budget);
            (0..rounds(budget)).for_each(|_| tally.round(session, measurement));
            budget.kept();
            outcomes.push(tally.finish());
        }
        session.rest();
    }
    outcomes
}

fn rounds(budget: &Budget) -> u32 {
    budget.asked().rounds.max(budget.asked().least)
}
