//! Sums of exact windows: from the decrypted results of a part to moments, pairs, weighted sums and distributions.

use std::ops::Range;

use sotto_pack::{ChannelBins, Layout, Presence};

use super::tally::{Tally, wrong};
use super::weights::GroupWeights;
use super::windows::position;
use crate::compute::{Input, Quantity};
use crate::distribution::Distribution;
use crate::error::OwnerError;
use crate::moments::{Moments, Pair};
use crate::open::Numbers;

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
