//! Values that follow from other groups than the row's own: cumulative sums, differences, rates, exponentially weighted means,
//! and those of earlier groups.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::column::{Column, OfDevices, RowTimes};
use super::earlier::EarlierGroups;
use crate::functions::Yields;
use crate::gathered::{Channels, Counted, Gathered};
use crate::language::Duration;
use crate::question::{AlongGroups, Asked, AskedCall, Decay, OfGroups, WithDevices};
use crate::value::{Value, ValueError, ratio};
use crate::windows::RowTime;

/// The values of a call, for each group of a column.
#[derive(Default)]
pub(super) struct OfCall {
    values: Vec<Counted>,
    /// True where no tag shows what the cloud gave for a group that the value follows from.
    untagged: Vec<bool>,
}

/// The values of an answer that follow from other groups than the row's own.
pub(super) struct Series {
    /// By column, result and call; None for a call in the row's own group.
    columns: Vec<Vec<Vec<Option<OfCall>>>>,
}

impl Series {
    /// Computes the values. Groups before the first row are in no sum and no mean along groups.
    pub(super) fn new(
        asked: &Asked<'_>,
        RowTimes { times, hidden: first }: RowTimes<'_>,
        columns: &[Column],
        earlier: &[EarlierGroups],
        channels: &dyn Channels,
    ) -> Self {
        let of_column = |column: &Column| {
            let groups = Groups { times, first, column, earlier, channels };
            let of_result = |calls: &Vec<AskedCall<'_>>| calls.iter().map(|call| groups.of(call)).collect();
            asked.results.iter().map(|result| of_result(&result.calls)).collect()
        };
        Self { columns: columns.iter().map(of_column).collect() }
    }

    /// Returns the values of a result's calls in a column.
    pub(super) fn of(&self, column: usize, result: usize) -> &[Option<OfCall>] {
        &self.columns[column][result]
    }

    /// Returns a note for each mean or sum along groups that passes over groups without a value.
    pub(super) fn notes(&self, asked: &Asked<'_>, columns: &[Column], first: usize) -> Vec<String> {
        let mut notes = Vec::new();
        for (result, at) in asked.results.iter().zip(0..) {
            for (call, of) in result.calls.iter().zip(0..) {
                let OfGroups::Along(along @ (AlongGroups::Cumulative | AlongGroups::Ewma(_))) = call.groups
                else {
                    continue;
                };
                // A call that names its devices has the same values in every row.
                let mut known: BTreeSet<*const OfDevices> = BTreeSet::new();
                let own = |(_, column): &(&Vec<Vec<Option<OfCall>>>, &Column)| {
                    known.insert(Rc::as_ptr(&column.of_call[call.number]))
                };
                let own = self.columns.iter().zip(columns).filter(own);
                let series = own.filter_map(|(series, _)| series[at][of].as_ref());
                let missing = series.flat_map(|series| series.values.iter().skip(first));
                let count = missing.filter(|counted| counted.value.is_err()).count();
                let (groups, have, are) = match count {
                    0 => continue,
                    1 => ("1 group".to_owned(), "has", "is"),
                    count => (format!("{count} groups"), "have", "are"),
                };
                let of = WithDevices(call.call, call.of);
                notes
                    .push(format!("{}({of}): {groups} {have} no value, and {are} passed over", along.word()));
            }
        }
        notes.dedup();
        notes
    }
}

impl OfCall {
    pub(super) fn value(&self, at: usize) -> Counted {
        self.values.get(at).cloned().unwrap_or_else(Counted::nothing)
    }

    pub(super) fn is_untagged(&self, at: usize) -> bool {
        self.untagged.get(at).copied().unwrap_or_default()
    }
}

/// The groups of a column, in order of time.
struct Groups<'g> {
    times: &'g [RowTime],
    first: usize,
    column: &'g Column,
    earlier: &'g [EarlierGroups],
    channels: &'g dyn Channels,
}

impl Groups<'_> {
    fn of(&self, asked: &AskedCall<'_>) -> Option<OfCall> {
        match asked.groups {
            OfGroups::Own | OfGroups::Priced(_) => None,
            OfGroups::Along(along) => self.along(asked, along),
            OfGroups::Earlier(offset) => {
                let of_offset = || self.earlier.iter().filter(|earlier| earlier.offset == offset);
                let first = of_offset().next()?;
                let before = (0..self.first).map(|_| (Counted::nothing(), false));
                let rows = 0..self.times.len() - self.first;
                let shown = rows.map(|row| {
                    let earlier = of_offset().find(|earlier| earlier.has(row)).unwrap_or(first);
                    earlier.value(asked, (self.column, row), self.channels)
                });
                let (values, untagged) = before.chain(shown).unzip();
                Some(OfCall { values, untagged })
            }
        }
    }

    fn along(&self, asked: &AskedCall<'_>, along: &AlongGroups) -> Option<OfCall> {
        let Yields::One(of) = asked.call.of().yields() else { return None };
        let devices = &self.column.of_call[asked.number];
        let gathered = |at: usize| Gathered::new(&devices.tallies[..=at], &asked.needs, self.channels);
        let looks_back = asked.call.syntax().across_groups;
        let tags: Vec<bool> = (0..self.times.len()).map(|at| gathered(at).is_untagged(looks_back)).collect();
        let own: Vec<Counted> = (0..self.times.len()).map(|at| of.value(&gathered(at))).collect();
        let (values, untagged) = match along {
            AlongGroups::Cumulative => (cumulative(&own, self.first), self.any_before(&tags)),
            AlongGroups::Difference => {
                let before = [false].into_iter().chain(tags.iter().copied());
                (differences(&own), tags.iter().zip(before).map(|(one, other)| *one || other).collect())
            }
            AlongGroups::Rate => (rates(&own, &devices.covered), tags),
            AlongGroups::Ewma(decay) => {
                let factors = self.factors(*decay);
                (weighted_means(&own, &factors, self.first), self.any_before(&tags))
            }
        };
        let counted = |(value, own): (Result<Value, ValueError>, &Counted)| Counted { value, ..own.clone() };
        Some(OfCall { values: values.into_iter().zip(&own).map(counted).collect(), untagged })
    }

    /// Returns, for each group, whether any up to it is one of `of`.
    fn any_before(&self, of: &[bool]) -> Vec<bool> {
        let mut any = false;
        let upto = |(at, one): (usize, &bool)| {
            any |= at >= self.first && *one;
            any
        };
        of.iter().enumerate().map(upto).collect()
    }

    /// Returns the factors by which weights fall from each group to the next; 0 before the first.
    fn factors(&self, decay: Decay) -> Vec<f64> {
        let of = |pair: &[RowTime]| match decay {
            Decay::Alpha(alpha) => 1.0 - alpha,
            Decay::HalfLife(time) => half(pair[1].group.from.saturating_sub(pair[0].group.from), time),
        };
        [0.0].into_iter().chain(self.times.windows(2).map(of)).collect()
    }
}

/// Returns the weight that a value keeps after a time, in milliseconds.
fn half(time: i64, half_life: Duration) -> f64 {
    (-(time as f64) / (1000.0 * half_life.seconds() as f64)).exp2()
}

/// A sum of values with its bound, added without loss of the last digits (Neumaier, "Rundungsfehleranalyse einiger Verfahren
/// zur Summation endlicher Summen", 1974).
#[derive(Default)]
struct Total {
    sum: f64,
    lost: f64,
    bound: f64,
    /// Σ |value|.
    size: f64,
    /// False once a value has an error.
    inexact: bool,
    unit: String,
}

impl Total {
    fn add(&mut self, value: &Value) {
        let sum = self.sum + value.value;
        let (large, small) = if self.sum.abs() >= value.value.abs() {
            (self.sum, value.value)
        } else {
            (value.value, self.sum)
        };
        self.lost += (large - sum) + small;
        self.sum = sum;
        self.bound += value.bound;
        self.size += value.value.abs();
        self.inexact |= value.bound > 0.0;
        self.unit.clone_from(&value.unit);
    }

    /// Returns the sum. It is exact if all values are: nobody would read it to more digits.
    fn value(&self) -> Value {
        let rounding = if self.inexact { f64::EPSILON * self.size } else { 0.0 };
        Value { value: self.sum + self.lost, bound: self.bound + rounding, unit: self.unit.clone() }
    }
}

/// Returns the sum of the values from `first` up to each; a group without a value has none, and is not in the sums after it.
fn cumulative(own: &[Counted], first: usize) -> Vec<Result<Value, ValueError>> {
    let mut total = Total::default();
    let mut upto = |(at, counted): (usize, &Counted)| {
        let value = counted.value.as_ref().map_err(Clone::clone)?;
        if at >= first {
            total.add(value);
        }
        Ok(total.value())
    };
    own.iter().enumerate().map(&mut upto).collect()
}

/// Returns each value less the one before it.
fn differences(own: &[Counted]) -> Vec<Result<Value, ValueError>> {
    let of = |at: usize| {
        let value = own[at].value.clone()?;
        let before = at.checked_sub(1).ok_or(ValueError::Undetermined("there is no group before it"))?;
        let before = own[before].value.as_ref();
        let before = before.map_err(|_| ValueError::Undetermined("the group before it has no value"))?;
        let is_exact = value.bound == 0.0 && before.bound == 0.0;
        let difference = value.plus(&before.clone().negated())?;
        Ok(if is_exact { Value { bound: 0.0, ..difference } } else { difference })
    };
    (0..own.len()).map(of).collect()
}

/// Returns each value over the time of its group, in seconds. `covered` has these times in milliseconds.
fn rates(own: &[Counted], covered: &[i64]) -> Vec<Result<Value, ValueError>> {
    let of = |(counted, covered): (&Counted, &i64)| {
        let value = counted.value.clone()?;
        if *covered <= 0 {
            return Err(ValueError::NO_READING);
        }
        let unit = ratio(&value.unit, "s");
        let rate = value.over(&Value::exact(*covered as f64 / 1000.0))?;
        Ok(Value { unit, ..rate })
    };
    own.iter().zip(covered).map(of).collect()
}

/// Returns the mean of the values from `first` up to each. The weight of each falls by the factor of the groups after it, as in
/// pandas' `ewm(adjust=True, ignore_na=False)`.
fn weighted_means(own: &[Counted], factors: &[f64], first: usize) -> Vec<Result<Value, ValueError>> {
    // `size` is the sum of weight · |value|.
    let (mut weights, mut sum, mut bounds, mut size, mut count) = (0.0, 0.0, 0.0, 0.0, 0u32);
    let mut upto = |(at, (counted, factor)): (usize, (&Counted, &f64))| {
        for part in [&mut weights, &mut sum, &mut bounds, &mut size] {
            *part *= factor;
        }
        let value = counted.value.as_ref().map_err(Clone::clone)?;
        if at >= first {
            weights += 1.0;
            sum += value.value;
            bounds += value.bound;
            size += value.value.abs();
            count += 1;
        }
        let mean: f64 = sum / weights;
        // A term is rounded twice for each group after it.
        let rounding = f64::EPSILON * f64::from(2 * count + 2) * size / weights;
        Ok(Value { value: mean, bound: bounds / weights + rounding, unit: value.unit.clone() })
    };
    own.iter().zip(factors).enumerate().map(&mut upto).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn counted(value: Option<(f64, f64)>) -> Counted {
        let of = |(value, bound)| Value { value, bound, unit: "kWh".to_owned() };
        Counted { value: value.map(of).ok_or(ValueError::NO_READING), count: 1, missing: 0 }
    }

    fn values(own: &[Option<(f64, f64)>]) -> Vec<Counted> {
        own.iter().copied().map(counted).collect()
    }

    #[test]
    fn exact_values_have_exact_sums_and_differences() {
        let own = values(&[Some((0.1, 0.0)), Some((0.2, 0.0)), None, Some((1e15, 0.0)), Some((0.3, 0.0))]);
        let sums: Vec<Option<(f64, f64)>> =
            cumulative(&own, 0).into_iter().map(|sum| sum.ok().map(|sum| (sum.value, sum.bound))).collect();
        assert_eq!(sums[2], None, "as in pandas' cumsum");
        assert_eq!(sums[4], Some((1e15 + 0.6, 0.0)), "the tenths are not lost");
        assert!((sums[1].expect("a sum").0 - 0.3).abs() < 1e-16);
        let apart = differences(&own);
        assert_eq!(apart[1].clone().map(|value| (value.value, value.bound)), Ok((0.1, 0.0)));
        for (at, why) in
            [(0, "no group before it"), (2, "no reading"), (3, "the group before it has no value")]
        {
            assert!(apart[at].clone().unwrap_err().to_string().contains(why), "{at}");
        }
    }

    #[test]
    fn groups_before_the_first_row_are_in_no_sum() {
        let own = values(&[Some((5.0, 0.5)), Some((1.0, 0.5)), Some((2.0, 0.5))]);
        let sums = cumulative(&own, 1);
        assert_eq!(sums[2].clone().map(|sum| sum.value), Ok(3.0));
        assert!((sums[2].clone().expect("a sum").bound - 1.0).abs() < 1e-9);
        assert_eq!(differences(&own)[1].clone().map(|value| value.value), Ok(-4.0));
        assert_eq!(weighted_means(&own, &[0.0, 0.5, 0.5], 1)[1].clone().map(|value| value.value), Ok(1.0));
    }

    #[test]
    fn a_rate_is_by_the_second() {
        let found = &rates(&values(&[Some((7.2, 0.036)), Some((1.0, 0.0))]), &[3_600_000, 0]);
        let rate = found[0].clone().expect("a rate");
        assert!(
            (rate.value - 0.002).abs() < 1e-15 && (rate.bound - 1e-5).abs() < 1e-12 && rate.unit == "kWh/s"
        );
        assert_eq!(found[1], Err(ValueError::NO_READING));
    }

    proptest! {
        /// The plain sums of the definition.
        #[test]
        fn every_value_is_that_of_the_definition_and_within_its_bound(
            own in prop::collection::vec(prop::option::weighted(0.8, (-1e3..1e3f64, 0.0..2.0f64, -1.0..1.0f64)), 1..20),
            alpha in 0.05..=1.0f64, first in 0usize..3,
        ) {
            let first = first.min(own.len());
            let given = values(&own.iter().map(|of| of.map(|(value, bound, _)| (value, bound))).collect::<Vec<_>>());
            let truth: Vec<Option<f64>> = own.iter().map(|of| of.map(|(value, bound, off)| value + off * bound)).collect();
            let factors: Vec<f64> = (0..own.len()).map(|_| 1.0 - alpha).collect();
            let (sums, means) = (cumulative(&given, first), weighted_means(&given, &factors, first));
            for at in first..own.len() {
                if truth[at].is_none() {
                    prop_assert!(sums[at].is_err() && means[at].is_err());
                    continue;
                }
                let there = (first..=at).filter_map(|other| Some((truth[other]?, (1.0 - alpha).powi((at - other) as i32))));
                let (sum, top, bottom) = there.fold((0.0, 0.0, 0.0), |(sum, top, bottom), (value, weight)| {
                    (sum + value, top + weight * value, bottom + weight)
                });
                let within = |found: &Result<Value, ValueError>, truth: f64| {
                    found.as_ref().is_ok_and(|found| (found.value - truth).abs() <= found.bound + 1e-9)
                };
                prop_assert!(within(&sums[at], sum), "{} {:?} {}", at, sums[at], sum);
                prop_assert!(within(&means[at], top / bottom), "{} {:?} {}", at, means[at], top / bottom);
            }
        }
    }
}
