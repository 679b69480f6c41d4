//! The distribution of readings, known up to bins: counts above a limit, extremes, quantiles, histograms.
//!
//! Each bin says how many readings lie between two values. An answer that the bins do not determine is an interval: its
//! middle is the value, and half of its width the bound. Readings here are the values that the device encrypted, rounded
//! to the resolution.

use sotto_pack::{ChannelBins, Period, Quantiser};

use super::between::Between;
use crate::language::{Comparison, Condition, all};
use crate::value::{Value, ValueError};

/// Distance from a limit, in steps of the resolution, within which a reading is equal to it.
const NEAR: f64 = 1e-6;

/// Readings between two values.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Bin {
    /// The smallest possible reading.
    low: f64,
    /// The largest possible reading.
    high: f64,
    count: u64,
    /// The count times the period, in hours.
    hours: f64,
}

/// The readings of one channel in a group, by bin.
///
/// ```
/// use sotto_owner::distribution::Distribution;
/// use sotto_pack::{ChannelBins, Period, Quantiser};
/// use sotto_owner::question::{Comparison, Condition};
///
/// let boiler = Quantiser::with_resolution(-20.0, 120.0, 0.1)?;
/// let edges = [ChannelBins::above(&boiler, 80.0), ChannelBins::above(&boiler, 90.0)];
/// let bins = ChannelBins::new(0, edges, &boiler);
/// // Of readings every minute 50 were at most 80 °C, 8 at most 90 °C, and 2 above.
/// let of_day = Distribution::of_counts(&boiler, &bins, &[50, 8, 2], Period::from_milliseconds(60_000));
/// let hot = of_day.count_where(&Condition::new("boiler", Comparison::Greater, 80.0));
/// assert_eq!((hot.value, hot.bound), (10.0, 0.0));
/// let warm = of_day.count_where(&Condition::new("boiler", Comparison::Greater, 85.0));
/// assert_eq!((warm.value, warm.bound), (6.0, 4.0), "2 to 10");
/// assert!((of_day.maximum("°C").unwrap().ends().1 - 120.05).abs() < 1e-9);
/// # Ok::<(), sotto_pack::RangeError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// Bins with readings, in the order of their ends.
    bins: Vec<Bin>,
    /// The largest rounding error of a reading.
    error: f64,
    /// The largest step of the resolution.
    step: f64,
}

impl Distribution {
    /// Makes a distribution from the counts of a channel's bins. `period` is the time between readings.
    #[must_use]
    pub fn of_counts(quantiser: &Quantiser, bins: &ChannelBins, counts: &[u64], period: Period) -> Self {
        let of = |((low, high), count): ((i64, i64), &u64)| (low, high, *count);
        Self::of(quantiser, bins.ends(quantiser).zip(counts).map(of), period)
    }

    /// Makes a distribution from quantised readings.
    #[must_use]
    pub fn of_readings(
        quantiser: &Quantiser,
        readings: impl IntoIterator<Item = i64>,
        period: Period,
    ) -> Self {
        let mut counts = std::collections::BTreeMap::new();
        readings.into_iter().for_each(|q| *counts.entry(q).or_default() += 1);
        Self::of(quantiser, counts.into_iter().map(|(q, count)| (q, q, count)), period)
    }

    fn of(quantiser: &Quantiser, bins: impl Iterator<Item = (i64, i64, u64)>, period: Period) -> Self {
        let hours = period.hours();
        let bin = |(low, high, count): (i64, i64, u64)| Bin {
            low: quantiser.sum(1, low.into()),
            high: quantiser.sum(1, high.into()),
            count,
            hours: hours * count as f64,
        };
        let bins = bins.filter(|(.., count)| *count > 0).map(bin).collect();
        Self { bins, error: quantiser.value_error(), step: quantiser.step() }
    }

    /// Returns the distribution of readings that were not rounded.
    pub(crate) fn exact(self) -> Self {
        Self { error: 0.0, ..self }
    }

    /// Adds the readings of `other`.
    pub fn merge(&mut self, other: &Self) {
        self.bins.extend(&other.bins);
        self.bins.sort_by(|a, b| a.low.total_cmp(&b.low).then(a.high.total_cmp(&b.high)));
        self.bins.dedup_by(|next, kept| {
            let same = (next.low, next.high) == (kept.low, kept.high);
            if same {
                kept.count += next.count;
                kept.hours += next.hours;
            }
            same
        });
        self.error = self.error.max(other.error);
        self.step = self.step.max(other.step);
    }

    /// Returns the number of readings.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.bins.iter().map(|bin| bin.count).sum()
    }

    /// Returns the number of readings for which a condition holds.
    #[must_use]
    pub fn count_where(&self, condition: &Condition) -> Value {
        self.total(|bin| self.holds(bin, condition), |bin| bin.count as f64)
    }

    /// Returns the hours during which a condition held: a reading stands for one period.
    ///
    /// # Errors
    /// [`ValueError`] if there are no readings.
    pub fn time_where(&self, condition: &Condition) -> Result<Value, ValueError> {
        self.some()?;
        let time = self.total(|bin| self.holds(bin, condition), |bin| bin.hours);
        Ok(Value { unit: "h".to_owned(), ..time })
    }

    /// Returns the part of the readings for which a condition holds, 0 to 1.
    ///
    /// # Errors
    /// [`ValueError`] if there are no readings.
    pub fn share_where(&self, condition: &Condition) -> Result<Value, ValueError> {
        self.some()?;
        self.count_where(condition).over(&Value::exact(self.count() as f64))
    }

    /// Returns the smallest reading.
    ///
    /// # Errors
    /// [`ValueError`] if there are no readings.
    pub fn minimum(&self, unit: &str) -> Result<Value, ValueError> {
        self.ranked(1, unit)
    }

    /// Returns the largest reading.
    ///
    /// # Errors
    /// [`ValueError`] if there are no readings.
    pub fn maximum(&self, unit: &str) -> Result<Value, ValueError> {
        self.ranked(self.count(), unit)
    }

    /// Returns the smallest reading that at least this share of the readings does not exceed.
    ///
    /// # Errors
    /// [`ValueError`] if there are no readings.
    pub fn quantile(&self, share: f64, unit: &str) -> Result<Value, ValueError> {
        let count = self.count();
        // Slightly less, so that 0.95 of 20 readings are 19 in spite of f64's rounding.
        let rank = (share * count as f64 - 1e-9).ceil().max(1.0) as u64;
        self.ranked(rank.min(count), unit)
    }

    /// Returns the number of readings in each bin between two neighbouring edges. A reading at an edge belongs to the
    /// bin above it, at the last edge to the last bin. Range: `edges` are ascending.
    #[must_use]
    pub fn histogram(&self, edges: &[f64]) -> Vec<Value> {
        let last = edges.len().saturating_sub(2);
        let of_bin = |(at, ends): (usize, &[f64])| {
            let near = self.near();
            let is_in = |value: f64| {
                let below = value < ends[1] - near || (at == last && value <= ends[1] + near);
                value >= ends[0] - near && below
            };
            let state = |bin: &Bin| {
                if is_in(bin.low) && is_in(bin.high) {
                    return Some(true);
                }
                let apart = bin.high < ends[0] - near || bin.low > ends[1] + near;
                let below_end = !apart && !is_in(bin.low) && bin.low >= ends[1] - near;
                if apart || below_end { Some(false) } else { None }
            };
            self.total(state, |bin| bin.count as f64)
        };
        edges.windows(2).enumerate().map(of_bin).collect()
    }

    /// Returns the total over the bins of which `state` is true, with half of those of which it is not known.
    fn total(&self, state: impl Fn(&Bin) -> Option<bool>, of: impl Fn(&Bin) -> f64) -> Value {
        let (mut sure, mut open) = (0.0, 0.0);
        for bin in &self.bins {
            match state(bin) {
                Some(true) => sure += of(bin),
                Some(false) => {}
                None => open += of(bin),
            }
        }
        Value { value: sure + open / 2.0, bound: open / 2.0, unit: String::new() }
    }

    fn near(&self) -> f64 {
        NEAR * self.step
    }

    /// Returns whether a condition holds for the readings of a bin; None if it may hold for some.
    fn holds(&self, bin: &Bin, condition: &Condition) -> Option<bool> {
        let near = self.near();
        let side = |(comparison, limit): (Comparison, f64)| {
            // A reading on the grid that is next to the limit is equal to it.
            let on_grid = |value: f64| if (value - limit).abs() <= near { limit } else { value };
            comparison.decides(on_grid(bin.low), on_grid(bin.high), limit)
        };
        all(condition.sides().map(side))
    }

    fn some(&self) -> Result<(), ValueError> {
        if self.bins.is_empty() { Err(ValueError::NO_READING) } else { Ok(()) }
    }

    /// Returns the reading of this rank, 1 for the smallest. Range: 1 to the count.
    fn ranked(&self, rank: u64, unit: &str) -> Result<Value, ValueError> {
        self.between(rank).map(|reading| reading.value(unit)).ok_or(ValueError::NO_READING)
    }

    /// Returns the values between which the reading of this rank lies; None if there are no readings.
    pub(super) fn between(&self, rank: u64) -> Option<Between> {
        self.some().ok()?;
        let of_rank = |end: fn(&Bin) -> f64| {
            let mut ends: Vec<(f64, u64)> = self.bins.iter().map(|bin| (end(bin), bin.count)).collect();
            ends.sort_by(|a, b| a.0.total_cmp(&b.0));
            let mut before = 0;
            let reached = ends.iter().find(|(_, count)| {
                before += count;
                before >= rank
            });
            reached.or(ends.last()).map_or(0.0, |(end, _)| *end)
        };
        // Replacing every reading by the lower end of its bin lowers each rank, by the upper end raises it.
        let (low, high) = (of_rank(|bin| bin.low), of_rank(|bin| bin.high));
        Some(Between { low, high, error: self.error })
    }
}

/// Returns the edges of equal bins over a range.
pub(crate) fn equal_edges(minimum: f64, maximum: f64, count: u32) -> Vec<f64> {
    let width = (maximum - minimum) / f64::from(count.max(1));
    let mut edges: Vec<f64> = (0..=count).map(|bin| minimum + f64::from(bin) * width).collect();
    if let Some(last) = edges.last_mut() {
        *last = maximum;
    }
    edges
}

/// Returns the first number of each bin that a condition separates from the one below.
pub(crate) fn edges(quantiser: &Quantiser, comparison: Comparison, limit: f64) -> Vec<i64> {
    let (from, above) = (ChannelBins::from(quantiser, limit), ChannelBins::above(quantiser, limit));
    match comparison {
        Comparison::Greater | Comparison::AtMost => vec![above],
        Comparison::AtLeast | Comparison::Less => vec![from],
        Comparison::Equal | Comparison::Differs => vec![from, above],
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn quantiser() -> Quantiser {
        Quantiser::with_resolution(-20.0, 120.0, 0.1).expect("a range")
    }

    /// Returns quantised readings, and the readings of the grid that they stand for.
    fn readings() -> impl Strategy<Value = Vec<i64>> {
        prop::collection::vec(-700..=700i64, 1..80)
    }

    fn comparison() -> impl Strategy<Value = Comparison> {
        prop::sample::select(&Comparison::ALL[..])
    }

    proptest! {
        #[test]
        fn every_answer_contains_the_truth(
            readings in readings(), edges in prop::collection::vec(-720..=720i64, 0..12),
            tenths in -250..=1250i32, comparison in comparison(), share in 0.0..=1.0f64, fine in any::<bool>(),
            cut in 0usize..80,
        ) {
            let quantiser = quantiser();
            let bins = ChannelBins::new(0, edges, &quantiser);
            let of = |some: &[i64]| {
                if fine {
                    return Distribution::of_readings(&quantiser, some.iter().copied(), Period::from_milliseconds(60_000));
                }
                let mut counts = vec![0; bins.count()];
                some.iter().for_each(|q| counts[bins.of(*q)] += 1);
                Distribution::of_counts(&quantiser, &bins, &counts, Period::from_milliseconds(60_000))
            };
            let (first, second) = readings.split_at(cut.min(readings.len()));
            let mut found = of(first);
            found.merge(&of(second));
            let contains = |value: &Value, truth: f64| (value.value - truth).abs() <= value.bound + 1e-9;
            prop_assert_eq!(found.count(), readings.len() as u64);
            // The clear readings are tenths: compared as whole numbers.
            let clear: Vec<i32> = readings.iter().map(|q| *q as i32 + 500).collect();
            let limit = f64::from(tenths) / 10.0;
            let truth = clear.iter().filter(|reading| comparison.holds(f64::from(**reading), f64::from(tenths))).count();
            let condition = Condition::new("x", comparison, limit);
            let counted = found.count_where(&condition);
            prop_assert!(contains(&counted, truth as f64), "{counted:?} {truth}");
            if fine {
                prop_assert_eq!(counted.bound, 0.0);
            }
            let time = found.time_where(&condition).expect("readings");
            prop_assert!(contains(&time, truth as f64 / 60.0));
            let part = found.share_where(&condition).expect("readings");
            prop_assert!(contains(&part, truth as f64 / readings.len() as f64));
            // Between two limits, of which one or both belong to it.
            let (from, to) = (Comparison::AtLeast, if tenths % 2 == 0 { Comparison::Less } else { Comparison::AtMost });
            let between = Condition::new("x", to, limit + 7.3).and_from(from, limit);
            let is_in = |reading: &&i32| **reading >= tenths && to.holds(f64::from(**reading), f64::from(tenths + 73));
            let truth = clear.iter().filter(is_in).count();
            let counted = found.count_where(&between);
            prop_assert!(contains(&counted, truth as f64), "{counted:?} {truth}");
            if fine {
                prop_assert_eq!(counted.bound, 0.0);
            }
            let mut sorted = clear.clone();
            sorted.sort_unstable();
            let at = |rank: usize| f64::from(sorted[rank - 1]) / 10.0;
            prop_assert!(contains(&found.minimum("").expect("readings"), at(1)));
            prop_assert!(contains(&found.maximum("").expect("readings"), at(sorted.len())));
            let rank = ((share * sorted.len() as f64 - 1e-9).ceil().max(1.0)) as usize;
            prop_assert!(contains(&found.quantile(share, "").expect("readings"), at(rank)));
            let edges = [-20.0, -3.3, 0.0, 41.7, 80.0, 120.0];
            for (at, (value, ends)) in found.histogram(&edges).iter().zip(edges.windows(2)).enumerate() {
                let tenths = |edge: f64| (edge * 10.0).round() as i32;
                let truth = clear.iter().filter(|reading| {
                    **reading >= tenths(ends[0])
                        && (**reading < tenths(ends[1]) || (at == 4 && **reading == tenths(ends[1])))
                }).count();
                prop_assert!(contains(value, truth as f64), "{at} {value:?} {truth}");
                if fine {
                    prop_assert_eq!(value.bound, 0.0);
                }
            }
        }
    }

    #[test]
    fn bins_of_the_question_give_exact_counts() {
        let quantiser = quantiser();
        let edges = equal_edges(-20.0, 120.0, 16);
        let bins = ChannelBins::new(0, ChannelBins::equal(&quantiser, -20.0, 120.0, 16), &quantiser);
        let counts: Vec<u64> = (1..=16).collect();
        let found = Distribution::of_counts(&quantiser, &bins, &counts, Period::from_milliseconds(1000))
            .histogram(&edges);
        let expected: Vec<(f64, f64)> = (1..=16).map(|count| (f64::from(count), 0.0)).collect();
        assert_eq!(found.iter().map(|value| (value.value, value.bound)).collect::<Vec<_>>(), expected);
        assert!(Distribution::default().maximum("").is_err());
    }
}
