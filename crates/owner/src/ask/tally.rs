//! Intermediate results for a group of a device's readings: moments, pairs, weighted sums, values of polynomials and
//! models.

use std::collections::BTreeMap;
use std::ops::Range;

use sotto_pack::{ChannelBins, Layout, Presence};
use sotto_program::question::Weights;

use super::decided::Decided;
use super::group::Group;
use super::windows::{Window, position};
use crate::compute::{Input, LARGEST_WEIGHT, Quantity, TickWeights};
use crate::distribution::Distribution;
use crate::error::OwnerError;
use crate::moments::{Moments, Pair};
use crate::open::Numbers;
use crate::value::{Value, ValueError};

/// All intermediate results of one group, for one device or several.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tally {
    pub(crate) channels: BTreeMap<String, Moments>,
    /// Pairs by the names of the two channels, the smaller first.
    pub(crate) pairs: BTreeMap<(String, String), Pair>,
    /// Weighted sums by the text of the call.
    pub(crate) weighted: BTreeMap<String, Weighted>,
    /// Reals by the text of the call's reading.
    pub(crate) reals: BTreeMap<String, Reals>,
    /// Conditions on polynomials and models by their text.
    pub(crate) conditions: BTreeMap<String, Decided>,
    /// Number of ticks at which a channel could have a reading.
    pub(crate) expected: BTreeMap<String, u64>,
    /// Σ reading · period in hours by channel, with a bound on its error.
    pub(crate) energy: BTreeMap<String, (f64, f64)>,
    /// The distribution of a channel's readings.
    pub(crate) distributions: BTreeMap<String, Distribution>,
}

/// A weighted sum in progress. Its weights approximate those of the question by whole numbers.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Weighted {
    pub(crate) count: u64,
    /// Σ w · x over the readings present.
    pub(crate) sum: f64,
    /// Σ w over the readings present.
    pub(crate) weight: f64,
    /// Σ |w| over the readings present.
    pub(crate) size: f64,
    /// Σ |w − W| over the readings present, with W the weights of the question.
    pub(crate) rounded: f64,
    /// The declared range.
    pub(crate) range: (f64, f64),
    pub(crate) error: f64,
    /// The total of the question's weights.
    pub(crate) total: f64,
}

/// Values of a polynomial or a model, each with its time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reals {
    pub(crate) count: u64,
    pub(crate) sum: f64,
    /// Sum of the bounds of the single values.
    pub(crate) bound: f64,
    /// (from, to, value, bound); collected only if the question asks for single values.
    pub(crate) each: Vec<(i64, i64, f64, f64)>,
}

impl Tally {
    /// Adds the results of `other`.
    pub(crate) fn merge(&mut self, other: &Self) {
        for (name, moments) in &other.channels {
            let entry = self.channels.entry(name.clone()).or_insert(Moments { count: 0, ..*moments });
            *entry = entry.merge(moments);
        }
        for (name, pair) in &other.pairs {
            let merged = self.pairs.get(name).map_or(*pair, |known| known.merge(pair));
            self.pairs.insert(name.clone(), merged);
        }
        for (name, weighted) in &other.weighted {
            self.weighted.entry(name.clone()).or_default().merge(weighted);
        }
        for (name, reals) in &other.reals {
            self.reals.entry(name.clone()).or_default().merge(reals);
        }
        for (name, decided) in &other.conditions {
            self.conditions.entry(name.clone()).or_default().merge(decided);
        }
        for (name, expected) in &other.expected {
            *self.expected.entry(name.clone()).or_default() += expected;
        }
        for (name, (value, bound)) in &other.energy {
            let entry = self.energy.entry(name.clone()).or_default();
            *entry = (entry.0 + value, entry.1 + bound);
        }
        for (name, distribution) in &other.distributions {
            self.distributions.entry(name.clone()).or_default().merge(distribution);
        }
    }
}

impl Reals {
    /// Adds the values of `other`.
    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        self.sum += other.sum;
        self.bound += other.bound;
        self.each.extend(&other.each);
    }
}

impl Weighted {
    fn merge(&mut self, other: &Self) {
        if self.count == 0 {
            *self = *other;
            return;
        }
        if other.count == 0 {
            return;
        }
        self.count += other.count;
        self.sum += other.sum;
        self.weight += other.weight;
        self.size += other.size;
        self.rounded += other.rounded;
        self.range = (self.range.0.min(other.range.0), self.range.1.max(other.range.1));
        self.error = self.error.max(other.error);
    }

    /// Returns total · Σ w·x / Σ w: the readings present share the weights of the missing ones.
    ///
    /// The bound has two parts. Each reading is off by at most h. The weights a = w/Σw differ from the question's
    /// weights b = W/ΣW; as Σ a = Σ b = 1, the difference multiplies only a reading's distance from the middle of its
    /// range:
    /// |Σ (a − b)(x − middle)| ≤ half the range · Σ|a − b|, and Σ|a − b| ≤ Σ|w − W| · (1 + Σ|w|/|Σw|) / (|Σw| − Σ|w −
    /// W|).
    pub(crate) fn value(&self, unit: &str) -> Result<Value, ValueError> {
        if self.count == 0 {
            return Err(ValueError::Undetermined("there is no reading"));
        }
        let sure = self.weight.abs() - self.rounded;
        if sure <= 1e-9 * self.size || sure <= 0.0 {
            return Err(ValueError::Undetermined("the weights of the readings that are there cancel out"));
        }
        let (low, high) = self.range;
        let half_range = (high - low) / 2.0;
        let apart = self.rounded * (1.0 + self.size / self.weight.abs()) / sure;
        let value = self.total * self.sum / self.weight;
        let rounding = 1e-12 * low.abs().max(high.abs()) * (self.size / self.weight.abs());
        let bound =
            self.total.abs() * (self.error * self.size / self.weight.abs() + apart * half_range + rounding);
        Ok(Value { value, bound, unit: unit.to_owned() })
    }
}

/// The weights of a group's ticks: those of the question, and their approximation by whole numbers.
#[derive(Clone, Debug)]
pub(crate) struct GroupWeights {
    /// The question's weights, one per tick.
    asked: Vec<f64>,
    whole: TickWeights,
    scale: f64,
    total: f64,
}

impl GroupWeights {
    /// Computes the weights for a group of `ticks` ticks.
    ///
    /// A list of weights divides the group into equal parts and spreads each weight evenly over its part, so the
    /// weights of all ticks add up to those of the list. A half-life counts back from tick `until`, the end of the
    /// readings; its weights add up to 1.
    ///
    /// # Errors
    /// [`OwnerError::Unanswerable`] if there are more than [`MOST_TICKS`] ticks.
    pub(crate) fn new(
        channel: u16,
        weights: &Weights,
        (ticks, until): (u32, u32),
        period: u32,
    ) -> Result<Self, OwnerError> {
        let (ticks, until) = (ticks.max(1) as usize, until.max(1) as usize);
        if ticks > MOST_TICKS {
            return Err(OwnerError::Unanswerable(format!(
                "a weighted sum over {ticks} readings is too long ({MOST_TICKS} at most): ask by day, week or month, or for a shorter time"
            )));
        }
        let asked: Vec<f64> = match weights {
            Weights::Each(list) => spread(list, ticks),
            Weights::HalfLife(time) => {
                let half_life = 1000.0 * time.seconds() as f64;
                let raw = |tick: usize| {
                    let before_end = (until - 1 - tick) as f64 * f64::from(period);
                    (-before_end / half_life * std::f64::consts::LN_2).exp()
                };
                let total: f64 = (0..until).map(raw).sum();
                (0..until).map(|tick| raw(tick) / total).collect()
            }
        };
        let largest = asked.iter().fold(0.0, |most: f64, weight| most.max(weight.abs()));
        let scale = if largest > 0.0 { LARGEST_WEIGHT as f64 / largest } else { 1.0 };
        let whole = asked.iter().map(|weight| (weight * scale).round() as i64).collect();
        let total = asked.iter().sum();
        Ok(Self { asked, whole: TickWeights { channel, weights: whole }, scale, total })
    }

    pub(crate) fn quantity(&self) -> Quantity {
        Quantity::Weighted(self.whole.clone())
    }

    /// Converts a part's decrypted Σ w·q to a weighted sum.
    fn tally(&self, inputs: &[Input], layout: &Layout, sum: i128) -> Option<Weighted> {
        let quantiser = layout.quantiser(self.whole.channel)?;
        let channel = &layout.channels()[usize::from(self.whole.channel)];
        let mut weighted = Weighted {
            range: (channel.minimum, channel.maximum),
            error: quantiser.value_error(),
            total: self.total,
            ..Weighted::default()
        };
        for input in inputs {
            for tick in input.window.presence(self.whole.channel)?.iter() {
                let at = input.offset.saturating_add(tick) as usize;
                let whole = self.whole.weights.get(at).copied().unwrap_or_default() as f64 / self.scale;
                let asked = self.asked.get(at).copied().unwrap_or_default();
                weighted.count += 1;
                weighted.weight += whole;
                weighted.size += whole.abs();
                weighted.rounded += (whole - asked).abs();
            }
        }
        weighted.sum = quantiser.centre() * weighted.weight + quantiser.step() * sum as f64 / self.scale;
        Some(weighted)
    }
}

/// Largest number of ticks in a group with weights.
const MOST_TICKS: usize = 1 << 22;

/// Spreads each weight of a list evenly over its share of the ticks. A tick at the boundary of two shares gets a part
/// of both.
fn spread(list: &[f64], ticks: usize) -> Vec<f64> {
    let (shares, mut asked) = (list.len(), vec![0.0; ticks]);
    for (share, weight) in list.iter().enumerate() {
        // In units of 1/(ticks · shares): the share covers share · ticks to (share + 1) · ticks, the tick covers tick ·
        // shares to (tick + 1) · shares.
        let (from, to) = (share * ticks, (share + 1) * ticks);
        for (tick, asked) in asked.iter_mut().enumerate().take(to.div_ceil(shares)).skip(from / shares) {
            let overlap = to.min((tick + 1) * shares) - from.max(tick * shares);
            *asked += weight * overlap as f64 / ticks as f64;
        }
    }
    asked
}

/// Returns the sum over a channel's slots of a result, at some ticks.
pub(super) fn total(
    numbers: &Numbers,
    layout: &Layout,
    channel: u16,
    ticks: &Range<u32>,
) -> Result<i128, OwnerError> {
    let Numbers::Whole(numbers) = numbers else { return Err(wrong("whole numbers were expected")) };
    let slots = ticks.clone().filter_map(|tick| layout.slot(channel, tick));
    Ok(slots.map(|slot| i128::from(numbers.get(slot).copied().unwrap_or_default())).sum())
}

pub(super) fn wrong(reason: &str) -> OwnerError {
    OwnerError::WrongAnswer(reason.to_owned())
}

/// Returns the number of readings of windows at some ticks.
fn count(
    inputs: &[Input],
    layout: &Layout,
    (presence, channel): (impl Fn(&Input) -> Option<Presence>, u16),
    ticks: &Range<u32>,
) -> Result<u64, OwnerError> {
    let of = |input: &Input| match presence(input) {
        Some(presence) => Some(ticks.clone().filter(|tick| presence.contains(*tick)).count() as u64),
        None if *ticks == (0..layout.ticks()) => Some(u64::from(input.window.present[usize::from(channel)])),
        None => None,
    };
    let count: Option<u64> = inputs.iter().map(of).sum();
    count.ok_or_else(|| wrong("the device does not say which readings are missing"))
}

/// Returns the number of readings of a channel in windows at some ticks.
pub(super) fn readings_in(
    inputs: &[Input],
    layout: &Layout,
    ticks: &Range<u32>,
    channel: u16,
) -> Result<u64, OwnerError> {
    count(inputs, layout, (|input: &Input| input.window.presence(channel), channel), ticks)
}

/// Refuses sums that no readings in the declared range can have; then the key, the layout or the answer is wrong.
fn possible(count: u64, top: i64, sum: i128, squares: Option<i128>) -> Result<(), OwnerError> {
    let (count, top) = (i128::from(count), i128::from(top));
    let sums = sum.abs() <= count * top;
    let squares = squares
        .is_none_or(|squares| (0..=count * top * top).contains(&squares) && count * squares >= sum * sum);
    if sums && squares { Ok(()) } else { Err(wrong("no readings of the declared range have these sums")) }
}

/// The results of a part, as sums by channel.
pub(crate) struct ExactResults<'r> {
    pub(crate) layout: &'r Layout,
    pub(crate) inputs: &'r [Input],
    pub(crate) quantities: &'r [Quantity],
    pub(crate) results: &'r [(Numbers, f64)],
    /// The ticks of the windows that belong to the group: all of them, or some of a single window that crosses the
    /// group's end.
    pub(crate) ticks: Range<u32>,
    /// The channels whose readings are compared.
    pub(crate) compared: &'r Compared,
}

/// The channels whose distribution a batch's calls need.
#[derive(Clone, Debug, Default)]
pub(crate) struct Compared {
    pub(crate) channels: Vec<u16>,
    /// The bins of the windows that count readings.
    pub(crate) bins: Vec<ChannelBins>,
    /// True if every window comes by itself, and its readings are compared: its bins do not answer the question.
    pub(crate) each: bool,
}

impl Compared {
    fn bins_of(&self, channel: u16) -> Option<&ChannelBins> {
        self.bins.iter().find(|bins| bins.channel == channel)
    }
}

impl ExactResults<'_> {
    fn of(&self, quantity: &Quantity) -> Option<&Numbers> {
        let at = self.quantities.iter().position(|other| other == quantity)?;
        self.results.get(at).map(|(numbers, _)| numbers)
    }

    /// Adds the moments of every channel, and the computed pairs and weighted sums.
    pub(crate) fn add_to(
        &self,
        tally: &mut Tally,
        pairs: &[(String, String)],
        weights: &[(String, GroupWeights)],
    ) -> Result<(), OwnerError> {
        if let Some(sums) = self.of(&Quantity::Sum) {
            let squares = self.of(&Quantity::Square);
            for (at, channel) in (0u16..).zip(self.layout.channels()) {
                let moments = self.moments(at, sums, squares)?;
                if let Ok(sum) = moments.sum("") {
                    let period = self.inputs.first().map_or(0, |input| input.window.period);
                    let hours = f64::from(period) / 3_600_000.0;
                    let energy = tally.energy.entry(channel.name.clone()).or_default();
                    *energy = (energy.0 + hours * sum.value, energy.1 + hours * sum.bound);
                }
                let entry = tally.channels.entry(channel.name.clone());
                let known = entry.or_insert(Moments { count: 0, ..moments });
                *known = known.merge(&moments);
            }
        }
        for (x, y) in pairs {
            if let Some(pair) = self.pair(x, y)? {
                let key = (x.clone(), y.clone());
                let merged = tally.pairs.get(&key).map_or(pair, |known| known.merge(&pair));
                tally.pairs.insert(key, merged);
            }
        }
        for (name, weights) in weights {
            if let Some(numbers) = self.of(&weights.quantity()) {
                let sum = total(numbers, self.layout, weights.whole.channel, &self.ticks)?;
                let weighted = weights.tally(self.inputs, self.layout, sum);
                let weighted =
                    weighted.ok_or_else(|| wrong("the device does not say which readings are missing"))?;
                tally.weighted.entry(name.clone()).or_default().merge(&weighted);
            }
        }
        for channel in &self.compared.channels {
            let distribution = self.distribution(*channel)?;
            let name = self.layout.channels()[usize::from(*channel)].name.clone();
            tally.distributions.entry(name).or_default().merge(&distribution);
        }
        Ok(())
    }

    /// Returns the distribution of a channel's readings: from the counts of the windows' bins, or from the readings of a
    /// single window.
    fn distribution(&self, channel: u16) -> Result<Distribution, OwnerError> {
        let quantiser = self.layout.quantiser(channel).ok_or_else(|| wrong("whole numbers were expected"))?;
        let period = self.inputs.first().map_or(0, |input| input.window.period);
        let present = self.count(|input| input.window.presence(channel), channel)?;
        let whole = self.ticks == (0..self.layout.ticks());
        let counts = self.of(&Quantity::Counts(channel)).zip(self.compared.bins_of(channel));
        if let Some((counts, bins)) = counts.filter(|_| whole && !self.compared.each) {
            let Numbers::Whole(counts) = counts else { return Err(wrong("whole numbers were expected")) };
            let counts: Option<Vec<u64>> = counts.iter().map(|count| u64::try_from(*count).ok()).collect();
            let counts = counts.filter(|counts| counts.iter().sum::<u64>() == present);
            let counts =
                counts.ok_or_else(|| wrong("the counts of the bins are not those of the readings"))?;
            return Ok(Distribution::of_counts(quantiser, bins, &counts, period));
        }
        let ([input], Some(Numbers::Whole(numbers))) = (self.inputs, self.of(&Quantity::Sum)) else {
            return Err(wrong("the readings of a window are missing"));
        };
        let presence = input.window.presence(channel);
        let presence = presence.ok_or_else(|| wrong("the device does not say which readings are missing"))?;
        let mut readings = Vec::with_capacity(present as usize);
        for tick in presence.iter().filter(|tick| self.ticks.contains(tick)) {
            let slot = self.layout.slot(channel, tick).and_then(|slot| numbers.get(slot));
            let q = slot.copied().filter(|q| q.abs() <= quantiser.top());
            readings.push(q.ok_or_else(|| wrong("a reading is outside of its declared range"))?);
        }
        Ok(Distribution::of_readings(quantiser, readings, period))
    }

    /// Returns the number of readings at the group's ticks.
    fn count(&self, presence: impl Fn(&Input) -> Option<Presence>, channel: u16) -> Result<u64, OwnerError> {
        count(self.inputs, self.layout, (presence, channel), &self.ticks)
    }

    fn moments(&self, at: u16, sums: &Numbers, squares: Option<&Numbers>) -> Result<Moments, OwnerError> {
        let quantiser = self.layout.quantiser(at).ok_or_else(|| wrong("whole numbers were expected"))?;
        let count = self.count(|input| input.window.presence(at), at)?;
        let sum = total(sums, self.layout, at, &self.ticks)?;
        let squares = squares.map(|squares| total(squares, self.layout, at, &self.ticks)).transpose()?;
        possible(count, quantiser.top(), sum, squares)?;
        Ok(Moments::of_sums(quantiser, count, sum, squares))
    }

    /// Returns the pair of two channels; None if this layout does not hold both.
    fn pair(&self, x: &str, y: &str) -> Result<Option<Pair>, OwnerError> {
        let (Some(at_x), Some(at_y)) = (position(self.layout, x), position(self.layout, y)) else {
            return Ok(None);
        };
        let (first, second) = (at_x.min(at_y), at_x.max(at_y));
        let Some(products) = self.of(&Quantity::Product(first, second)) else { return Ok(None) };
        if self.inputs.iter().any(|input| input.both(at_x, at_y).is_none()) {
            return Err(wrong("the device does not say which readings are missing"));
        }
        let count = self.count(|input| input.both(at_x, at_y), at_x)?;
        let joint = Quantity::Joint(first, second);
        let sums =
            self.of(&joint).or_else(|| self.of(&Quantity::Sum)).ok_or_else(|| wrong("a sum is missing"))?;
        // The channels' own squares are over the common ticks only if both have the same ticks. Otherwise the joint
        // squares are used.
        let together = self.inputs.iter().all(|input| input.together(at_x, at_y) == Some(true));
        let squares = if together {
            self.of(&Quantity::Square)
        } else {
            self.of(&Quantity::JointSquare(first, second))
        };
        let squares = squares.ok_or_else(|| wrong("squares are missing"))?;
        let (qx, qy) = (self.layout.quantiser(at_x), self.layout.quantiser(at_y));
        let quantisers = [qx, qy].map(|q| q.ok_or_else(|| wrong("whole numbers were expected")));
        let [qx, qy] = quantisers;
        let (qx, qy) = (qx?, qy?);
        let sums =
            [total(sums, self.layout, at_x, &self.ticks)?, total(sums, self.layout, at_y, &self.ticks)?];
        let squares = [
            total(squares, self.layout, at_x, &self.ticks)?,
            total(squares, self.layout, at_y, &self.ticks)?,
        ];
        let products = total(products, self.layout, first, &self.ticks)?;
        possible(count, qx.top(), sums[0], Some(squares[0]))?;
        possible(count, qy.top(), sums[1], Some(squares[1]))?;
        if products.abs() > i128::from(count) * i128::from(qx.top()) * i128::from(qy.top()) {
            return Err(wrong("no readings of the declared range have these sums"));
        }
        Ok(Some(Pair::of_sums([qx, qy], count, sums, squares.map(Some), products)))
    }
}

/// The time from a device's first window with a channel to the last one, and the period.
pub(crate) struct Covered {
    first: i64,
    last: i64,
    period: u32,
}

impl Covered {
    /// Returns None if no window has the channel.
    pub(crate) fn new(windows: &[&Window], channel: &str) -> Option<Self> {
        let of = || windows.iter().filter(|window| window.channel(channel).is_some());
        let first = of().map(|window| window.start()).min()?;
        let last = of().map(|window| window.end()).max()?;
        Some(Self { first, last, period: of().next()?.description.period.max(1) })
    }

    /// Returns the number of ticks that a group shares with this time.
    pub(crate) fn ticks(&self, group: Group) -> u64 {
        ticks_between(group.from.max(self.first), group.to.min(self.last), self.period)
    }
}

/// Returns the number of ticks between two times, rounded to the nearest: a day of 25 hours has one reading a day, not
/// two.
pub(crate) fn ticks_between(from: i64, to: i64, period: u32) -> u64 {
    let period = u64::from(period.max(1));
    (to.saturating_sub(from).max(0).unsigned_abs() + period / 2) / period
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_weight_of_a_list_is_spread_whatever_the_ticks() {
        for (list, ticks) in
            [(vec![1.0, 2.0], 4), (vec![1.0; 24], 23), (vec![1.0, 5.0, -2.0], 2), (vec![3.0], 7)]
        {
            let spread = spread(&list, ticks);
            assert_eq!(spread.len(), ticks);
            assert!(
                (spread.iter().sum::<f64>() - list.iter().sum::<f64>()).abs() < 1e-12,
                "{list:?} {ticks}"
            );
        }
        assert_eq!(spread(&[1.0, 3.0], 4), [0.5, 0.5, 1.5, 1.5]);
        let uneven = spread(&[2.0, 4.0], 3);
        assert!((uneven[1] - 2.0).abs() < 1e-12, "half of a third of each: {uneven:?}");
    }
}
