//! Polynomials and models of readings: values at single readings, which the owner decrypts, and conditions on them.

use std::collections::BTreeMap;
use std::ops::Range;

use sotto_program::question::{Call, Condition, Reading};

use super::OnProgress;
use super::curve::Curve;
use super::decided::decide;
use super::flags::Compared;
use super::tally::Tally;
use super::work::{Batch, Work};
use crate::choose::carried_gap;
use crate::compute::{Computer, Input, Part, Quantity};
use crate::error::OwnerError;
use crate::open::Numbers;

impl<'w> Work<'w> {
    /// Computes the polynomials and models of a batch, and adds their values to the tallies.
    pub(super) fn real(
        &self,
        batch: &Batch<'_>,
        computer: &mut Computer<'_>,
        tallies: &mut [Tally],
        used: &mut BTreeMap<String, u64>,
        progress: OnProgress<'_>,
    ) -> Result<(), OwnerError> {
        let layout = batch.windows[0].layout();
        let spec = self.spec(batch)?;
        let calls = self.calls(batch);
        let mut readings: Vec<&Reading> = Vec::new();
        for reading in calls.iter().filter_map(|call| call.reading()) {
            if !readings.contains(&reading) {
                readings.push(reading);
            }
        }
        for reading in readings {
            let Some(curve) = Curve::of(reading, layout) else { continue };
            let calls: Vec<&Call> =
                calls.iter().filter(|call| call.reading() == Some(reading)).copied().collect();
            let conditions = conditions(&calls);
            let gap_bits = match conditions[..] {
                [] => None,
                _ => carried_gap(spec, layout, &curve.quantity),
            };
            let compared = |condition: &&Condition| Compared::new(&curve, condition, gap_bits?);
            let (mut in_cloud, mut here) = (Vec::new(), Vec::new());
            for condition in conditions {
                match compared(&condition) {
                    Some(compared) => in_cloud.push((condition, compared)),
                    None => here.push(condition),
                }
            }
            let (parts, of) = self.single(batch)?;
            self.remember(batch, &parts, used);
            for (condition, compared) in in_cloud {
                let quantities = [Quantity::Beyond(compared.beyond.clone())];
                let results = computer.results(&self.device.device, spec, &parts, &quantities, progress)?;
                for (input, at, ticks, result) in pieces(&parts, &of, &results) {
                    let decided = tallies[at].conditions.entry(condition.to_string()).or_default();
                    decided.within = decided.within.max(compared.within());
                    let hours = hours(input.window.period.into());
                    for holds in compared.flags((input, layout), result, ticks)? {
                        decided.add(holds, hours);
                    }
                }
            }
            if here.is_empty() && calls.iter().all(|call| call.condition().is_some()) {
                continue;
            }
            let quantities = [curve.quantity.clone()];
            let results = computer.results(&self.device.device, spec, &parts, &quantities, progress)?;
            let each = calls.iter().any(|call| matches!(call, Call::Values(_)));
            for (input, at, ticks, result) in pieces(&parts, &of, &results) {
                let mut reals = curve.tally(input, layout, result, ticks)?;
                for condition in &here {
                    let decided = tallies[at].conditions.entry(condition.to_string()).or_default();
                    for (from, to, value, bound) in &reals.each {
                        decided.within = decided.within.max(*bound);
                        decided.add(decide(condition, *value, *bound), hours(to - from));
                    }
                }
                if !each {
                    reals.each.clear();
                }
                tallies[at].reals.entry(reading.to_string()).or_default().merge(&reals);
            }
        }
        Ok(())
    }

    /// Returns a part for each window of a batch, with its ticks by group: values are at single readings, and sums must
    /// exclude missing ones.
    fn single(&self, batch: &Batch<'_>) -> Result<(Vec<Part>, Vec<Pieces>), OwnerError> {
        let ticks = batch.windows[0].layout().ticks();
        let (whole, split) = self.by_group(batch)?;
        let whole =
            whole.into_iter().flat_map(|(at, inputs)| inputs.into_iter().map(move |input| (at, input)));
        let whole = whole.map(|(at, input)| (input, vec![(at, 0..ticks)]));
        Ok(whole.chain(split).map(|(input, pieces)| (Part { inputs: vec![input] }, pieces)).unzip())
    }
}

/// Ticks of a window by group.
type Pieces = Vec<(usize, Range<u32>)>;

/// Returns the ticks of each window in each group, with the window's only result.
fn pieces<'r>(
    parts: &'r [Part],
    of: &'r [Pieces],
    results: &'r [Vec<(Numbers, f64)>],
) -> impl Iterator<Item = (&'r Input, usize, &'r Range<u32>, &'r (Numbers, f64))> {
    parts.iter().zip(of).zip(results).flat_map(|((part, pieces), results)| {
        pieces.iter().map(move |(at, ticks)| (&part.inputs[0], *at, ticks, &results[0]))
    })
}

/// Returns the conditions of calls, without repetition.
fn conditions<'c>(calls: &[&'c Call]) -> Vec<&'c Condition> {
    let mut conditions: Vec<&Condition> = Vec::new();
    for condition in calls.iter().filter_map(|call| call.condition()) {
        if !conditions.contains(&condition) {
            conditions.push(condition);
        }
    }
    conditions
}

fn hours(milliseconds: i64) -> f64 {
    milliseconds as f64 / 3_600_000.0
}
