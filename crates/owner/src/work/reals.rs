//! Polynomials and models of readings: values at single readings, which the owner decrypts, and conditions on them.

use sotto_pack::Layout;
use sotto_rlwe::{Origin, ParameterSpec};

use super::batch::Batch;
use super::curve::Curve;
use super::decide::decide;
use super::device::{Computed, DeviceWork};
use super::faults::Faults;
use super::flags::CloudComparison;
use super::job::{Computer, Results};
use super::pieces::{ByGroup, Pieces};
use super::progress::OnProgress;
use crate::error::OwnerError;
use crate::gathered::{Need, NeedId, Real};
use crate::language::{Condition, Measurand, all};
use crate::streams::carried_gap;

/// A polynomial or a model of a batch, with the needs of it.
struct OfReading<'q> {
    curve: Curve,
    reading: &'q Measurand,
    /// Needs of values.
    values: Vec<Values>,
    conditions: Vec<OfCondition<'q>>,
}

/// A need of values.
struct Values {
    need: NeedId,
    /// True if every value is needed, and not only their sum.
    each: bool,
}

/// A need of decisions.
struct OfCondition<'q> {
    need: NeedId,
    condition: &'q Condition,
}

/// Windows of a batch, to compute one reading on.
struct Task<'t> {
    spec: &'t ParameterSpec,
    origin: Origin,
    layout: &'t Layout,
    pieces: &'t Pieces,
}

impl<'w> DeviceWork<'w> {
    /// Computes the polynomials and models of a batch, and adds their values to the tallies.
    pub(super) fn real(
        &self,
        batch: &Batch<'_>,
        computer: &mut Computer<'_>,
        computed: &mut Computed,
        progress: OnProgress<'_>,
    ) -> Result<(), OwnerError> {
        let (spec, layout) = (self.spec(batch)?, batch.windows[0].layout());
        let mut faults = Faults::default();
        for of in self.readings(batch) {
            let pieces = self.single(batch)?;
            computed.include(&pieces.parts);
            let task = Task { spec, origin: batch.windows[0].origin, layout, pieces: &pieces };
            // Values that are decrypted anyway decide the conditions too.
            let done = if of.values.is_empty() && computer.compares_in_cloud(of.reading)? {
                self.compared(&of, &task, computer, computed, progress)
            } else {
                self.values(&of, &task, computer, computed, progress)
            };
            faults.note(done)?;
        }
        faults.end()
    }

    /// Returns the polynomials and models of a batch's calls, each once, with the needs of them.
    fn readings(&self, batch: &Batch<'_>) -> Vec<OfReading<'w>> {
        let layout = batch.windows[0].layout();
        let mut all: Vec<OfReading<'w>> = Vec::new();
        for (number, need) in self.needs(batch) {
            let Some(reading) = need.reading() else { continue };
            let at = match all.iter().position(|of| of.reading == reading) {
                Some(at) => at,
                None => {
                    let Some(curve) = Curve::of(reading, layout) else { continue };
                    all.push(OfReading { curve, reading, values: Vec::new(), conditions: Vec::new() });
                    all.len() - 1
                }
            };
            match need {
                Need::Reals { each, .. } => all[at].values.push(Values { need: number, each: *each }),
                Need::Decided(condition) => {
                    all[at].conditions.push(OfCondition { need: number, condition });
                }
                // Of exact streams.
                Need::Moments { .. }
                | Need::Pair(_)
                | Need::Weighted { .. }
                | Need::Distribution { .. }
                | Need::Windows { .. }
                | Need::Readings { .. } => {}
            }
        }
        all
    }

    /// Lets the cloud compare a polynomial or a model with the limits of conditions.
    ///
    /// # Errors
    /// [`OwnerError::CannotCarry`] if the windows were encrypted for other questions.
    fn compared(
        &self,
        of: &OfReading<'_>,
        Task { spec, origin, layout, pieces }: &Task<'_>,
        computer: &mut Computer<'_>,
        computed: &mut Computed,
        progress: OnProgress<'_>,
    ) -> Result<(), OwnerError> {
        let gap_bits = carried_gap(spec, *origin, layout, &of.curve.quantity);
        let comparison = |of_condition: &OfCondition<'_>| {
            CloudComparison::all(&of.curve, of_condition.condition, gap_bits)
        };
        let comparisons: Option<Vec<Vec<CloudComparison<'_>>>> =
            of.conditions.iter().map(comparison).collect();
        let comparisons = comparisons.ok_or_else(|| self.cannot_carry())?;
        // Conditions with one limit share a comparison.
        let mut quantities = Vec::new();
        for quantity in comparisons.iter().flatten().filter_map(CloudComparison::quantity) {
            if !quantities.contains(&quantity) {
                quantities.push(quantity);
            }
        }
        let windows = pieces.parts.len();
        let results = if quantities.is_empty() {
            progress(windows as u64, windows as u64);
            vec![Results::new(); windows]
        } else {
            computer.results(&self.device.device, spec, &pieces.parts, &quantities, progress)?
        };
        let place = |comparison: &CloudComparison<'_>| {
            let quantity = comparison.quantity();
            quantities.iter().position(|known| Some(known) == quantity.as_ref())
        };
        for (OfCondition { need, .. }, sides) in of.conditions.iter().zip(&comparisons) {
            let places: Vec<Option<usize>> = sides.iter().map(place).collect();
            for piece in pieces.with(&results) {
                let decided = computed.tallies[piece.group].decided.entry(*need).or_default();
                let input = &piece.inputs[0];
                let mut holds: Vec<Option<bool>> = Vec::new();
                for (comparison, place) in sides.iter().zip(&places) {
                    decided.within = decided.within.max(comparison.within());
                    let result = place.and_then(|place| piece.results.get(place));
                    let flags = comparison.flags(input, result, piece.ticks)?;
                    holds = match &holds[..] {
                        [] => flags,
                        other => other.iter().zip(flags).map(|(one, other)| all([*one, other])).collect(),
                    };
                }
                holds.into_iter().for_each(|holds| decided.add(holds, input.window.period.hours()));
            }
        }
        Ok(())
    }

    /// Computes a polynomial or a model: the owner decrypts the values, and compares them with the limits of conditions.
    fn values(
        &self,
        of: &OfReading<'_>,
        Task { spec, pieces, .. }: &Task<'_>,
        computer: &mut Computer<'_>,
        computed: &mut Computed,
        progress: OnProgress<'_>,
    ) -> Result<(), OwnerError> {
        let quantities = [of.curve.quantity.clone()];
        let results = computer.results(&self.device.device, spec, &pieces.parts, &quantities, progress)?;
        for piece in pieces.with(&results) {
            let tally = &mut computed.tallies[piece.group];
            let reals = of.curve.tally(&piece.inputs[0], &piece.results[0], piece.ticks)?;
            for OfCondition { need, condition } in &of.conditions {
                let decided = tally.decided.entry(*need).or_default();
                for Real { from, to, value, bound } in &reals.each {
                    decided.within = decided.within.max(*bound);
                    decided.add(decide(condition, *value, *bound), hours(to - from));
                }
            }
            for Values { need, each } in &of.values {
                tally.reals.entry(*need).or_default().add_all(&reals, *each);
            }
        }
        Ok(())
    }

    /// Returns a part for each window of a batch: values are at single readings, and sums must exclude missing ones.
    fn single(&self, batch: &Batch<'_>) -> Result<Pieces, OwnerError> {
        let ticks = batch.windows[0].layout().ticks();
        let ByGroup { whole, split } = self.by_group(batch);
        let mut pieces = Pieces::default();
        for (group, inputs) in whole {
            pieces.add_whole(group, inputs, ticks, Some(1));
        }
        split.into_iter().for_each(|split| pieces.add_split(split));
        Ok(pieces)
    }
}

fn hours(milliseconds: i64) -> f64 {
    milliseconds as f64 / 3_600_000.0
}
