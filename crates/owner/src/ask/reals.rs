//! Polynomials and models of readings: values at single readings, which the owner decrypts, and conditions on them.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::question::{Call, Condition, Reading};
use sotto_pack::Layout;
use sotto_rlwe::ParameterSpec;

use super::OnProgress;
use super::curve::Curve;
use super::decided::decide;
use super::flags::CloudComparison;
use super::tally::Tally;
use super::work::{Batch, Work};
use crate::choose::carried_gap;
use crate::compute::{Computer, Input, Part, Results};
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
        for reading in distinct(calls.iter().filter_map(|call| call.reading())) {
            let Some(curve) = Curve::of(reading, layout) else { continue };
            let calls: Vec<&Call> =
                calls.iter().filter(|call| call.reading() == Some(reading)).copied().collect();
            let conditions = distinct(calls.iter().filter_map(|call| call.condition()));
            let windows = self.single(batch)?;
            self.remember(batch, &windows.parts, used);
            let values_asked = calls.iter().any(|call| call.condition().is_none());
            // Values that are decrypted anyway decide the conditions too.
            if !values_asked && computer.compares_in_cloud(reading)? {
                let compared = self.in_cloud((spec, layout), &curve, &conditions)?;
                self.compared((computer, spec), &compared, &windows, tallies, progress)?;
                continue;
            }
            let each = calls.iter().any(|call| matches!(call, Call::Values(_)));
            let wanted = (reading, &conditions[..], each);
            self.values((computer, spec), &curve, wanted, &windows, tallies, progress)?;
        }
        Ok(())
    }

    /// Returns the comparisons of conditions in the cloud.
    ///
    /// # Errors
    /// [`OwnerError::CannotCarry`] if the windows were encrypted for other questions.
    fn in_cloud<'c>(
        &self,
        (spec, layout): (&ParameterSpec, &Layout),
        curve: &'c Curve,
        conditions: &[&'c Condition],
    ) -> Result<Vec<(&'c Condition, CloudComparison<'c>)>, OwnerError> {
        let gap_bits = carried_gap(spec, layout, &curve.quantity);
        let of =
            |condition: &&'c Condition| Some((*condition, CloudComparison::new(curve, condition, gap_bits)?));
        let compared: Option<Vec<_>> = conditions.iter().map(of).collect();
        compared.ok_or_else(|| OwnerError::CannotCarry { device: self.device.device.clone() })
    }

    /// Lets the cloud compare a polynomial or a model with the limits of conditions.
    fn compared(
        &self,
        (computer, spec): (&mut Computer<'_>, &ParameterSpec),
        conditions: &[(&Condition, CloudComparison<'_>)],
        windows: &Windows,
        tallies: &mut [Tally],
        progress: OnProgress<'_>,
    ) -> Result<(), OwnerError> {
        // Conditions with one limit share a comparison.
        let quantities = distinct(conditions.iter().filter_map(|(_, compared)| compared.quantity()));
        let results = match quantities[..] {
            [] => {
                progress(windows.parts.len() as u64, windows.parts.len() as u64);
                vec![Results::new(); windows.parts.len()]
            }
            _ => computer.results(&self.device.device, spec, &windows.parts, &quantities, progress)?,
        };
        for (condition, compared) in conditions {
            let quantity = compared.quantity();
            let place = quantities.iter().position(|known| Some(known) == quantity.as_ref());
            for (input, at, ticks, results) in windows.pieces(&results) {
                let decided = tallies[at].conditions.entry(condition.to_string()).or_default();
                decided.within = decided.within.max(compared.within());
                let hours = hours(input.window.period.into());
                let result = place.and_then(|place| results.get(place));
                for holds in compared.flags(input, result, ticks)? {
                    decided.add(holds, hours);
                }
            }
        }
        Ok(())
    }

    /// Computes a polynomial or a model: the owner decrypts the values, and compares them with the limits of conditions.
    fn values(
        &self,
        (computer, spec): (&mut Computer<'_>, &ParameterSpec),
        curve: &Curve,
        (reading, conditions, each): (&Reading, &[&Condition], bool),
        windows: &Windows,
        tallies: &mut [Tally],
        progress: OnProgress<'_>,
    ) -> Result<(), OwnerError> {
        let quantities = [curve.quantity.clone()];
        let results = computer.results(&self.device.device, spec, &windows.parts, &quantities, progress)?;
        for (input, at, ticks, results) in windows.pieces(&results) {
            let mut reals = curve.tally(input, &results[0], ticks)?;
            for condition in conditions {
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
        Ok(())
    }

    /// Returns a part for each window of a batch, with its ticks by group: values are at single readings, and sums must
    /// exclude missing ones.
    fn single(&self, batch: &Batch<'_>) -> Result<Windows, OwnerError> {
        let ticks = batch.windows[0].layout().ticks();
        let (whole, split) = self.by_group(batch)?;
        let whole =
            whole.into_iter().flat_map(|(at, inputs)| inputs.into_iter().map(move |input| (at, input)));
        let whole = whole.map(|(at, input)| (input, vec![(at, 0..ticks)]));
        let (parts, of) =
            whole.chain(split).map(|(input, pieces)| (Part { inputs: vec![input] }, pieces)).unzip();
        Ok(Windows { parts, of })
    }
}

/// Windows of a batch, each with its ticks by group.
struct Windows {
    parts: Vec<Part>,
    of: Vec<Vec<(usize, Range<u32>)>>,
}

impl Windows {
    /// Returns the ticks of each window in each group, with the window's results.
    fn pieces<'r>(
        &'r self,
        results: &'r [Results],
    ) -> impl Iterator<Item = (&'r Input, usize, &'r Range<u32>, &'r Results)> {
        self.parts.iter().zip(&self.of).zip(results).flat_map(|((part, pieces), results)| {
            pieces.iter().map(move |(at, ticks)| (&part.inputs[0], *at, ticks, results))
        })
    }
}

/// Returns the items in order, each once.
fn distinct<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for item in items {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    all
}

fn hours(milliseconds: i64) -> f64 {
    milliseconds as f64 / 3_600_000.0
}
