//! Polynomials and models of readings: values at single readings, which the owner decrypts.

use std::collections::BTreeMap;
use std::ops::Range;

use sotto_program::question::{Call, Condition, Reading};

use super::OnProgress;
use super::curve::Curve;
use super::decided::decide;
use super::tally::Tally;
use super::work::{Batch, Work};
use crate::compute::{Computer, Part};
use crate::error::OwnerError;

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
            let (parts, of) = self.single(batch)?;
            self.remember(batch, &parts, used);
            let quantities = [curve.quantity.clone()];
            let results = computer.results(&self.device.device, spec, &parts, &quantities, progress)?;
            let each = calls.iter().any(|call| matches!(call, Call::Values(of) if of == reading));
            let conditions = conditions(&calls, reading);
            let pieces = parts.iter().zip(of).zip(&results).flat_map(|((part, pieces), results)| {
                pieces.into_iter().map(move |(at, ticks)| (part, at, ticks, results))
            });
            for (part, at, ticks, results) in pieces {
                let mut reals = curve.tally(&part.inputs[0], layout, &results[0], &ticks)?;
                for condition in &conditions {
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

/// Returns the conditions of calls on a polynomial or a model, without repetition.
fn conditions<'c>(calls: &[&'c Call], reading: &Reading) -> Vec<&'c Condition> {
    let mut conditions: Vec<&Condition> = Vec::new();
    for condition in calls.iter().filter_map(|call| call.condition()) {
        if condition.reading == *reading && !conditions.contains(&condition) {
            conditions.push(condition);
        }
    }
    conditions
}

fn hours(milliseconds: i64) -> f64 {
    milliseconds as f64 / 3_600_000.0
}
