//! Sums of exact windows: from the decrypted results of a part to moments, pairs, weighted sums and distributions.

use std::ops::Range;

use sotto_pack::{ChannelBins, Layout, Period, Presence, Quantiser};

use super::pieces::Piece;
use super::wanted::Wanted;
use crate::error::OwnerError;
use crate::gathered::distribution::Distribution;
use crate::gathered::moments::{Moments, Pair};
use crate::gathered::{ChannelPair, ChannelTally, Tally};
use crate::open::Numbers;
use crate::quantities::{Input, Quantity};
use crate::windows::{StoredWindow, position};

/// Returns the sum over a channel's slots of a result, at some ticks.
pub(super) fn total(
    numbers: &Numbers,
    layout: &Layout,
    channel: u16,
    ticks: &Range<u32>,
) -> Result<i128, OwnerError> {
    let slots = ticks.clone().filter_map(|tick| layout.slot(channel, tick));
    let sum: Option<i128> = slots.map(|slot| numbers.whole(slot)).sum();
    sum.ok_or_else(|| OwnerError::wrong("whole numbers were expected"))
}

/// Returns the number of readings of a channel in windows at some ticks.
pub(super) fn readings_in(
    inputs: &[Input],
    layout: &Layout,
    ticks: &Range<u32>,
    channel: u16,
) -> Result<u64, OwnerError> {
    let present = |input: &Input| u64::from(input.window.present[usize::from(channel)]);
    let whole = *ticks == (0..layout.ticks());
    let of = |input: &Input| {
        let of_one = match input.window.presence(channel) {
            Some(presence) if whole && presence.count() == present(input) as u32 => present(input),
            Some(presence) => at_ticks(&presence, ticks),
            None if whole => present(input),
            None => return None,
        };
        Some(of_one * u64::from(input.count))
    };
    inputs.iter().map(of).sum::<Option<u64>>().ok_or_else(unknown_readings)
}

/// Returns the number of those readings that may be rounded: in each window as many as it counts, or all that are used.
pub(super) fn rounded_in(
    inputs: &[Input],
    layout: &Layout,
    ticks: &Range<u32>,
    channel: u16,
) -> Result<u64, OwnerError> {
    let of = |input: &Input| {
        let count = u64::from(input.count);
        let used = readings_in(std::slice::from_ref(input), layout, ticks, channel)?;
        Ok(input.window.rounded_of(channel, used / count) * count)
    };
    inputs.iter().map(of).sum()
}

fn at_ticks(presence: &Presence, ticks: &Range<u32>) -> u64 {
    ticks.clone().filter(|tick| presence.contains(*tick)).count() as u64
}

fn unknown_readings() -> OwnerError {
    OwnerError::wrong("the device does not say which readings are missing")
}

/// Refuses sums that no readings in the declared range can have; then the key, the layout or the answer is wrong.
fn possible(count: u64, top: i64, sum: i128, squares: Option<i128>) -> Result<(), OwnerError> {
    let (count, top) = (i128::from(count), i128::from(top));
    let sums = sum.abs() <= count * top;
    let squares = squares
        .is_none_or(|squares| (0..=count * top * top).contains(&squares) && count * squares >= sum * sum);
    if sums && squares {
        Ok(())
    } else {
        Err(OwnerError::wrong("no readings of the declared range have these sums"))
    }
}

/// The results of a part that belong to one group, as sums by channel.
pub(super) struct ExactResults<'r> {
    /// Any of the windows.
    pub(super) window: &'r StoredWindow,
    pub(super) wanted: &'r Wanted<'r>,
    pub(super) piece: &'r Piece<'r>,
}

impl ExactResults<'_> {
    pub(super) fn of(&self, quantity: &Quantity) -> Option<&Numbers> {
        let at = self.wanted.quantities.iter().position(|other| other == quantity)?;
        self.piece.results.get(at).map(|(numbers, _)| numbers)
    }

    fn total(&self, numbers: &Numbers, channel: u16) -> Result<i128, OwnerError> {
        total(numbers, self.window.layout(), channel, self.piece.ticks)
    }

    fn period(&self) -> Period {
        self.window.description.period
    }

    /// Adds the moments of every channel, the computed pairs, weighted sums and distributions.
    pub(super) fn add_to(&self, tally: &mut Tally) -> Result<(), OwnerError> {
        if let Some(sums) = self.of(&Quantity::Sum) {
            let squares = self.of(&Quantity::Square);
            let hours = self.period().hours();
            for channel in self.window.layout().channels() {
                let Some(at) = self.window.channel(&channel.name) else { continue };
                let moments = self.moments(at, sums, squares)?;
                tally.add_channel(&channel.name, &ChannelTally::new(moments, hours));
            }
        }
        for channels in &self.wanted.pairs {
            if let Some(pair) = self.pair(channels)? {
                tally.add_pair(channels, &pair);
            }
        }
        for wanted in &self.wanted.weighted {
            let weights = &wanted.weights;
            if let Some(numbers) = self.of(&weights.quantity()) {
                let sum = self.total(numbers, weights.whole.channel)?;
                let weighted = weights.tally(self.piece.inputs, self.window.layout(), sum);
                let weighted = weighted.ok_or_else(unknown_readings)?;
                tally.weighted.entry(wanted.need).or_default().merge(&weighted);
            }
        }
        for channel in &self.wanted.compared.distributed {
            let distribution = self.distribution(*channel)?;
            let name = self.window.layout().channels()[usize::from(*channel)].name.clone();
            tally.distributions.entry(name).or_default().merge(&distribution);
        }
        self.add_held(tally)
    }

    /// Returns true if the piece is of all ticks of its windows.
    pub(super) fn is_whole(&self) -> bool {
        *self.piece.ticks == (0..self.window.layout().ticks())
    }

    /// Returns the counts of a channel's bins, and the bins. Returns None if readings were fetched in their place.
    pub(super) fn counts(&self, channel: u16) -> Option<(&Numbers, &ChannelBins)> {
        let compared = &self.wanted.compared;
        let counts = self.of(&Quantity::Counts(channel)).zip(compared.bins_of(channel));
        counts.filter(|_| self.is_whole() && !compared.each)
    }

    /// Returns the distribution of a channel's readings: from the counts of the windows' bins, or from the readings of a
    /// single window.
    pub(super) fn distribution(&self, channel: u16) -> Result<Distribution, OwnerError> {
        let of_rounded = self.distribution_of_rounded(channel)?;
        let is_exact = self.error(self.piece.inputs, channel)? == 0.0;
        Ok(if is_exact { of_rounded.exact() } else { of_rounded })
    }

    fn distribution_of_rounded(&self, channel: u16) -> Result<Distribution, OwnerError> {
        let wrong = OwnerError::wrong;
        let quantiser =
            self.window.layout().quantiser(channel).ok_or_else(|| wrong("whole numbers were expected"))?;
        if let Some((counts, bins)) = self.counts(channel) {
            let Piece { inputs, ticks, .. } = *self.piece;
            let present = readings_in(inputs, self.window.layout(), ticks, channel)?;
            let counts: Option<Vec<u64>> =
                (0..counts.len()).map(|bin| u64::try_from(counts.whole(bin)?).ok()).collect();
            let counts = counts.filter(|counts| counts.iter().sum::<u64>() == present);
            let counts =
                counts.ok_or_else(|| wrong("the counts of the bins are not those of the readings"))?;
            return Ok(Distribution::of_counts(quantiser, bins, &counts, self.period()));
        }
        let readings = self.readings_at(channel)?.into_iter().map(|(_, reading)| reading);
        Ok(Distribution::of_readings(quantiser, readings, self.period()))
    }

    /// Returns a bound on the distance of each reading of a channel from the value that the device got.
    pub(super) fn error(&self, inputs: &[Input], channel: u16) -> Result<f64, OwnerError> {
        let layout = self.window.layout();
        let error = layout.quantiser(channel).map_or(0.0, Quantiser::value_error);
        Ok(if self.rounded(inputs, channel)? == 0 { 0.0 } else { error })
    }

    /// Returns the number of readings of a channel that may be rounded.
    pub(super) fn rounded(&self, inputs: &[Input], channel: u16) -> Result<u64, OwnerError> {
        rounded_in(inputs, self.window.layout(), self.piece.ticks, channel)
    }

    /// Returns the quantised readings of a single window, in order of time.
    pub(super) fn readings_at(&self, channel: u16) -> Result<Vec<(u32, i64)>, OwnerError> {
        let wrong = OwnerError::wrong;
        let quantiser =
            self.window.layout().quantiser(channel).ok_or_else(|| wrong("whole numbers were expected"))?;
        let Piece { inputs, ticks, .. } = *self.piece;
        let ([input], Some(numbers)) = (inputs, self.of(&Quantity::Sum)) else {
            return Err(wrong("the readings of a window are missing"));
        };
        let presence = input.window.presence(channel).ok_or_else(unknown_readings)?;
        let mut readings: Vec<(u32, i64)> = Vec::new();
        for tick in presence.iter().filter(|tick| ticks.contains(tick)) {
            let slot = self.window.layout().slot(channel, tick).and_then(|slot| numbers.whole(slot));
            let q = slot.and_then(|q| i64::try_from(q).ok()).filter(|q| q.abs() <= quantiser.top());
            readings.push((tick, q.ok_or_else(|| wrong("a reading is outside of its declared range"))?));
        }
        Ok(readings)
    }

    fn moments(&self, at: u16, sums: &Numbers, squares: Option<&Numbers>) -> Result<Moments, OwnerError> {
        let quantiser = self.window.layout().quantiser(at);
        let quantiser = quantiser.ok_or_else(|| OwnerError::wrong("whole numbers were expected"))?;
        let count = readings_in(self.piece.inputs, self.window.layout(), self.piece.ticks, at)?;
        let rounded = rounded_in(self.piece.inputs, self.window.layout(), self.piece.ticks, at)?;
        let sum = self.total(sums, at)?;
        let squares = squares.map(|squares| self.total(squares, at)).transpose()?;
        possible(count, quantiser.top(), sum, squares)?;
        Ok(Moments::of_sums(quantiser, [count, rounded], sum, squares))
    }

    /// Returns the pair of two channels; None if this layout does not hold both.
    fn pair(&self, channels: &ChannelPair) -> Result<Option<Pair>, OwnerError> {
        let wrong = OwnerError::wrong;
        let positions = position(self.window.layout(), &channels.first)
            .zip(position(self.window.layout(), &channels.second));
        let Some((at_x, at_y)) = positions else { return Ok(None) };
        let (first, second) = (at_x.min(at_y), at_x.max(at_y));
        let Some(products) = self.of(&Quantity::Product(first, second)) else { return Ok(None) };
        let (inputs, ticks) = (self.piece.inputs, self.piece.ticks);
        let of_one = |input: &Input| Some(at_ticks(&input.both(at_x, at_y)?, ticks));
        let both = |input: &Input| Some(of_one(input)? * u64::from(input.count));
        let count = inputs.iter().map(both).sum::<Option<u64>>().ok_or_else(unknown_readings)?;
        let rounded = |at: u16| {
            let of =
                |input: &Input| Some(input.window.rounded_of(at, of_one(input)?) * u64::from(input.count));
            inputs.iter().map(of).sum::<Option<u64>>().ok_or_else(unknown_readings)
        };
        let rounded = [rounded(at_x)?, rounded(at_y)?];
        let joint = Quantity::Joint(first, second);
        let sums =
            self.of(&joint).or_else(|| self.of(&Quantity::Sum)).ok_or_else(|| wrong("a sum is missing"))?;
        // The channels' own squares are over the common ticks only if both have the same ticks. Otherwise the joint
        // squares are used.
        let together = inputs.iter().all(|input| input.together(at_x, at_y) == Some(true));
        let squares = if together {
            self.of(&Quantity::Square)
        } else {
            self.of(&Quantity::JointSquare(first, second))
        };
        let squares = squares.ok_or_else(|| wrong("squares are missing"))?;
        let (qx, qy) = (self.window.layout().quantiser(at_x), self.window.layout().quantiser(at_y));
        let (qx, qy) = qx.zip(qy).ok_or_else(|| wrong("whole numbers were expected"))?;
        let sums = [self.total(sums, at_x)?, self.total(sums, at_y)?];
        let squares = [self.total(squares, at_x)?, self.total(squares, at_y)?];
        let products = self.total(products, first)?;
        possible(count, qx.top(), sums[0], Some(squares[0]))?;
        possible(count, qy.top(), sums[1], Some(squares[1]))?;
        if products.abs() > i128::from(count) * i128::from(qx.top()) * i128::from(qy.top()) {
            return Err(wrong("no readings of the declared range have these sums"));
        }
        Ok(Some(Pair::of_sums([qx, qy], count, rounded, sums, squares.map(Some), products)))
    }
}
